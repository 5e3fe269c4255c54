"""What an export contains besides ratings is reported with its place."""

from pathlib import Path
from typing import Any

import pytest

from annotate_ui.label_studio.export_file import EDITED_BY_OTHER
from annotate_ui.label_studio.reasons import PREDICTIONS
from study import Study
from study.errors import InputError
from study.importing.file_import import import_file
from study.text import abbreviate
from tests.annotate_ui.label_studio.export_builder import annotation, result, task, written

NO_RATING = "the export has no ratings"


def warned(done: Any) -> str:
    return next((line for line in done.warnings if NO_RATING in line), "")


@pytest.mark.parametrize("name", ["annotations", "drafts"], ids=["annotations", "drafts"])
def test_a_field_that_is_not_a_list_is_a_fault(study: Study, tmp_path: Path, name: str) -> None:
    good = task(1, annotation(1, 5, QR=10))
    path = written(tmp_path, good, {**task(2, annotation(2, 5, QR=10)), name: 7})
    with pytest.raises(InputError, match=f"row 2: task 2: its {name} are 7, which is not a list"):
        import_file(study, path)
    import_file(study, written(tmp_path, {**good, "drafts": None}))
    assert study.score_table()["value"].tolist() == [10]


def test_annotations_of_which_none_can_be_read_are_the_reason(study: Study, tmp_path: Path) -> None:
    by_mail = annotation(1, {"email": "anna@example.org"}, QR=10)
    done = import_file(study, written(tmp_path, task(1, by_mail)))
    assert warned(done).endswith("none of its annotations counts, for the reasons above.")
    assert any("completed_by is not the number of a user" in line for line in done.left_out)


def test_texts_under_names_of_their_own_are_asked_for(study: Study, tmp_path: Path) -> None:
    unmapped = {"id": 1, "data": {"prompt": "P", "text": "T"}}
    path = written(tmp_path, {**unmapped, "annotations": [annotation(1, 5, QR=10)]})
    with pytest.raises(InputError) as caught:
        import_file(study, path)
    assert "Its fields: prompt, text. Name the texts question" in str(caught.value)
    assert "1 fault;" in str(caught.value)
    assert len(caught.value.faults) == 1


def test_a_response_may_be_empty(study: Study, tmp_path: Path) -> None:
    import_file(study, written(tmp_path, task(1, annotation(1, 5, QR=10), response="")))
    assert study.score_table()["response_id"].tolist() == ["task-1"]


def test_a_response_unknown_to_the_study_is_one_fault(study: Study, tmp_path: Path) -> None:
    rated = {"id": 1, "data": {"item_id": "r9"}, "annotations": [annotation(1, 5, QR=10)]}
    with pytest.raises(InputError, match=r"1 fault;.*\n.*'r9' is not in the study") as caught:
        import_file(study, written(tmp_path, rated))
    assert "The study has 0 responses." in str(caught.value)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"item_id": 0}, "0"),
        ({"response_id": "", "item_id": "b"}, "b"),
        ({"Item_ID": "c"}, "c"),
        ({"response_id": None}, "task-1"),
    ],
    ids=["zero", "blank-and-item", "capitals", "null"],
)
def test_a_response_is_called_by_what_names_it(
    study: Study, tmp_path: Path, data: dict[str, Any], expected: str
) -> None:
    done = import_file(study, written(tmp_path, task(1, annotation(1, 5, QR=10), **data)))
    assert study.score_table()["response_id"].tolist() == [expected]
    assert not done.left_out


