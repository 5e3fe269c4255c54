"""The content of an annotation, and everything that may be wrong in it."""

import json
from io import BytesIO
from typing import Any

import pytest

from annotate_ui.label_studio import reasons
from annotate_ui.label_studio.annotation_reader import AnnotationReader
from annotate_ui.label_studio.annotations import Annotation, InvalidValue
from annotate_ui.label_studio.client import ServerError, tasks_in
from study.base.scales import Scale

CONTROLS: dict[str, dict[str, Any]] = {
    "QR": {"kind": "number", "construct": "QR", "construct_version": 2},
    "QR_flags": {"kind": "flags", "construct": "QR", "construct_version": 2, "flags": ["a", "b"]},
    "comment": {"kind": "comment"},
}


def read(*results: tuple[str, dict[str, Any]], **other: Any) -> Annotation:
    """Return an annotation with these results."""
    body = {
        "id": 7,
        "completed_by": 3,
        "created_at": "2026-01-01T10:00:00.5Z",
        "updated_at": "2026-01-01T10:01:00Z",
        "lead_time": 4,
        "was_cancelled": False,
        "result": [{"from_name": name, "value": value} for name, value in results],
        **other,
    }
    task = {"id": 1, "data": {"ccrs_id": "x"}}
    reader = AnnotationReader(CONTROLS, {"QR": Scale(step=0.5)}, None)
    annotation = reader.read(body, task, {})
    assert isinstance(annotation, Annotation)
    return annotation


def test_values_are_read_by_name_and_not_by_place() -> None:
    annotation = read(
        ("comment", {"text": ["one", "two"]}),
        ("QR_flags", {"choices": ["b", "a"]}),
        ("QR", {"number": 66.5}),
    )
    (answer,) = annotation.answers
    assert (answer.value, answer.flags, answer.construct_version) == (66.5, ("a", "b"), 2)
    assert (annotation.comment, annotation.lead_seconds, annotation.name) == (
        "one\ntwo",
        4.0,
        "x",
    )
    assert (annotation.user, annotation.invalid) == (3, [])


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (250, "250 is outside the scale 0 to 100"),
        (-1, "-1 is outside the scale 0 to 100"),
        (66.6, "66.6 is not a point of the scale 0 to 100 in steps of 0.5"),
        ("77", reasons.NO_NUMBER),
        (None, reasons.NO_NUMBER),
        (True, reasons.NO_NUMBER),
        ([1], reasons.NO_NUMBER),
        (10**400, reasons.NO_NUMBER),
        (float("nan"), "nan is not a finite number"),
    ],
    ids=["above", "below", "between", "text", "null", "bool", "list", "huge", "nan"],
)
def test_a_value_off_the_scale_is_invalid(value: Any, reason: str) -> None:
    annotation = read(("QR", {"number": value}))
    assert annotation.answers == []
    (invalid,) = annotation.invalid
    assert (invalid.construct_key, invalid.reason) == ("QR", reason)


def test_other_invalid_results_have_their_reasons() -> None:
    assert [invalid.reason for invalid in read().invalid] == [reasons.MISSING]
    twice = read(("QR", {"number": 1}), ("QR", {"number": 2}))
    assert (twice.answers, [invalid.reason for invalid in twice.invalid]) == (
        [],
        [reasons.ENTERED_TWICE, reasons.ENTERED_TWICE],
    )
    strange = read(("QR", {"number": 1}), ("QR_flags", {"choices": ["c"]}), ("other", {}))
    assert len(strange.answers) == 1
    assert [invalid.reason.split(":")[0] for invalid in strange.invalid] == [
        "unknown control",
        reasons.UNKNOWN_FLAG,
    ]
    good = ("QR", {"number": 1})
    assert read(good, ("comment", {"text": ["x" * 5001]})).invalid[0].reason == reasons.TOO_LONG
    assert read(good, ("comment", {"text": ["a\x00"]})).invalid[0].reason == reasons.NOT_STORABLE
    assert read(("comment", {"text": ["alone"]})).invalid[-1].reason == reasons.COMMENT_ONLY


def test_a_skip_has_no_value_for_any_construct() -> None:
    annotation = read(was_cancelled=True)
    assert [(answer.construct_key, answer.value) for answer in annotation.answers] == [("QR", None)]
    assert annotation.invalid == []


@pytest.mark.parametrize(
    "lead",
    [None, -1, "3", float("inf"), 10**400],
    ids=["none", "negative", "text", "infinite", "huge"],
)
def test_an_invalid_lead_time_is_not_read(lead: Any) -> None:
    assert read(("QR", {"number": 1}), lead_time=lead).lead_seconds is None


