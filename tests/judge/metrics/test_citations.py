"""Citation recall and precision as ALCE defines them, computed by hand."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from judge.metrics.citations import cited_statements
from judge.metrics.evaluation import KnownAnswer, evaluate
from judge.metrics.metric import MetricValue, MissingValue, Prompt
from judge.metrics.registry import load_metric
from judge.protocol.exchange import Answer
from tests.judge.metrics.test_llm_suites import labels, result, shown

PASSAGES = ("P-one.", "P-two.", "P-three.")


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("It opens [1]. It shuts [2][3].", [("It opens.", {1}), ("It shuts.", {2, 3})]),
        ("It opens [1, 2].", [("It opens.", {1, 2})]),
        ("It opens [1-3]. It shuts [2\u20133; 5].", [
            ("It opens.", {1, 2, 3}), ("It shuts.", {2, 3, 5}),
        ]),
        ("It opens. [1] It shuts.[2]\n\n- Dogs stay out [3]", [
            ("It opens.", {1}), ("It shuts.", {2}), ("- Dogs stay out", {3}),
        ]),
        ("[2] It opens and [1] shuts. Dogs stay out.", [
            ("It opens and shuts.", {1, 2}), ("Dogs stay out.", set()),
        ]),
        ("See [a], [1a] and [] in 2024.", [("See [a], [1a] and [] in 2024.", set())]),
        ("[1]", []),
        (" ", []),
    ],
)  # fmt: skip
def test_a_citation_belongs_to_the_sentence_that_it_ends(
    text: str, statements: list[tuple[str, set[int]]]
) -> None:
    found = cited_statements(text)
    assert [(each.text, set(each.cited)) for each in found] == statements


def support(*entailed: tuple[str, str]) -> Callable[[Prompt], KnownAnswer]:
    """Return a function that labels statements by the passages that the pairs name."""

    def known(prompt: Prompt) -> KnownAnswer:
        passages, statements = prompt.parts[1::2]
        shows = " ".join(passages.split())
        given = [line.partition(". ")[2] for line in statements.split("\n")]
        words = ["supported" if (shows, text) in entailed else "unsupported" for text in given]
        return KnownAnswer(Answer(labels(*words)), 1)

    return known


def values(text: str, *entailed: tuple[str, str]) -> tuple[float, float]:
    both = []
    for key in ("citation-recall", "citation-precision"):
        metric = load_metric(key)
        made = shown(metric, (), text, PASSAGES)
        found = evaluate(metric, made, support(*entailed)).result
        assert isinstance(found, MetricValue)
        both.append(found.value)
    return both[0], both[1]


BOTH = "P-one. P-two."
ANTS, BEES = "Ants go.", "Bees go."


@pytest.mark.parametrize(
    ("text", "entailed", "recall", "precision"),
    [
        # One of two statements is supported, by the only passage that it cites.
        ("Ants go [1]. Bees go [2].", [("P-one.", ANTS)], 1 / 2, 1 / 2),
        # A statement without a citation is not supported; precision is of the one citation.
        ("Ants go [1]. Bees go.", [("P-one.", ANTS)], 1 / 2, 1.0),
        ("Ants go. Bees go.", [], 0.0, 0.0),
        # Two passages support it together alone: both are needed.
        ("Ants go [1][2].", [(BOTH, ANTS)], 1.0, 1.0),
        # The first supports it alone; the second does not, and the first does without it.
        ("Ants go [1][2].", [(BOTH, ANTS), ("P-one.", ANTS)], 1.0, 1 / 2),
        # Each supports it alone: neither is irrelevant.
        ("Ants go [1, 2].", [(BOTH, ANTS), ("P-one.", ANTS), ("P-two.", ANTS)], 1.0, 1.0),
        # A passage supports it alone, but both together do not, as labeled: not supported.
        ("Ants go [1, 2].", [("P-one.", ANTS)], 0.0, 0.0),
        # Of three, passages 1 and 2 are needed together; 3 adds nothing.
        (
            "Ants go [1-3].",
            [("P-one. P-two. P-three.", ANTS), (BOTH, ANTS)],
            1.0,
            2 / 3,
        ),
        # There is no passage 4, nor 0: the statement is not supported, its two citations count.
        (
            "Ants go [1][4]. Bees go [2]. Cats go [0].",
            [("P-one.", ANTS), ("P-two.", BEES)],
            1 / 3,
            1 / 4,
        ),
        # Cited twice in a statement, a passage counts once.
        ("Ants go [1] [1].", [("P-one.", ANTS)], 1.0, 1.0),
    ],
)
def test_values_are_those_computed_by_hand(
    text: str, entailed: list[tuple[str, str]], recall: float, precision: float
) -> None:
    found = values(text, *entailed)
    assert found == (pytest.approx(recall), pytest.approx(precision))


def test_numbers_are_ranks_whatever_the_order_in_which_a_run_shows_the_passages() -> None:
    metric = load_metric("citation-recall")
    made = shown(metric, (), "Ants go [1].", PASSAGES)
    shuffled = replace(made, shown_passages=tuple(reversed(PASSAGES)))
    [waiting] = evaluate(metric, shuffled).waiting
    assert "P-one." in waiting.prompt.text


def test_statements_on_the_same_passages_share_a_prompt() -> None:
    text = " ".join(f"Statement {n} [2][1]." for n in range(12)) + " Another [3]. None."
    answers = [labels(*["supported"] * n) for n in (10, 2, 1)]
    found = result("citation-recall", *answers, text=text, passages=PASSAGES)
    assert found == MetricValue(13 / 14, parts={"counted": 13, "of": 14, "cited": 13})


def test_citation_recall_and_precision_use_the_same_answers() -> None:
    prompts = []
    for key in ("citation-recall", "citation-precision"):
        metric = load_metric(key)
        made = shown(metric, (), "Ants go [1][2]. Bees go [3].", PASSAGES)
        prompts.append([waiting.prompt.hash for waiting in evaluate(metric, made).waiting])
    assert prompts[0] == prompts[1]
    assert len(prompts[0]) == 2


def test_citations_without_a_value() -> None:
    assert result("citation-recall", text=" ") == MissingValue("no_statements")
    assert result("citation-precision", text=" ") == MissingValue("no_statements")
    assert result("citation-precision", text="Ants go. Bees go.") == MetricValue(
        0.0, "no_citations"
    )
    one = json.dumps({"1": "maybe"})
    unknown = result("citation-recall", one, text="Ants go [1].", passages=PASSAGES)
    assert unknown == MissingValue("labels_unknown")
    # A cited passage without text supports nothing.
    empty = result("citation-recall", text="Ants go [1].", passages=[" "])
    assert empty == MetricValue(0.0, parts={"counted": 0, "of": 1, "cited": 1})
