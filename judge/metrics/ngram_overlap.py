"""BLEU and ROUGE: the n-grams or the subsequence that a response shares with a reference."""

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
    """A share from 0 to 1 that is undefined where a text has no words."""

    constructs = ("AC",)
    fields: tuple[Sees, ...] = ("response", "reference")
    scale = Scale(min=0, max=1)
    steps = 0

    def score(self, response: MetricInput) -> Steps:
        """Compare the response with the reference answers that have words."""
        yield from ()
        references = [text for text in response.references if unicode_words(text)]
        if not response.response:
            return MissingValue("empty_response")
        if not unicode_words(response.response):
            return MissingValue("response_without_words")
        if not references:
            return MissingValue("reference_without_words")
        return self.compare(response.response, references)

    @abstractmethod
    def compare(self, response: str, references: Sequence[str]) -> MetricValue:
        """Return the value; all texts have words."""


class _Rouge(_Overlap):
    """The largest ROUGE over the references."""

    version = "unicode-words-v1"

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


class Bleu(_Overlap):
    """BLEU of one response by sacreBLEU (Papineni et al. 2002; Post 2018), over all references.

    Exponential smoothing and effective order, as sacreBLEU recommends for single texts. The value
    is stored with sacreBLEU's signature.

    Raises
    ------
    StudyError
        sacrebleu is not installed.
    """

    key = "BLEU"

    def __init__(self) -> None:
        self._bleu: Any = _sacrebleu()(effective_order=True)
        self.version = f"sacrebleu-{version('sacrebleu')}"

    def compare(self, response: str, references: Sequence[str]) -> MetricValue:
        """Return BLEU from 0 to 1 and its signature."""
        score = self._bleu.sentence_score(response, references).score
        # Equal texts are 100.00000000000004 after rounding.
        return MetricValue(min(score / 100, 1.0), str(self._bleu.get_signature()))


def _sacrebleu() -> Any:
    try:
        from sacrebleu.metrics.bleu import BLEU
    except ImportError:
        raise StudyError(
            "BLEU needs sacrebleu, which is not installed; run: pip install "
            "'ccrs-study[metrics]', or name metrics without BLEU, such as "
            "EM,EM-normalized,F1,ROUGE-1,ROUGE-2,ROUGE-L."
        ) from None
    return BLEU
