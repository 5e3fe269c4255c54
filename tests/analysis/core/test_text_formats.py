"""Values of people that were given on rendered texts are counted in words."""

import pandas as pd
import pytest

from analysis.core.errors import TableError
from analysis.core.tables import PreferenceTable, ScoreTable
from analysis.core.text_formats import rendered_note


def table(formats: list[str | None]) -> ScoreTable:
    rows = [
        {"response_id": f"r{n}", "query_id": f"q{n}", "construct": "QR", "scorer": "anna"}
        | {"scorer_kind": "human", "value": 5.0 * n, "text_format": text_format}
        for n, text_format in enumerate(formats)
    ]
    return ScoreTable.from_frame(pd.DataFrame(rows))


def test_rendered_and_both_are_counted_once_a_response() -> None:
    note = rendered_note(table(["rendered", "both", "monospace", None]))
    assert note is not None
    assert note.startswith("2 of 4 values of people")
    assert rendered_note(table(["plain", None])) is None
    assert rendered_note(table([None, None])) is None


def test_preferences_are_counted_next_to_values() -> None:
    rows = [
        {"query_id": "q", "response_a": f"a{n}", "response_b": "b", "construct": "QR"}
        | {"scorer": "anna", "scorer_kind": "human", "value": n, "text_format": text_format}
        for n, text_format in enumerate(["rendered", None, "plain"])
    ]
    preferences = PreferenceTable.from_frame(pd.DataFrame(rows))
    note = rendered_note(table(["rendered"]), preferences)
    assert note is not None
    assert note.startswith("1 of 1 values and 1 of 3 preferences of people")
    note = rendered_note(table(["plain"]), preferences)
    assert note is not None
    assert note.startswith("1 of 3 preferences")
    with pytest.raises(TableError, match="text_format"):
        PreferenceTable.from_frame(pd.DataFrame([rows[0] | {"text_format": "fancy"}]))


def test_an_unknown_text_format_is_refused_with_its_row() -> None:
    with pytest.raises(TableError, match="text_format"):
        table(["rendered", "fancy"])
