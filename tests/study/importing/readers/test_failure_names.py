"""Columns that are named by a failure, of which yes is said to count as pass."""

import pytest

from study.importing.readers.failure_names import ReadScores, direction_notes, names_failure
from study.importing.readers.value_words import vocabulary_of


@pytest.mark.parametrize(
    "name",
    [
        "hallucination", "human_hallucinated", "isToxic", "toxicity", "error", "llm errors",
        "unsafe", "harmful", "bias", "biased", "policy_violation", "refusal", "data-leak",
        "plagiarism", "contains_error",
    ],
)  # fmt: skip
def test_names_of_failures(name: str) -> None:
    assert names_failure(name)


@pytest.mark.parametrize(
    "name",
    [
        "human", "correct", "safe", "harmless", "no_hallucination", "not toxic", "without_errors",
        "error_free", "score", "terror", "unbiased", "correct_refusal", "non-toxic",
    ],
)  # fmt: skip
def test_names_of_no_failure(name: str) -> None:
    assert not names_failure(name)


@pytest.mark.parametrize(
    ("words", "note"),
    [
        (("yes", "no"), "yes counts as pass; in a column named 'toxic' it may be the failure: "
                        "--values yes=0,no=1 reads it so."),
        (("True", "False"), "True counts as pass"),
        (("ja", "nein"), "--values ja=0,nein=1"),
        (("high", "medium", "low"), "high counts as the best; in a column named 'toxic' it may be "
                                    "the failure: --values high=0,medium=1,low=2"),
    ],
)  # fmt: skip
def test_words_that_affirm(words: tuple[str, ...], note: str) -> None:
    (line,) = direction_notes([ReadScores(("toxic",), vocabulary_of(words))])
    assert note in line
    assert not direction_notes([ReadScores(("human",), vocabulary_of(words))])


def test_what_is_clear_has_no_note() -> None:
    declared = vocabulary_of(["yes", "no"], {"yes": 0, "no": 1})
    clear = [vocabulary_of(["pass", "fail"]), vocabulary_of(["toxic", "not toxic"]), declared]
    assert not direction_notes(ReadScores(("toxic",), vocabulary) for vocabulary in clear)


def test_numbers_are_noted_once_for_all_columns() -> None:
    read = [ReadScores((name, "score"), None, {0.0, 1.0}) for name in ("llm_error", "my_error")]
    (line,) = direction_notes(read)
    assert line.startswith("1 counts as pass; in columns named 'llm_error' and 'my_error' it may")
    assert not direction_notes([ReadScores(("error",), None, {0.0, 0.5, 1.0})])
