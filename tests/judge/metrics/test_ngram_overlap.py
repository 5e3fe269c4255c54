"""BLEU and ROUGE equal sacreBLEU and rouge-score, and the figures on a public data set."""

import json
import math
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path

import pytest
import sacrebleu
from hypothesis import given, strategies as st
from scipy import stats

from judge.metrics.evaluation import evaluate
from judge.metrics.lexical import token_f1
from judge.metrics.metric import Content, Metric, MetricInput, MetricValue, MissingValue
from judge.metrics.ngram_overlap import (
    Bleu,
    ChrF,
    Rouge1,
    Rouge2,
    RougeL,
    rouge_l,
    rouge_n,
)
from judge.metrics.unicode_words import unicode_words
from tests.study.datasets.conftest import published_files

METRICS = (Bleu, ChrF, Rouge1, Rouge2, RougeL)
# rouge-score 0.1.2 without stemming: F1 of ROUGE-1, -2, -L.
PAIRS = json.loads(Path(__file__).with_name("rouge_score.json").read_text(encoding="utf-8"))


def ascii_words(text: str) -> list[str]:
    """Tokens of rouge-score: runs of ASCII letters and digits."""
    return re.findall("[a-z0-9]+", text.lower())


def measured(metric: Metric, text: str, *references: str) -> MetricValue | MissingValue:
    content = Content(1, 1, b"", "?", references, text, None, 0, 0, True)
    result = evaluate(metric, MetricInput(content, "AC", metric.reads("AC"))).result
    assert result is not None
    return result


@pytest.mark.parametrize("pair", PAIRS)
def test_rouge_is_that_of_rouge_score_under_its_token_rule(
    pair: dict[str, str | list[float]],
) -> None:
    response, reference = str(pair["response"]), str(pair["reference"])
    values = [rouge_n(response, reference, n, ascii_words) for n in (1, 2)]
    values.append(rouge_l(response, reference, ascii_words))
    assert values == pytest.approx(pair["f1"], rel=0, abs=1e-12)


@given(st.text(st.characters(max_codepoint=127)))
def test_on_ascii_text_words_are_those_of_rouge_score(text: str) -> None:
    assert list(unicode_words(text)) == ascii_words(text)


@given(st.lists(st.sampled_from("abc"), max_size=9), st.lists(st.sampled_from("abc"), max_size=9))
def test_the_common_subsequence_is_the_longest(first: list[str], second: list[str]) -> None:
    def subsequences(words: list[str]) -> set[tuple[str, ...]]:
        return {chosen for size in range(10) for chosen in combinations(words, size)}

    longest = max(map(len, subsequences(first) & subsequences(second)))
    expected = 2 * longest / (len(first) + len(second)) if longest else 0
    assert rouge_l(" ".join(first), " ".join(second)) == expected


@pytest.mark.parametrize(
    ("response", "reference", "unigrams"),
    [
        ("東京都", "東京です", 4 / 7),
        ("Αθήνα ΑΘΉΝΑΣ", "αθήνα", 2 / 3),
        ("Straße", "STRASSE", 1),
        ("हिन्दी में", "हिन्दी", 2 / 3),
        ("cafe\u0301", "caf\u00e9", 1),
    ],
)
def test_rouge_has_values_in_any_script(response: str, reference: str, unigrams: float) -> None:
    result = measured(Rouge1(), response, reference)
    assert isinstance(result, MetricValue)
    assert result.value == pytest.approx(unigrams)


@pytest.mark.parametrize("pair", PAIRS[:20])
def test_bleu_is_that_of_sacrebleu_with_its_signature(pair: dict[str, str]) -> None:
    references = [pair["reference"], "the river Seine"]
    result = measured(Bleu(), pair["response"], *references)
    assert isinstance(result, MetricValue)
    expected = sacrebleu.sentence_bleu(pair["response"], references, use_effective_order=True)
    assert result.value == pytest.approx(expected.score / 100, rel=0, abs=1e-12)
    signature = f"case:mixed|eff:yes|tok:13a|smooth:exp|version:{sacrebleu.__version__}"
    assert result.rule == f"nrefs:2|{signature}"


@pytest.mark.parametrize("kind", METRICS)
def test_equal_texts_have_the_largest_value_and_the_best_reference_counts(
    kind: type[Metric],
) -> None:
    result = measured(
        kind(), "The Seine flows through Paris.", "x", "The Seine flows through Paris."
    )
    assert isinstance(result, MetricValue)
    assert result.value == pytest.approx(1)


@pytest.mark.parametrize("kind", METRICS)
@pytest.mark.parametrize(
    ("text", "reference", "value"),
    [
        (" \n", "Paris", 0),
        ("...", "Paris", 0),
        ("Paris", "?!", None),
    ],
)
def test_a_response_without_words_shares_nothing_with_a_reference(
    kind: type[Metric], text: str, reference: str, value: float | None
) -> None:
    result = measured(kind(), text, reference)
    if value is None and kind not in (Bleu, ChrF):
        assert result == MissingValue("reference_without_words")
    else:
        assert isinstance(result, MetricValue)
        assert result.value == 0


def test_a_reference_without_words_has_tokens_for_bleu_and_characters_for_chrf() -> None:
    for metric in (Bleu(), ChrF()):
        result = measured(metric, "?!", "?!", "the Seine")
        assert isinstance(result, MetricValue)
        assert result.value == pytest.approx(1)
        assert str(result.rule).startswith("nrefs:2|")