def test_an_annotation_that_cannot_be_read_has_its_reason_without_its_content() -> None:
    good = {
        "id": 1,
        "completed_by": {"id": 4, "email": "x@example.org"},
        "created_at": "2026-01-01T10:00:00Z",
        "result": [{"from_name": "QR", "value": {"number": 3}}],
    }
    broken = [{"id": 3}, 5, {**good, "result": 7}, {**good, "completed_by": "x@example.org"}]
    reader, task = AnnotationReader(CONTROLS, {}, None), {"id": 1, "data": None}
    assert [reader.read(one, task, {}) for one in broken] == [
        "no user (completed_by)",
        "not an object",
        "result is not a list of results",
        "completed_by is not the number of a user",
    ]
    annotation = reader.read(good, task, {})
    assert isinstance(annotation, Annotation)
    assert (annotation.user, annotation.name) == (4, None)


def test_an_account_that_is_deleted_over_there_leaves_its_values() -> None:
    assert read(("QR", {"number": 1}), completed_by=None).user is None


def test_a_relation_between_results_is_ignored() -> None:
    body = [
        {"from_name": "QR", "value": {"number": 3}},
        {"type": "relation", "from_id": "a", "to_id": "b", "direction": "right"},
    ]
    annotation = read(result=body)
    assert [answer.value for answer in annotation.answers] == [3]
    assert annotation.invalid == []


@pytest.mark.parametrize("value", [None, 5, []], ids=str)
def test_a_result_without_a_value_is_not_a_number(value: Any) -> None:
    annotation = read(("QR", value))
    assert [invalid.reason for invalid in annotation.invalid] == [reasons.NO_NUMBER]


@pytest.mark.parametrize(
    "text",
    ["[]", " [ ] ", '[{"id": 1}]', '\n[ {"id": 1} ,\n{"id": "ä]}"} ]\n'],
    ids=["none", "blanks", "one", "two"],
)
def test_an_export_is_read_task_by_task(text: str) -> None:
    assert list(tasks_in(BytesIO(text.encode()), 1)) == json.loads(text)


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[", '[{"id": 1}', '[{"id": 1},]', '[{"id": 1} {}]', "[1]", '[{"id": \xff}]'],
    ids=["empty", "object", "open", "unended", "comma", "no-comma", "number", "bytes"],
)
def test_an_export_that_is_cut_off_is_refused(text: str) -> None:
    with pytest.raises(
        ServerError, match="The export of project 1 is not a complete list of tasks"
    ):
        list(tasks_in(BytesIO(text.encode("latin-1")), 1))


@pytest.mark.parametrize("odd", [7, {"x": 1}, [7]])
def test_an_invalid_comment_or_remark_leaves_the_value(odd: Any) -> None:
    annotation = read(
        ("comment", {"text": odd}), ("QR_flags", {"choices": odd}), ("QR", {"number": 66.5})
    )
    assert [answer.value for answer in annotation.answers] == [66.5]
    assert [invalid.reason for invalid in annotation.invalid] == [reasons.UNKNOWN_FLAG]
    assert annotation.comment is not None


def test_an_edit_by_another_account_is_reported() -> None:
    assert [read(updated_by=user).edited_by_other for user in (None, 3, 4, {"id": 4})] == [
        False,
        False,
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("ticked", "value"),
    [
        (["-1"], -1.0),
        (["1"], None),
        (["-1", "0"], None),
        ([], None),
        (["-1.0"], None),
        ("-1", None),
    ],
)
def test_a_point_that_is_ticked_is_its_number(ticked: Any, value: float | None) -> None:
    labels = {"-1": -1.0, "0": 0.0}
    control = {"kind": "number", "labels": labels, "construct": "A", "construct_version": 1}
    body = {
        "id": 1,
        "completed_by": 1,
        "created_at": "2026-01-01T10:00:00Z",
        "result": [{"from_name": "A", "type": "choices", "value": {"choices": ticked}}],
    }
    reader = AnnotationReader({"A": control}, {}, None)
    annotation = reader.read(body, {"id": 1}, {})
    assert isinstance(annotation, Annotation)
    assert [answer.value for answer in annotation.answers] == ([] if value is None else [value])
    expected = (
        [] if value is not None else [InvalidValue("A", json.dumps(ticked), reasons.NO_NUMBER)]
    )
    assert annotation.invalid == expected