def test_a_query_may_be_number_zero(study: Study, tmp_path: Path) -> None:
    path = written(tmp_path, task(1, annotation(1, 5, QR=10), query_id=0, system="A"))
    import_file(study, path)
    scores = study.score_table()
    assert scores[["query_id", "system"]].values.tolist() == [["0", "A"]]
    assert scores["response_id"].tolist() != ["task-1"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"completed_by": ...}, "no user (completed_by)"),
        ({"completed_by": "anna"}, "completed_by is not the number of a user"),
        ({"result": 7}, "result is not a list of results"),
        ({"result": [7]}, "result is not a list of results"),
        ({"completed_by": {"email": "x"}}, "completed_by is not the number of a user"),
        ({"was_cancelled": "true"}, "was_cancelled is neither true nor false"),
        ({"ground_truth": "true"}, "ground_truth is neither true nor false"),
    ],
    ids=["nobody", "name", "no-list", "no-result", "address", "cancelled", "truth"],
)
def test_an_annotation_that_cannot_be_read_is_named_with_its_reason(
    study: Study, tmp_path: Path, change: dict[str, Any], reason: str
) -> None:
    broken = {k: v for k, v in {**annotation(2, 6, QR=1), **change}.items() if v is not ...}
    done = import_file(study, written(tmp_path, task(1), task(2, annotation(1, 5, QR=9), broken)))
    reported = f"unreadable annotations: {reason}, such as in row 2, task 2"
    assert done.left_out == {reported: 1}
    assert study.score_table()["value"].tolist() == [9]


def test_predictions_that_cannot_be_read_are_counted_with_their_reason(
    study: Study, tmp_path: Path
) -> None:
    predicted = {**annotation(1, None, QR=5), "model_version": "m"}
    unnumbered = {key: value for key, value in predicted.items() if key != "id"}
    tasks = [{**task(1), "predictions": [predicted, unnumbered]}, task(2, annotation(2, 5, QR=90))]
    kinds = {"predictions": "judge"}
    done = import_file(study, written(tmp_path, *tasks), annotations=kinds, ranges={"QR": (0, 100)})
    reason = "unreadable predictions: no number (id), such as in row 1, task 1"
    assert done.left_out == {reason: 1}


def test_many_that_cannot_be_read_are_counted(study: Study, tmp_path: Path) -> None:
    tasks = [task(n, {**annotation(n, 5, QR=90), "completed_by": "anna"}) for n in range(1, 8)]
    done = import_file(study, written(tmp_path, *tasks, task(8, 7, annotation(9, 5, QR=1))))
    assert sorted(done.left_out.values()) == [1, 7]
    assert [line for line in done.left_out if "a user, such as in row 1, task 1" in line]
    assert [line for line in done.left_out if "not an object, such as in row 8, task 8" in line]


@pytest.mark.parametrize(
    "when",
    [{}, {"created_at": "", "updated_at": None}],
    ids=["none", "empty"],
)
def test_an_annotation_without_a_time_is_the_earlier_one(
    study: Study, tmp_path: Path, when: dict[str, Any]
) -> None:
    untimed = annotation(1, 5, QR=9)
    del untimed["created_at"], untimed["updated_at"]
    path = written(tmp_path, task(1, {**untimed, **when}, annotation(2, 6, QR=8)))
    done = import_file(study, path)
    assert not done.left_out
    assert sorted(study.score_table()["value"]) == [8, 9]
    # The latest counts: an annotation that states no time is earlier than one that does.
    again = written(tmp_path, task(2, annotation(3, 5, QR=8), {**untimed, "id": 4, **when}))
    assert list(import_file(study, again).left_out.values()) == [1]
    assert sorted(study.score_table()["value"]) == [8, 8, 9]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2026-01-03T10:00:00", "2026-01-02T10:00:00"),
        ("2026-01-03 10:00:00", "2026-01-02T10:00:00Z"),
        ("2026-01-03T10:00:00", "2026-01-03T10:30:00+01:00"),
    ],
    ids=["no-zone", "space", "mixed"],
)
def test_a_time_without_a_zone_is_utc(
    study: Study, tmp_path: Path, first: str, second: str
) -> None:
    one, two = annotation(1, 5, QR=10), annotation(2, 5, QR=90)
    one["updated_at"], two["updated_at"] = first, second
    import_file(study, written(tmp_path, task(1, one, two)))
    assert study.score_table()["value"].tolist() == [10]