@pytest.mark.parametrize(
    ("reference", "response", "tokenizer"),
    [
        ("东京是日本的首都。", "东京是首都。", "zh"),
        ("東京は日本の首都です。", "東京は首都です。", "char"),
        ("กรุงเทพ", "กรุง", "char"),
        ("Seoul은 수도", "Seoul은 도시", "13a"),
    ],
)
def test_bleu_cuts_scripts_without_blanks(reference: str, response: str, tokenizer: str) -> None:
    result = measured(Bleu(), response, reference)
    assert isinstance(result, MetricValue)
    assert f"|tok:{tokenizer}|" in str(result.rule)
    assert result.value > 0.1
    expected = sacrebleu.sentence_bleu(
        response, [reference], tokenize=tokenizer, use_effective_order=True
    )
    assert result.value == pytest.approx(expected.score / 100)


@pytest.mark.parametrize("pair", PAIRS[:20])
def test_chrf_is_that_of_sacrebleu(pair: dict[str, str]) -> None:
    references = [pair["reference"], "the river Seine"]
    expected = sacrebleu.sentence_chrf(pair["response"], references)
    result = measured(ChrF(), pair["response"], *references)
    assert isinstance(result, MetricValue)
    assert result.value == pytest.approx(expected.score / 100, rel=0, abs=1e-12)


def segmented() -> Callable[[str], list[str]]:
    """Return the tokens of jieba, a segmenter of Chinese; blanks are tokens too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its source has invalid escape sequences
        import jieba

    jieba.setLogLevel("ERROR")
    return lambda text: list(jieba.cut(text))


def unsmoothed_bleu(response: Sequence[str], reference: Sequence[str]) -> float:
    """BLEU without smoothing and without a brevity penalty, on tokens."""
    logarithms = []
    for n in range(1, 5):
        of_response, of_reference = (ngrams(tokens, n) for tokens in (response, reference))
        common = (of_response & of_reference).total()
        if not common:
            return 0.0
        logarithms.append(math.log(common / of_response.total()))
    return math.exp(sum(logarithms) / 4)


def ngrams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(tokens[start:] for start in range(n)), strict=False))


def test_bleu_and_rouge_as_published_with_ragchecker() -> None:
    """The 12 figures of BLEU-avg and ROUGE-L of Ru et al. 2024 (arXiv 2408.08067), Table 5.

    Both use jieba's tokens on English texts, and BLEU neither smoothing nor brevity penalty.
    """
    folder = published_files("ragchecker_meta")
    pairs = json.loads((folder / "human_labeled_data.json").read_text(encoding="utf-8"))
    words = segmented()
    bleu, rouge = [], []
    for pair in pairs:
        reference = pair["gt_answer"]
        texts = [pair[side]["response"] for side in ("model1", "model2")]
        first, second = (unsmoothed_bleu(words(text), words(reference)) for text in texts)
        bleu.append(second - first)
        first, second = (rouge_l(text, reference, words) if text else 0.0 for text in texts)
        rouge.append(second - first)
    for name, differences, expected in (
        ("BLEU-avg", bleu, [(38.89, 35.32), (32.13, 21.85), (35.14, 29.42)]),
        ("ROUGE-L", rouge, [(31.75, 31.72), (47.88, 45.67), (43.10, 43.21)]),
    ):
        for key, figures in zip(("correctness", "completeness", "overall"), expected, strict=True):
            labels = [pair[f"{key}_label"] for pair in pairs]
            computed = (
                100 * float(stats.pearsonr(differences, labels).statistic),
                100 * float(stats.spearmanr(differences, labels).statistic),
            )
            assert computed == pytest.approx(figures, abs=0.005), (name, key)


def test_figures_on_the_meta_evaluation_of_ragchecker() -> None:
    """Pearson and Spearman x 100 of differences of the two responses with people's preference.

    Token F1, sacreBLEU and rouge-score, computed with the packages. Of the texts without words
    here both packages make 0.
    """
    folder = published_files("ragchecker_meta")
    pairs = json.loads((folder / "human_labeled_data.json").read_text(encoding="utf-8"))
    bleu = Bleu()
    differences: dict[str, list[float]] = defaultdict(list)
    for pair in pairs:
        reference = pair["gt_answer"]
        values = []
        for side in ("model1", "model2"):
            text = pair[side]["response"]
            result = measured(bleu, text, reference)
            values.append(
                {
                    "F1": token_f1(text, [reference]),
                    "BLEU": result.value if isinstance(result, MetricValue) else 0.0,
                    "ROUGE-1": rouge_n(text, reference, 1, ascii_words),
                    "ROUGE-2": rouge_n(text, reference, 2, ascii_words),
                    "ROUGE-L": rouge_l(text, reference, ascii_words),
                }
            )
        for name in values[0]:
            differences[name].append(values[1][name] - values[0][name])
    people = {key: [pair[f"{key}_label"] for pair in pairs] for key in ("correctness", "overall")}
    figures = {
        (name, key): (
            float(stats.pearsonr(values, labels).statistic) * 100,
            float(stats.spearmanr(values, labels).statistic) * 100,
        )
        for name, values in differences.items()
        for key, labels in people.items()
    }
    for (name, key), expected in {
        ("F1", "correctness"): (41.28, 42.92),
        ("F1", "overall"): (51.91, 53.89),
        ("BLEU", "correctness"): (31.60, 32.36),
        ("BLEU", "overall"): (42.11, 43.47),
        ("ROUGE-1", "correctness"): (40.07, 41.03),
        ("ROUGE-1", "overall"): (51.15, 52.01),
        ("ROUGE-2", "correctness"): (39.19, 41.82),
        ("ROUGE-2", "overall"): (46.43, 50.31),
        ("ROUGE-L", "correctness"): (39.54, 42.80),
        ("ROUGE-L", "overall"): (47.39, 51.49),
    }.items():
        assert figures[name, key] == pytest.approx(expected, abs=0.005), (name, key)
