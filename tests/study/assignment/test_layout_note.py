"""The first plan names the other layout of the page where responses are short."""

from uuid import uuid4

import pytest

from study import Study
from study.assignment.planner import assign
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, ResponseRow


def fill(study: Study, text: str, systems: int, queries: int = 4) -> None:
    rows = [
        ResponseRow(query_id=f"q{q}", query="?", system=f"s{s}", response=f"{q} {s} {text}")
        for q in range(queries)
        for s in range(systems)
    ]
    located = [LocatedRow(number, row) for number, row in enumerate(rows, 1)]
    import_rows(study, located, source="x", sha256=uuid4().hex, importer="responses")


def notes(study: Study, **design: object) -> str:
    planned = assign(study, ["anna", "ben"], constructs=["QR"], per_item=1, **design)
    return " ".join(planned.notes)


def test_short_responses_are_named_once(study: Study) -> None:
    fill(study, "It opens at eight.", 3)
    first = notes(study)
    assert "4 of 4 queries" in first
    assert 'layout = "side_by_side" in [design] takes 4 pages a stage in place of 12' in first
    assert "side_by_side" not in notes(study)


def test_one_query_is_counted_in_the_singular(study: Study) -> None:
    fill(study, "It opens at eight.", 3, queries=1)
    first = notes(study)
    assert "1 of 1 query are short enough" in first
    assert "takes 1 page a stage in place of 3" in first


@pytest.mark.parametrize(
    ("text", "systems", "layout"),
    [
        ("word " * 400, 3, "single"),
        ("開館" * 300, 3, "single"),
        ("short", 1, "single"),
        ("short", 4, "single"),
        ("short", 3, "side_by_side"),
    ],
)
def test_nothing_is_named_where_it_saves_nothing(
    study: Study, text: str, systems: int, layout: str
) -> None:
    fill(study, text, systems)
    assert "side_by_side" not in notes(study, layout=layout)
