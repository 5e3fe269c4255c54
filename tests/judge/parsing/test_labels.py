"""Labels instead of numbers: read where they are the answer, and nowhere else."""

import pytest

from judge.parsing.parse_answer import Form, Parsed, parse_answer
from study.base.scales import Scale

YES = {"yes": 1.0, "no": 0.0}
GRADES = {"A": 1.0, "B": 0.5, "C": 0.0}
WORDS = {"good": 2.0, "partly correct": 1.0, "bad": 0.0}
SCALE = Scale(min=0, max=2)
FORM: Form = "label"


def read(answer: str, labels: dict[str, float], finish: str | None = "stop") -> Parsed:
    return parse_answer(answer, SCALE, finish, form=FORM, names=("QR",), labels=labels)


@pytest.mark.parametrize(
    ("answer", "labels", "value", "rule"),
    [
        ("yes", YES, 1, "bare"),
        (" No\n", YES, 0, "bare"),
        ("Yes.", YES, 1, "decorated"),
        ("**YES**", YES, 1, "decorated"),
        ("[[B]]", GRADES, 0.5, "decorated"),
        ("(B)", GRADES, 0.5, "decorated"),
        ("\\boxed{B}", GRADES, 0.5, "decorated"),
        ("```\nno\n```", YES, 0, "decorated"),
        ("<think>yes or no?</think>\nno", YES, 0, "decorated"),
        ("Answer: yes", YES, 1, "labelled"),
        ("**Verdict:** no", YES, 0, "labelled"),
        ("The answer is yes.", YES, 1, "labelled"),
        ("Final rating: Partly correct", WORDS, 1, "labelled"),
        ("QR: yes", YES, 1, "labelled"),
        ("<verdict>yes</verdict>", YES, 1, "labelled"),
        ('{"label": "no"}', YES, 0, "json"),
        ('```json\n{"reason": "yes and no", "verdict": "No"}\n```', YES, 0, "json"),
        ('{"answer": true}', {"true": 1.0, "false": 0.0}, 1, "json"),
        ("Yes, the date of 1912 is right.", YES, 1, "first_line"),
        ("No. There is no date.", YES, 0, "first_line"),
        ("Verdict: Yes. The response has no error.", YES, 1, "labelled"),
        ("not_relevant", {"not_relevant": 0.0, "relevant": 1.0}, 0, "bare"),
        ("**Not relevant**", {"not_relevant": 0.0, "relevant": 1.0}, 0, "decorated"),
        ("$\\boxed{\\text{B}}$", GRADES, 0.5, "decorated"),
        ("B) It has one date.", GRADES, 0.5, "first_line"),
        ("A - A passage says so.", GRADES, 1, "first_line"),
        ("Good (all facts)", WORDS, 2, "first_line"),
        ("No\n\nThe response has no date.", YES, 0, "first_line"),
        ("It names 2 of 2 dates.\n\nyes", YES, 1, "last_line"),
        ("Is it right? Yes and no.\n**Answer: no**", YES, 0, "last_line"),
    ],
)
def test_a_label_that_is_the_answer(
    answer: str, labels: dict[str, float], value: float, rule: str
) -> None:
    folded = {name.casefold(): points for name, points in labels.items()}
    assert read(answer, labels) == (value, None, rule)
    assert read(answer, {**folded}) == (value, None, rule)


@pytest.mark.parametrize(
    ("answer", "labels", "reason"),
    [
        ("yes or no", YES, "several_scores"),
        ("Yes/No", YES, "several_scores"),
        ("A, B", GRADES, "several_scores"),
        ("Yes.\nAnswer: no", YES, "several_scores"),
        ("Verdict: yes\nThe date is wrong.\nVerdict: no", YES, "several_scores"),
        ("yes\nIt has no date.\nno", YES, "several_scores"),
        ('{"label": "yes"}\nAnswer: no', YES, "several_scores"),
        ('{"label": "yes", "verdict": "no"}', YES, "several_scores"),
        ("Yes, but the date is wrong.", YES, "no_score"),
        ("A response that names both dates.", GRADES, "no_score"),
        ("The response is good.", WORDS, "no_score"),
        ("There is no date.", YES, "no_score"),
        ("not good", WORDS, "no_score"),
        ('{"reason": "yes"}', YES, "no_score"),
        ("no no", YES, "no_score"),
        ("1", YES, "no_score"),
        ("Yes\n\nWait, no.", YES, "several_scores"),
        ("No - yes in part", YES, "several_scores"),
        ("A: complete\nB: partial\nC: wrong\n\nB", GRADES, "several_scores"),
        ("<quote>yes</quote>", YES, "no_score"),
        ("No, I cannot evaluate this.", YES, "refusal"),
        ("I'm sorry, I can't rate it.", YES, "refusal"),
        ("", YES, "empty_answer"),
        ("<think>yes", YES, "no_score"),
    ],
)
def test_what_is_no_label_is_missing_with_its_reason(
    answer: str, labels: dict[str, float], reason: str
) -> None:
    assert read(answer, labels) == (None, reason, None)


def test_a_label_that_was_cut_off_may_be_another_word() -> None:
    assert read("no", YES, "length") == (None, "truncated", None)
    assert read("no\nThe response has", YES, "length") == (0, None, "first_line")
    assert read("no\nThe response: yes", YES, "length").value in (None, 0)