@pytest.mark.parametrize("when", ["03/01/2026 10:00", 1767520800000, "yesterday", {"at": 1}, False])
def test_a_time_that_cannot_be_read_decides_nothing(
    study: Study, tmp_path: Path, when: Any
) -> None:
    untimed = {**annotation(2, 5, QR=10), "updated_at": when}
    path = written(tmp_path, task(1, annotation(3, 6, QR=20)), task(2, untimed))
    import_file(study, path)
    assert sorted(study.score_table()["value"]) == [10, 20]
    several = (task(n, annotation(2 * n, 5, QR=90), {**untimed, "id": 2 * n + 1}) for n in (3, 4))
    with pytest.raises(InputError) as refused:
        import_file(study, written(tmp_path, *several))
    faults = refused.value.faults
    assert [(fault.row, "2026-01-31T09:30:00Z" in fault.remedy) for fault in faults] == [
        (1, True),
        (2, True),
    ]
    assert faults[0].problem.startswith("task 3: of the annotations of 'ls-5' the latest counts")
    assert f"the time of annotation 7 cannot be read: {abbreviate(when)}." in faults[0].problem


def test_ground_truth_annotations_are_not_counted_as_raters(study: Study, tmp_path: Path) -> None:
    reference = {**annotation(1, 5, QR=5, other=9), "ground_truth": True}
    path = written(tmp_path, task(1, reference, annotation(2, 5, QR=60), annotation(3, 6, QR=50)))
    done = import_file(study, path)
    assert study.score_table().set_index("scorer")["value"].to_dict() == {"ls-5": 60, "ls-6": 50}
    ((reported, count),) = done.left_out.items()
    assert reported.startswith("annotations marked as ground truth")
    assert count == 1
    assert not warned(done)


def test_an_export_without_ratings_says_why(study: Study, tmp_path: Path) -> None:
    predicted = {**task(1), "predictions": [{"id": 1, "result": [result("QR", "number", 5)]}]}
    done = import_file(study, written(tmp_path, predicted))
    assert done.left_out == {PREDICTIONS: 1}
    assert "its tasks have no annotations" in warned(done)
    chosen = {**annotation(1, 5), "result": [result("side", "pairwise", "left")]}
    done = import_file(study, written(tmp_path, {**task(2, chosen), "data": {"a": 1, "b": 2}}))
    assert "its controls are 'side' (pairwise); numbers" in warned(done)
    done = import_file(study, written(tmp_path, task(3, annotation(3, 5, x=1))), controls={"x": ""})
    assert "all controls that rate are left out" in warned(done)
    orphan = written(tmp_path, task(4, annotation(4, None, QR=1)))
    assert "none of its annotations counts" in warned(import_file(study, orphan))
    reference = {**annotation(5, 5, QR=5), "ground_truth": True}
    done = import_file(study, written(tmp_path, task(5, reference)))
    assert "all its annotations are left out unless --annotations" in warned(done)


def test_ratings_of_regions_are_missing_and_not_one_of_them(study: Study, tmp_path: Path) -> None:
    annotated = annotation(1, 5, QR=5)
    labels = {"start": 0, "end": 3, "labels": ["X"]}
    annotated["result"] += [
        result("QR", "number", 7),
        result("why", "textarea", ["because"]),
        result("tree", "taxonomy", [["a", "b"]]),
        {"from_name": "part", "type": "labels", "value": labels},
        {"type": "relation", "from_id": "a", "to_id": "b"},
    ]
    done = import_file(study, written(tmp_path, task(10**30, {**annotated, "id": 10**25})))
    assert study.score_table()["missing_reason"].tolist() == ["given_twice"]
    assert len(done.left_out) == 3


def test_what_another_member_changed_is_counted(study: Study, tmp_path: Path) -> None:
    mine, theirs = annotation(1, 5, QR=10), annotation(2, 6, QR=20)
    path = written(tmp_path, task(1, {**mine, "updated_by": 5}, {**theirs, "updated_by": 5}))
    done = import_file(study, path)
    assert done.rules == {EDITED_BY_OTHER: 1}
    assert sorted(study.score_table()["value"]) == [10, 20]


def test_a_value_that_was_changed_after_its_import_is_refused(study: Study, tmp_path: Path) -> None:
    import_file(study, written(tmp_path, task(1, annotation(1, 5, QR=10))))
    changed = written(tmp_path, task(1, annotation(1, 5, QR=20)))
    with pytest.raises(InputError, match=r"the study has 10 .* Stored values never change"):
        import_file(study, changed)
