"""Labels on the text of a response are marks on its sentences, whose places are checked."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from study import Study
from study.errors import InputError
from study.importing.file_import import import_file
from study.schema.tables import imported_marks, scores
from tests.annotate_ui.label_studio.export_builder import annotation, result, stars, task, written

TEXT = "It opens 👍🏽 at 8. It closes at 20.\nDogs stay out. No."
CONTROLS = {"unsupported": "CC", "wrong": "AC"}


def label(name: str, part: str, *, utf16: bool = False, **value: Any) -> dict[str, Any]:
    start = TEXT.index(part)
    end = start + len(part)
    if utf16:
        start, end = (len(TEXT[:place].encode("utf-16-le")) // 2 for place in (start, end))
    place = {"start": start, "end": end, "text": part, "labels": [name]}
    return {"from_name": "label", "to_name": "text", "type": "labels", "value": {**place, **value}}


def labeled(number: int, user: int, *labels: dict[str, Any]) -> dict[str, Any]:
    return {**annotation(number, user), "result": list(labels)}


def imported(study: Study, path: Path, **options: Any) -> Any:
    return import_file(study, path, controls=options.pop("controls", CONTROLS), **options)


def stored(study: Study) -> dict[tuple[str, str], list[str]]:
    with study.read() as connection:
        rows: Any = connection.execute(select(imported_marks)).all()
    return {
        (row.scorer, row.construct_key): [TEXT[start:end] for start, end in row.ranges]
        for row in rows
    }


def test_labels_are_marks_of_the_construct_that_is_named(any_study: Study, tmp_path: Path) -> None:
    path = written(
        tmp_path,
        task(
            1,
            labeled(1, 1, label("unsupported", "closes"), label("wrong", "Dogs stay")),
            labeled(2, 2, label("unsupported", "closes at 20", utf16=True), label("nice", "No.")),
            response=TEXT,
        ),
    )
    summary = imported(any_study, path)
    assert summary.added["sets of marks"] == 4
    assert stored(any_study) == {
        ("ls-1", "CC"): ["closes"],
        ("ls-1", "AC"): ["Dogs stay"],
        ("ls-2", "CC"): ["closes at 20"],
        ("ls-2", "AC"): [],
    }
    assert any("UTF-16" in rule for rule in summary.rules)
    assert any("no sentence marked" in rule for rule in summary.rules)
    assert summary.left_out["labels 'nice' without a construct"] == 1
    # A part of a sentence marks it.
    table = any_study.marks_table()
    marked = table[(table["scorer"] == "ls-1") & (table["marked"] == 1)]
    assert dict(zip(marked["construct"], marked["sentence"], strict=True)) == {"CC": 2, "AC": 3}
    assert imported(any_study, path).imported_before is not None


def test_marks_come_with_ratings_of_the_same_annotation(study: Study, tmp_path: Path) -> None:
    rated = stars(1, 1, 4)
    rated["result"] = [*rated["result"], label("unsupported", "closes")]
    skipped = {**labeled(2, 2, label("unsupported", "closes")), "was_cancelled": True}
    path = written(tmp_path, task(1, rated, skipped, response=TEXT))
    imported(study, path, controls={"stars": "QR", "label": "CC"}, ranges={"stars": (1, 5)})
    assert stored(study) == {("ls-1", "CC"): ["closes"]}
    with study.read() as connection:
        values = connection.execute(select(scores.c.construct_key, scores.c.value)).all()
    assert ("QR", 75.0) in [tuple(row) for row in values]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"end": 500}, "is not in the response"),
        ({"end": 500, "text": None}, "is not in the response"),
        ({"text": "opens"}, "but the response has 'closes' there"),
        ({"text": "close\ud800"}, "but the response has 'closes' there"),
        ({"start": "/div[1]/text()[1]"}, "HTML"),
        ({"start": None}, "no place in a text"),
    ],
)
def test_labels_that_are_not_on_the_response_are_refused(
    study: Study, tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    wrong = label("unsupported", "closes", **change)
    path = written(tmp_path, task(1, labeled(1, 1, wrong), response=TEXT))
    with pytest.raises(InputError, match=words):
        imported(study, path, controls={"unsupported": "CC"})
    assert stored(study) == {}


def test_a_rating_of_a_region_is_refused_next_to_marks(study: Study, tmp_path: Path) -> None:
    region = result("stars", "rating", 3)
    region["value"] |= {"start": 0, "end": 5, "text": "It op"}
    path = written(
        tmp_path, task(1, labeled(1, 1, label("unsupported", "closes"), region), response=TEXT)
    )
    with pytest.raises(InputError, match="perRegion"):
        imported(study, path, controls={"unsupported": "CC", "stars": "QR"})


def test_labels_without_a_construct_are_left_out(study: Study, tmp_path: Path) -> None:
    path = written(tmp_path, task(1, labeled(1, 1, label("nice", "No.")), response=TEXT))
    summary = imported(study, path, controls={})
    assert stored(study) == {}
    assert "results of the control 'label', which gives labels rather than numbers" in (
        summary.left_out
    )


def test_a_marked_part_without_a_label_is_counted_and_is_no_empty_answer(
    study: Study, tmp_path: Path
) -> None:
    """A person may select a text before choosing a label."""
    bare = label("wrong", "closes")
    del bare["value"]["labels"]
    both = task(1, labeled(1, 1, bare), labeled(2, 2, bare, label("wrong", "No.")), response=TEXT)
    summary = imported(study, written(tmp_path, both), controls={"wrong": "AC"})
    assert stored(study) == {("ls-2", "AC"): ["No."]}
    assert summary.left_out == {"a marked part without a label": 2}
