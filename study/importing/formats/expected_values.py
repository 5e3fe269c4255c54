"""Responses to train or check raters with, each with the values that are expected of it."""

from typing import Any

from study.importing.formats.response_columns import FIELDS as OF_RESPONSES
from study.importing.formats.responses import passages_of
from study.importing.importers import FormatOptions
from study.importing.readers.cells import blank
from study.importing.readers.column_layout import Fields, has
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import Head, RecordSource
from study.importing.rows import ExpectedRow, Rows
from study.text import abbreviate

DESCRIPTION = "a query, a response, and its expected values: {construct: {low, high, why}}"

FIELDS: Fields = {**OF_RESPONSES, "purpose": ("purpose",), "expected": ("expected",)}

_RANGE_FIELDS = ("low", "high", "why")


def matches(head: Head) -> bool:
    """Whether rows are responses with expected values."""
    return has(FIELDS, head.columns, "query", "response", "expected")


def rows(source: RecordSource, options: FormatOptions) -> Rows:
    """Read the rows."""
    reader = Reader(source, FIELDS, families=True)
    reader.require("query", "response", "expected")

    def row(cells: RecordCells) -> Rows:
        system = options.system_of(cells)
        if system is not None:
            cells.fault(
                f"names the system {abbreviate(system)}.",
                "Training and check responses belong to no system; leave it out.",
                cells.column("system"),
            )
        purpose = cells.key("purpose")
        if purpose not in (None, "training", "check"):
            cells.fault(
                f"{abbreviate(purpose)} is not a purpose.",
                "Write training or check; the default is training.",
                cells.column("purpose"),
            )
        return cells.row(
            ExpectedRow,
            query_id=cells.key("query_id"),
            query=cells.text("query"),
            response=cells.text("response"),
            response_id=cells.key("response_id"),
            passages=passages_of(cells),
            references=cells.listed("references"),
            attributes={**cells.mapping("attributes"), **cells.attributes()},
            purpose=purpose,
            expected=_ranges(cells),
        )

    yield from reader.rows(row)


def _ranges(cells: RecordCells) -> dict[str, dict[str, Any]]:
    ranges: dict[str, dict[str, Any]] = {}
    for key, bounds in cells.mapping("expected").items():
        place = f"{cells.column('expected')}, {key}"
        if isinstance(bounds, list) and len(bounds) == 2:
            bounds = dict(zip(("low", "high"), bounds, strict=True))  # noqa: PLW2901
        ends = [bounds.get(name) for name in ("low", "high")] if isinstance(bounds, dict) else []
        if not isinstance(bounds, dict) or any(blank(end) for end in ends):
            cells.fault(
                f"{abbreviate(bounds)} is not a range.",
                'Write {"low": 70, "high": 100, "why": "..."} or [70, 100].',
                place,
            )
            continue
        for name in bounds:
            if name not in _RANGE_FIELDS:
                cells.left_out(f"the field {abbreviate(name)} of expected values")
        low, high = (cells.number_in(place, end) for end in ends)
        if low is None or high is None:
            continue  # an unreadable number is reported by number_in
        why = bounds.get("why")
        ranges[key] = {"low": low, "high": high, "why": None if blank(why) else why}
    return ranges
