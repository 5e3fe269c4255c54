"""Preferences: two responses to a query, and which of them is better."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from study.importing.formats.scores import OPTIONAL
from study.importing.import_report import ImportReport
from study.importing.importers import FormatOptions
from study.importing.readers.cells import blank, looks_like_number
from study.importing.readers.column_layout import Fields, has
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import Head, RecordSource
from study.importing.readers.value_words import is_missing
from study.importing.rows import PreferenceRow, Rows
from study.importing.score_columns.contents import contents_of
from study.importing.score_columns.names import kind_of
from study.importing.score_columns.preference_columns import (
    PreferenceColumns,
    ambiguous,
    by_place,
    compares_pairs,
    preference_in,
)
from study.importing.score_columns.shared_parts import responses_in_a_row
from study.importing.score_columns.words import ONLY_CONSTRUCT
from study.text import quoted_names

DESCRIPTION = "query_id, response_a, response_b, construct, scorer, value (positive: b is better)"
FIELDS: Fields = {
    "query_id": ("query_id",),
    "response_a": ("response_a",),
    "response_b": ("response_b",),
    "construct_key": ("construct", "construct_key"),
    "value": ("value", "preference"),
    "value_a_first": ("value_a_first",),
    "value_b_first": ("value_b_first",),
    **{
        name: OPTIONAL[name]
        for name in ("scorer", "scorer_kind", "repeat", "missing_reason", "text_format")
    },
}

_RESPONSES = {"response_a", "response_b"}


def matches(head: Head) -> bool:
    """Whether rows compare two responses."""
    return has(FIELDS, head.columns, "response_a", "response_b")


def missing_columns(head: Head) -> list[tuple[str, ...]]:
    """Return the columns that a file of preferences needs and this one lacks."""
    needed = ("query_id", "response_a", "response_b", "construct_key", "scorer", "value")
    return [FIELDS[name] for name in needed if not has(FIELDS, head.columns, name)]


def _columns_of_numbers(source: RecordSource) -> dict[str, str]:
    """Return the columns with numbers, beside no `value`, to judge or human."""
    columns = source.head.columns
    if has(FIELDS, columns, "value"):
        return {}
    contents = contents_of(source.peeked(), columns)
    kinds = {c: kind[0] for c in columns if (kind := kind_of(c)) and contents[c].mostly_numbers}
    return kinds if {"judge", "human"} & {*kinds.values()} else {}


def rows(source: RecordSource, options: FormatOptions) -> Rows:
    """Read the rows."""
    reader = Reader(source, FIELDS)
    if numbered := _columns_of_numbers(source):
        judges, people = ([c for c in numbered if numbered[c] == of] for of in ("judge", "human"))
        texts = [name for name in source.head.columns if name.casefold() in _RESPONSES]
        turned = responses_in_a_row(judges, people, texts)
        listed = quoted_names(map(repr, numbered))
        problem = f"which of the two responses is better is written in numbers in {listed}."
        remedy = (
            "Write A, B or tie there, or a row for each preference with query_id, response_a, "
            "response_b, construct, scorer, scorer_kind (human or judge) and value (a number, "
            "positive where response_b is better)."
        )
        if turned is not None:
            problem, remedy = (
                "a row has scores of two responses.",
                f"{turned[:1].upper()}{turned[1:]}.",
            )
        raise source.refused(problem, remedy, 1)
    reader.require("query_id", "response_a", "response_b", "value")
    if options.construct is None:
        reader.require("construct_key")
    if options.scorer is None:
        reader.require("scorer", instead="--scorer NAME")

    numbers = _numbers(source)

    def row(cells: RecordCells) -> Rows:
        scorer = options.scorer_of(cells)
        return cells.row(
            PreferenceRow,
            query_id=cells.key("query_id"),
            response_a=cells.key("response_a"),
            response_b=cells.key("response_b"),
            construct_key=options.construct_of(cells),
            scorer=scorer,
            scorer_kind=options.kind(cells, scorer),
            repeat=cells.whole_number("repeat"),
            value=_value(cells, source.report, numbers),
            missing_reason=cells.key("missing_reason"),
            value_a_first=cells.optional_number("value_a_first"),
            value_b_first=cells.optional_number("value_b_first"),
            text_format=cells.key("text_format"),
        )

    yield from reader.rows(row)


@dataclass(frozen=True)
class _Numbers:
    """What the numbers in a column of preferences are, which may also have words."""

    choices: bool = False
    """Whether 1 is A and 2 is B, as beside a word for a tie."""
    unclear: bool = False
    """Whether they may be choices or values of a scale, beside words."""


def _numbers(source: RecordSource) -> _Numbers:
    """Read ahead what the numbers of the values are."""
    numbers: set[float] = set()
    words: set[float] = set()
    for cells in Reader(RecordSource(source.path), FIELDS):
        if not isinstance(cells, RecordCells) or blank(cells.raw("value")):
            continue
        text = str(cells.raw("value")).strip()
        if looks_like_number(text):
            numbers.add(float(text.replace(",", ".")))
        elif (chosen := _chosen(cells, text)) is not None:
            words.add(chosen)
    choices = numbers <= {1.0, 2.0}
    if words and numbers:
        sure = choices and 0.0 in words and 2.0 in numbers
        signed = numbers <= {-1.0, 0.0, 1.0} and -1.0 in numbers
        return _Numbers(sure, not sure and not signed)
    if numbers <= {0.0, 1.0, 2.0} and {1.0, 2.0} <= numbers:
        source.report.warnings.append(
            "preferences of 1 and of 2 are both read as numbers above 0, so that response_b is "
            "better. If 1 is response_a and 2 is response_b, write A and B."
        )
    return _Numbers()


def _pair(cells: RecordCells) -> tuple[str, str]:
    return cells.column("response_a") or "", cells.column("response_b") or ""


def _chosen(cells: RecordCells, text: str) -> float | None:
    return preference_in(by_place(text, cells.written, _pair(cells)))


def _value(cells: RecordCells, report: ImportReport, numbers: _Numbers) -> float | None:
    """Return a number, or that of A, B, a tie or the name of the response that is better."""
    raw = cells.raw("value")
    text = "" if blank(raw) else str(raw).strip()
    if looks_like_number(text) and (numbers.choices or numbers.unclear):
        return _number_among_words(cells, text, report, numbers)
    if not isinstance(raw, str) or not text or looks_like_number(text):
        return cells.required_value()
    if (fault := ambiguous(text, cells.written, _pair(cells))) is not None:
        cells.fault_once(fault.problem, fault.remedy, cells.column("value"))
        return None
    chosen = _chosen(cells, text)
    if chosen is None:
        return cells.required_value()
    report.rules["preferences of A, B or neither read as -1, 1 and 0"] += 1
    return chosen


def _number_among_words(
    cells: RecordCells, text: str, report: ImportReport, numbers: _Numbers
) -> float | None:
    if numbers.unclear:
        cells.fault(
            f"{text} is a number among words for A, B and a tie.",
            "Write all preferences in words, A, B and tie, or all in numbers: above 0 where "
            "response_b is better, below 0 where response_a is.",
            cells.column("value"),
        )
        return None
    report.rules["preferences of 1 and 2 beside a tie read as A and B"] += 1
    return -1.0 if float(text.replace(",", ".")) == 1 else 1.0


@dataclass
class _BothOrders:
    """Pairs that are there twice, with the responses in both orders."""

    first: dict[tuple[Hashable, ...], tuple[str, str]] = field(default_factory=dict)
    """Query and responses, to the place of the pair and the response that is A there."""
    turned: set[str] = field(default_factory=set)
    """Places whose second order was met."""
    judge_rows: dict[tuple[str, str], list[tuple[RecordCells, dict[str, Any]]]] = field(
        default_factory=dict
    )
    """The rows of a judge on a pair, by column and place, which become one comparison."""

    def place(self, query: str | None, shown: Sequence[str | None], place: str) -> tuple[str, bool]:
        """Return the place of a pair, and whether its responses are the other way around."""
        if len(shown) != 2 or None in shown or shown[0] == shown[1]:
            return place, False
        key = (query, frozenset(shown))
        earlier, a = self.first.setdefault(key, (place, str(shown[0])))
        if a == shown[0] or earlier in self.turned:
            return place, False
        self.turned.add(earlier)
        return earlier, True

    def comparisons(self, report: ImportReport) -> Rows:
        """Yield the comparisons of judges, those in both orders as one."""
        for (column, _), orders in self.judge_rows.items():
            (cells, values), *further = orders
            if further:
                one, other = values["value"], further[0][1]["value"]
                by_order = {"value_a_first": one, "value_b_first": other}
                values = {**values, **by_order, "value": one if one == other else 0.0}
                report.rules["pairs in both orders read as one comparison of the judge"] += 1
            yield from cells.row(PreferenceRow, at=column, **values)


def rows_side_by_side(source: RecordSource, columns: PreferenceColumns) -> Rows:
    """Read rows with the preferences of judges and of people: a comparison for each of them."""
    fields: Fields = {column: (column,) for column in columns.scorers}
    if columns.query is not None:
        fields = {**fields, "query_id": (columns.query,)}
    raters = columns.raters
    if raters is not None:
        fields = {**fields, "rater": (raters.rater,)}
    shown = [name for name in source.head.columns if name.casefold() in _RESPONSES]
    reader = Reader(source, {**fields, **{name: (name,) for name in shown}})
    first: dict[tuple[str, str], tuple[float, int]] = {}
    rows_of: Counter[str] = Counter()
    orders = _BothOrders()

    def comparisons(cells: RecordCells) -> Rows:
        place = f"row {cells.number}"
        if raters is not None:
            place = ", ".join(raters.response(cells.written))
        query = cells.words("query_id") if columns.query is not None else None
        turned = False
        rows_of[query or place] += 1
        if raters is None:
            texts = [None if blank(cells.written[c]) else str(cells.written[c]) for c in shown]
            place, turned = orders.place(query, texts, place)
        for column, kind in columns.scorers.items():
            text = cells.words(column)
            if text is None or is_missing(text):
                source.report.rules["blank preferences left out"] += 1
                continue
            if (fault := ambiguous(text.strip(), cells.written, columns.pair)) is not None:
                cells.fault_once(fault.problem, fault.remedy, column)
                continue
            value = preference_in(
                by_place(text.strip(), cells.written, columns.pair, columns.winners)
            )
            if value is None:
                cells.fault(
                    f"{text!r} is none of A, B and tie.",
                    "Write A where response_a is preferred, B where response_b is, and tie.",
                    column,
                )
                continue
            if raters is not None and kind == "judge":
                earlier, row = first.setdefault((column, place), (value, cells.number))
                if earlier != value:
                    cells.fault(
                        f"{text!r} is another preference of the judge than in row {row}.",
                        "Each rater's row of a pair repeats one preference of the judge: correct "
                        "it.",
                        column,
                    )
                if row != cells.number:
                    continue
            values = {
                "query_id": query or place,
                "response_a": f"{place} A",
                "response_b": f"{place} B",
                "construct_key": ONLY_CONSTRUCT,
                "scorer": column if raters is None or kind == "judge" else raters.of(cells.written),
                "scorer_kind": kind,
                "value": -value if turned and value else value,
            }
            if kind == "judge" and shown:
                orders.judge_rows.setdefault((column, place), []).append((cells, values))
            else:
                repeat = 1 if turned else None
                yield from cells.row(PreferenceRow, at=column, repeat=repeat, **values)

    yield from reader.rows(comparisons)
    yield from orders.comparisons(source.report)
    pair = columns.query if columns.query and compares_pairs(columns.query) else None
    if pair and raters is None and not shown and max(rows_of.values(), default=0) > 1:
        source.report.warnings.append(
            f"{pair!r} has several rows with one pair, each of which is read as a comparison of "
            "its own. If they show a pair in both orders, add columns response_a and response_b "
            "with what each row showed as A and as B."
        )
