import pytest

from study.datasets.openqa_files import RatedAnswer, SystemOutput
from study.datasets.openqa_nq301 import (
    LIST,
    NO_SYSTEM,
    NORMALIZED,
    NUMBER,
    PLAIN,
    TWICE,
    link,
    match,
)


def rated(row: int, text: str, question: str = "q?") -> RatedAnswer:
    return RatedAnswer(row, "1", question, text, "Yes", ("Yes", "No", ""), "", "", 0.5, False)


def output(*texts: str, system: str = "S", question: str = "q?") -> SystemOutput:
    return SystemOutput(1, system, question, ("gold",), texts)


@pytest.mark.parametrize(
    ("text", "answers", "expected"),
    [
        ("Nixon", ["nixon", "Nixon"], ("Nixon", PLAIN)),
        ("Nixon", ["Nixon.", "nixon"], ("nixon", NORMALIZED)),
        ("the Nixon", ["Nixon.", "nixon"], ("Nixon.", NORMALIZED)),
        ("07", ["77", "7"], ("7", NUMBER)),
        ("60.0", ["60"], ("60", NUMBER)),
        ("potomac river", ["james river"], None),
        ("nan", ["NaN of it"], None),
    ],
)
def test_an_output_is_matched_by_the_closest_rule(
    text: str, answers: list[str], expected: tuple[str, str] | None
) -> None:
    assert match(text, answers) == expected


def test_outputs_join_the_answers_they_are() -> None:
    outputs = [
        output("red", system="A"),
        output("Red.", system="B"),
        output("red", "blue", system="C"),
        output("green", system="D"),
        output("green", system="E"),
    ]
    linked, rules = link([rated(2, "red"), rated(3, "blue")], outputs)
    systems = {answer.key: [o.system for o in answer.outputs] for answer in linked}
    assert systems == {"a0001": ["A", "B", "C"], "a0002": [], "u0001": ["D", "E"]}
    assert (rules[PLAIN], rules[NORMALIZED], rules[LIST], rules[NO_SYSTEM]) == (2, 1, 1, 1)
    assert sum(count for rule, count in rules.items() if "match no rated" in rule) == 2


def test_an_answer_listed_twice_is_told_apart_by_the_outputs() -> None:
    answers = [rated(2, "1991"), rated(3, "June 1991"), rated(4, "1991")]
    outputs = [output("1991", system="A"), output("1991.", system="B")]
    linked, rules = link(answers, outputs)
    assert [(a.key, a.text, len(a.outputs)) for a in linked] == [
        ("a0001", "1991", 1),
        ("a0002", "June 1991", 0),
        ("a0003", "1991.", 1),
    ]
    assert rules[TWICE] == 1
    assert rules[PLAIN] == 2
