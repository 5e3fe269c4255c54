"""BLEU, chrF and ROUGE: n-grams or the subsequence that a response shares with a reference."""

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

from judge.metrics.metric import Metric, MetricInput, MetricValue, MissingValue, Steps
from judge.metrics.unicode_words import unicode_words
from study.base.scales import Scale
from study.errors import StudyError
from study.types import Sees

Words = Callable[[str], Sequence[str]]
"""Returns the tokens of a text."""


def rouge_n(response: str, reference: str, n: int, words: Words = unicode_words) -> float:
    """Return ROUGE-N: the F1 of the n-grams of two texts, each counted as often as it occurs.

    Lin 2004, "ROUGE: A Package for Automatic Evaluation of Summaries", section 2, as F1 in place
    of recall. In [0, 1]; 0 without an n-gram in common.

    Examples
    --------
    >>> rouge_n("the Seine river", "the river Seine", 1), rouge_n("a b c", "b c d", 2)
    (1.0, 0.5)
    """
    first, second = _ngrams(words(response), n), _ngrams(words(reference), n)
    return _f1((first & second).total(), first.total(), second.total())


def rouge_l(response: str, reference: str, words: Words = unicode_words) -> float:
    """Return ROUGE-L: the F1 of the longest common subsequence of the words of two texts.

    Lin 2004, section 3.1, with beta = 1. In [0, 1]; 0 without a word in common.

    Examples
    --------
    >>> round(rouge_l("the Seine river", "the river Seine"), 4)
    0.6667
    """
    first, second = words(response), words(reference)
    return _f1(_common_subsequence(first, second), len(first), len(second))


def _ngrams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[start:] for start in range(n)), strict=False))


def _f1(common: int, first: int, second: int) -> float:
    return 2 * common / (first + second) if common else 0.0


def _common_subsequence(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence.

    Bit-parallel (Hyyrö 2004): a zero in `row` is a place of `first` that lengthens the subsequence.
    """
    places: dict[str, int] = {}
    for number, word in enumerate(first):
        places[word] = places.get(word, 0) | 1 << number
    every = (1 << len(first)) - 1
    row = every
    for word in second:
        matched = row & places.get(word, 0)
        row = ((row + matched) | (row - matched)) & every
    return len(first) - row.bit_count()


class _Overlap(Metric):
    """A share from 0 to 1 of what a response has in common with a reference answer.

    It is 0 where the response has nothing to compare, and undefined where no reference has.
    """

    constructs = ("AC",)
    fields: tuple[Sees, ...] = ("response", "reference")
    scale = Scale(min=0, max=1)
    steps = 0

    def score(self, response: MetricInput) -> Steps:
        """Compare the response with the reference answers that have something to compare."""
        yield from ()
        references = [text for text in response.references if self.comparable(text)]
        if not references:
            return MissingValue("reference_without_words")
        return self.compare(response.response, references)

    def comparable(self, reference: str) -> bool:
        """Return whether a reference has something to compare: here words."""
        return bool(unicode_words(reference))

    @abstractmethod
    def compare(self, response: str, references: Sequence[str]) -> MetricValue:
        """Return the value for references that have something to compare."""


class _Rouge(_Overlap):
    """The largest ROUGE over the references."""

    version = "unicode-words-v2"

    def compare(self, response: str, references: Sequence[str]) -> MetricValue:
        return MetricValue(max(self.rouge(response, text) for text in references))

    @abstractmethod
    def rouge(self, response: str, reference: str) -> float:
        """Return the ROUGE of two texts."""


class Rouge1(_Rouge):
    """`rouge_n` of words."""

    key = "ROUGE-1"

    def rouge(self, response: str, reference: str) -> float:
        """Return ROUGE-1."""
        return rouge_n(response, reference, 1)


class Rouge2(_Rouge):
    """`rouge_n` of pairs of words."""

    key = "ROUGE-2"

    def rouge(self, response: str, reference: str) -> float:
        """Return ROUGE-2."""
        return rouge_n(response, reference, 2)


class RougeL(_Rouge):
    """`rouge_l`."""

    key = "ROUGE-L"

    def rouge(self, response: str, reference: str) -> float:
        """Return ROUGE-L."""
        return rouge_l(response, reference)


class _SacreBleu(_Overlap):
    """A metric of sacreBLEU (Post 2018) from 0 to 1, stored with its signature.

    Its tokens are not words alone: a reference such as "?!" can be compared.
    """

    def comparable(self, reference: str) -> bool:
        """Return whether the reference is not blank."""
        return bool(reference)

    def compare(self, response: str, references: Sequence[str]) -> MetricValue:
        """Return the value of the response over all references."""
        metric = self.metric(references)
        score = metric.sentence_score(response, references).score
        # Equal texts are 100.00000000000004 after rounding.
        return MetricValue(min(score / 100, 1.0), str(metric.get_signature()))

    @abstractmethod
    def metric(self, references: Sequence[str]) -> Any:
        """Return sacreBLEU's metric for these references."""


class Bleu(_SacreBleu):
    """BLEU of one response (Papineni et al. 2002) over all references.

    Exponential smoothing and effective order, as sacreBLEU recommends for single texts. Where most
    letters of the references are Chinese, each is a token (`zh`), and where they are kana, Thai,
    Lao, Khmer or Burmese as well, each character is (`char`); else the tokens are `13a`, which are
    cut at blanks and punctuation.

    Raises
    ------
    StudyError
        sacrebleu is not installed.
    """

    key = "BLEU"

    def __init__(self) -> None:
        kind = _sacrebleu("BLEU")
        self._by_tokenizer = {
            name: kind(effective_order=True, tokenize=name) for name in ("13a", "zh", "char")
        }
        self.version = f"sacrebleu-{version('sacrebleu')}"

    def metric(self, references: Sequence[str]) -> Any:
        """Return BLEU with the tokenizer of the references' language."""
        text = "".join(references)
        other, chinese = len(_UNSPACED.findall(text)), len(_HAN.findall(text))
        if 2 * (other + chinese) <= sum(map(str.isalpha, text)):
            return self._by_tokenizer["13a"]
        return self._by_tokenizer["char" if other else "zh"]


class ChrF(_SacreBleu):
    """chrF of one response (Popović 2015) over all references: F2 of n-grams of characters.

    Raises
    ------
    StudyError
        sacrebleu is not installed.
    """

    key = "chrF"

    def __init__(self) -> None:
        self._chrf = _sacrebleu("CHRF")()
        self.version = f"sacrebleu-{version('sacrebleu')}"

    def metric(self, references: Sequence[str]) -> Any:
        """Return chrF, the same for all references."""
        del references
        return self._chrf


_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f]"
)
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]")


def _sacrebleu(name: str) -> Any:
    try:
        from sacrebleu import metrics
    except ImportError:
        raise StudyError(
            "BLEU and chrF need sacrebleu, which is not installed; run: pip install "
            "'ccrs-study[metrics]', or name metrics without them, such as "
            "EM,EM-normalized,F1,ROUGE-1,ROUGE-2,ROUGE-L."
        ) from None
    return getattr(metrics, name)
