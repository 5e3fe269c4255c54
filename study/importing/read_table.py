"""Reading a table of scores or preferences without a study, with the same checks."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from study.columns import PREFERENCE_COLUMNS, SCORE_COLUMNS
from study.errors import Fault, InputError
from study.importing.formats import preferences, scores, scores_wide
from study.importing.formats.response_columns import has_responses
from study.importing.formats.scores import (
    TableFields,
    kinds_as_scorers,
    no_scores,
    numbers_of_rows,
    without_response,
)
from study.importing.import_report import BLANK, TWICE, ImportReport
from study.importing.importers import FormatOptions
from study.importing.readers.cells import CellError, number, ratio_or_percentage
from study.importing.readers.column_layout import (
    Fields,
    compares_responses,
    folded,
    has,
    missing_column,
)
from study.importing.readers.column_words import word_in
from study.importing.readers.failure_names import ReadScores, direction_notes
from study.importing.readers.input_file import Advance, unseen
from study.importing.readers.judgment_cells import Ranged, is_object, reported_once
from study.importing.readers.source import RecordSource
from study.importing.readers.value_words import best_of, is_missing, is_verdict
from study.importing.readers.written_values import (
    Group,
    GroupWords,
    declare_words,
    off_the_scale,
)
from study.importing.rows import LocatedRow, PreferenceRow, Rows, ScoreRow
from study.importing.score_columns.judgment_table import (
    as_attribute,
    names_of_values,
    scales_of_words,
)
from study.importing.score_columns.preference_columns import preference_columns
from study.importing.tool_exports import tool_export
from study.settings.constructs import CCRS
from study.text import quoted_names, shell_word

if TYPE_CHECKING:
    from pandas import DataFrame

# A column of a wide table is a construct if the first cell with something in it, among so many
# rows, is a number or a word for pass or fail.
_LOOKED_AT = 200


def read_scores(
    path: Path | str,
    *,
    kinds: Mapping[str, str] | None = None,
    scorer: str | None = None,
    construct: str | None = None,
    scales: Mapping[str, Ranged] | None = None,
    scorer_scales: Mapping[tuple[str, str], Ranged] | None = None,
    values: Mapping[str, float | None] | None = None,
    columns: Mapping[str, str] | None = None,
    progress: Advance | None = None,
) -> "DataFrame":
    """Read a table of scores: CSV, TSV, JSON lines or Parquet; long, or wide.

    Parameters
    ----------
    path
        Long: a row for each score, with response_id, query_id, construct, scorer, value. Without
        query_id each response is a separate query; without response_id a query has one response
        of each system. Wide: a
        column for each construct, or for each scorer and construct (`anna:QR`). Or scores of
        Langfuse, traces of Langfuse with their scores, or annotations of Phoenix, whose names are
        the constructs.
    kinds
        Scorer to kind (human, adjudicated, judge, metric), where the file does not state it.
    scorer, construct
        Values of columns that the file lacks, for all its rows.
    scales, scorer_scales
        Declared scales by construct, and by (scorer, construct); values outside are faults.
    values
        Numbers by word, such as `{"good": 2, "ok": 1, "bad": 0, "unsure": None}`; None is missing.
        They are used before the words that are known.
    columns
        Field, such as response_id, to the column that has it, where its name does not tell.
    progress
        Called with the amount read and the total, in the same unit.

    Returns
    -------
    DataFrame
        The columns of the score table (`ccrs help score-table`). `attrs["summary"]` has lines on
        what was accepted by a rule or left out, `attrs["value_names"]` the word for each value by
        construct where values were words.

    Raises
    ------
    InputError
        With all faults of the file.

    Examples
    --------
    >>> from ccrs_study import read_scores
    >>> read_scores("scores.csv")[["response_id", "scorer", "value"]].head(2).values.tolist()
    [['r0', 'llm', 8.0], ['r0', 'anna', 0.0]]
    """

    def scale_of(scorer: str, construct: str) -> Ranged | None:
        return (scorer_scales or {}).get((scorer, construct)) or (scales or {}).get(construct)

    source = RecordSource(Path(path), advance=progress or unseen)
    present = source.head.columns
    export = tool_export(source)
    if export is None:
        columns = {**kinds_as_scorers(source), **(columns or {})}
    form = _form(source, columns or {}) if export is None else export.module
    constructs: tuple[str, ...] = ()
    if export is None:
        constructs = tuple(c.key for c in CCRS) if form is scores else wide_constructs(source)
    elif not export.has_ratings:
        raise InputError(source.path.name, [_needs_study(source, export.name)])
    options = FormatOptions(
        constructs=constructs,
        kinds=dict(kinds or {}),
        declared_kinds=dict(kinds or {}),
        scorer=scorer,
        construct=construct,
        metrics_are_constructs=export is not None,
        words=values or {},
        table_scale=scale_of,
    )
    layout = (
        scores.fields_of_table(present, columns, numbers_of_rows(source))
        if form is scores
        else _named_fields(form.FIELDS, columns or {}, present)
    )
    if export is None:
        _check_identifiers(source, layout)
    source.report.warnings += layout.assumptions
    known = {spec.key for spec in CCRS}
    if further := [key for key in constructs if key not in known and key in present]:
        source.report.warnings.append(
            f"each column of numbers is read as a construct: {quoted_names(further)}. Remove a "
            "column that has something else than scores."
        )

    def scale(row: Any) -> Ranged | None:
        return scale_of(row.scorer, row.construct_key)

    records: list[dict[str, Any]] = []
    # Key, and key with system, to the first row that has it and its value.
    first_values: dict[tuple[Any, ...], tuple[int, tuple[Any, ...]]] = {}
    query_of: dict[str, str] = {}
    rows = (
        form.rows(source, options, layout.fields)
        if form in (scores, scores_wide)
        else form.rows(source, options)
    )
    for located in _checked(source, rows, scale):
        row = located.row
        if not isinstance(row, ScoreRow):
            continue
        name = row.response_id or f"{row.query_id}/{row.system}"
        if layout.query_per_response:
            row = row.model_copy(update={"query_id": name})
        if row.query_id is None:
            column = located.column("query_id")
            source.report.fault("is blank.", "Give it in every row.", located.number, column)
            continue
        if query_of.setdefault(name, row.query_id) != row.query_id:
            source.report.fault(
                f"the response {name!r} is one to the query {row.query_id!r} here, and to "
                f"{query_of[name]!r} above.",
                "Give each response an id that no other query's response has.",
                located.number,
                located.column("response_id"),
            )
            continue
        cells = row.model_dump(exclude={"construct_key"}) | _valued(row)
        cells |= {"response_id": name, "construct": row.construct_key}
        key = (name, row.construct_key, row.scorer, row.repeat)
        if _first(source.report, first_values, key, located, row, bool(layout.assumptions)):
            records.append(cells)
    if export is not None and not records and not source.report.faults:
        raise InputError(source.path.name, [_needs_study(source, export.name)])
    words = {group: own for read in options.words_read for group, own in read.met.items()}
    source.report.warnings += direction_notes(_as_read(words, records))
    frame = _frame(source, records, SCORE_COLUMNS)
    frame.attrs.update(
        word_scales=as_attribute(scales_of_words(words)), value_names=names_of_values(words)
    )
    return frame


def _named_fields(
    fields: Fields, columns: Mapping[str, str], present: Sequence[str]
) -> TableFields:
    """The fields of a wide table or an export, with those that the user names."""
    named = {**fields, **{field: (column,) for field, column in columns.items()}}
    alone = "response_id" in columns and not has(named, present, "query_id")
    return TableFields(named, query_per_response=alone)


def _as_read(
    words: Mapping[Group, GroupWords], records: Sequence[Mapping[str, Any]]
) -> Iterator[ReadScores]:
    """The judgments of each scorer on each construct."""
    numbers: dict[tuple[str, str], set[float]] = {}
    for record in records:
        if record["value"] is not None:
            key = str(record["construct"]), str(record["scorer"])
            numbers.setdefault(key, set()).add(float(record["value"]))
    for key, values in numbers.items():
        found = words.get(key[::-1])
        yield ReadScores(key, None if found is None else found.vocabulary, values)


def _check_identifiers(source: RecordSource, layout: TableFields) -> None:
    """Refuse a table that does not name queries, or neither responses nor systems."""
    name, columns = source.path.name, source.head.columns
    if not layout.query_per_response and not has(layout.fields, columns, "query_id"):
        raise InputError(name, [without_response(source)])
    if not any(has(layout.fields, columns, one) for one in ("response_id", "system")):
        raise InputError(name, [missing_column(("response_id", "system"), columns)])


def read_preferences(
    path: Path | str,
    *,
    kinds: Mapping[str, str] | None = None,
    scorer: str | None = None,
    construct: str | None = None,
    scale: Ranged | None = None,
    progress: Advance | None = None,
) -> "DataFrame":
    """Read a table of comparisons of two responses; as `read_scores`."""
    source = RecordSource(Path(path), advance=progress or unseen)
    known_kinds = dict(kinds or {})
    options = FormatOptions(
        kinds=known_kinds, declared_kinds=known_kinds, scorer=scorer, construct=construct
    )
    records: list[dict[str, Any]] = []
    first_values: dict[tuple[Any, ...], tuple[int, tuple[Any, ...]]] = {}
    side_by_side = preference_columns(source)
    rows = (
        preferences.rows(source, options)
        if side_by_side is None
        else preferences.rows_side_by_side(source, side_by_side)
    )
    for located in _checked(source, rows, lambda _: scale):
        row = located.row
        if not isinstance(row, PreferenceRow):
            continue
        cells = row.model_dump(exclude={"construct_key"}) | _valued(row)
        cells["construct"] = row.construct_key
        pair = (row.query_id, row.response_a, row.response_b)
        key = (*pair, row.construct_key, row.scorer, row.repeat)
        if _first(source.report, first_values, key, located, row):
            records.append(cells)
    return _frame(source, records, PREFERENCE_COLUMNS)


def _form(source: RecordSource, named: Mapping[str, str]) -> Any:
    head = source.head
    if "value" in named:
        return scores
    names = folded(head.columns)
    if compares_responses(head.columns) or preference_columns(source) is not None:
        raise source.refused(
            "the file compares responses, and has no scores.",
            "The commands report and check read comparisons.",
        )
    if has_responses(head) and not has(scores.FIELDS, names, "scorer", "value"):
        raise InputError(source.path.name, [no_scores(source)])
    # A label alone may be anything; next to the name of who gave it, it is the value.
    values = {*scores.FIELDS["value"]} - {"label"}
    long = bool(names & {*scores.FIELDS["construct_key"], *values}) or (
        "label" in names and ("scorer" in named or has(scores.FIELDS, names, "scorer"))
    )
    return scores if long else scores_wide


def _needs_study(source: RecordSource, name: str) -> Fault:
    return Fault(
        f"the file is an export with responses and automatic scores ({name}).",
        f"Import it into a study, with people's ratings: ccrs init my-study && ccrs import "
        f"my-study {shell_word(source.path)}.",
    )


def wide_constructs(source: RecordSource) -> tuple[str, ...]:
    """Return the constructs of a wide table: what its columns of numbers are named after."""
    standard = {column for names in scores_wide.FIELDS.values() for column in names}
    open_columns = [column for column in source.head.columns if column.casefold() not in standard]
    numeric: dict[str, bool] = {}
    for record in islice(source.peeked(), _LOOKED_AT):
        for column in [c for c in open_columns if c not in numeric]:
            sign = _looks_numeric(record.cells.get(column), named=":" in column)
            if sign is not None:
                numeric[column] = sign
    names = [column for column, sign in numeric.items() if sign]
    # The column of a known construct contains scores, whatever its first cell is.
    names += [c for c in open_columns if c.rpartition(":")[2] in {spec.key for spec in CCRS}]
    return tuple(dict.fromkeys(name.rpartition(":")[2] for name in names))


def _looks_numeric(cell: Any, *, named: bool) -> bool | None:
    """Whether a cell has a judgment; None for a missing one.

    `named`: the column's name has a scorer, so that any known word is one. Elsewhere words such as
    low and high may describe a question.
    """
    word = word_in(cell)
    if word is not None:
        if is_missing(word):
            return None
        return is_verdict(cell) or (named and best_of([word]) is not None)
    try:
        if ratio_or_percentage(str(cell)) is not None or is_object(cell):
            return True
        value = number(cell, ImportReport(), typed=True, decimal_comma=True)
    except CellError:
        return False
    return None if value is None else True


def _checked(source: RecordSource, rows: Rows, scale: Any) -> Iterator[LocatedRow]:
    """Yield rows on their scale and with one kind a scorer; note the others."""
    kinds: dict[str, tuple[str, int]] = {}
    report = source.report
    try:
        for located in rows:
            report.count_row(located.row if isinstance(located, Fault) else located.number)
            if isinstance(located, Fault):
                report.faults.append(located)
                continue
            number, row = located.number, located.row
            if not isinstance(row, ScoreRow | PreferenceRow):
                continue
            kind, first = kinds.setdefault(row.scorer, (row.scorer_kind, number))
            if kind != row.scorer_kind:
                report.fault(
                    f"scorer {row.scorer!r} is {row.scorer_kind} here and {kind} in row {first}.",
                    "A scorer has one kind; rename the other scorer.",
                    number,
                    located.column("scorer_kind"),
                )
            limits = scale(row)
            if limits and isinstance(row, ScoreRow) and row.word_range:
                why = off_the_scale(row.word_range, limits.min, limits.max)
                if why is not None:
                    place = (number, located.column("value"))
                    row_scorer = (row.scorer, row.construct_key, row.scorer_kind)
                    report.fault(
                        f"{why} ({row.construct_key} by {row.scorer!r}).",
                        declare_words(*row_scorer, row.word_range),
                        *place,
                    )
            elif limits and row.value is not None and not limits.min <= row.value <= limits.max:
                report.fault(
                    f"{row.value:g} for {row.construct_key} by {row.scorer!r} is outside "
                    f"{limits.min:g} to {limits.max:g}.",
                    "Correct it, or declare the scorer's own scale: --scale "
                    f"{row.scorer}:{row.construct_key}=MIN:MAX.",
                    number,
                    located.column("value"),
                )
            yield located
    except InputError as error:
        report.faults += error.faults


def _first(
    report: ImportReport,
    first_values: dict[tuple[Any, ...], tuple[int, tuple[Any, ...]]],
    key: tuple[Any, ...],
    located: LocatedRow,
    row: ScoreRow | PreferenceRow,
    assumed: bool = False,
) -> bool:
    """Whether a row is the first of its key and system; another value of its key is a fault.

    So is the same value where it is `assumed` which columns identify a response.
    """
    number, content = located.number, (row.value, row.missing_reason)
    first, before = first_values.setdefault(key, (number, content))
    if assumed and first != number:
        report.fault(
            f"a second value by {row.scorer!r} on {row.construct_key} for the same response as in "
            f"row {first}.",
            "If a further column names the system or the response, rename it to system or "
            "response_id; remove a row that is twice in the file.",
            number,
            located.column("value"),
        )
        return False
    system = row.system if isinstance(row, ScoreRow) else None
    if before != content:
        value, earlier = (
            f"{v:g}" if v is not None else "no value" for v in (content[0], before[0])
        )
        report.fault(
            f"{value} by {row.scorer!r} on {row.construct_key}, repeat {row.repeat}, but row "
            f"{first} has {earlier} for the same response.",
            "Keep one of them, or number them as repeats.",
            number,
            located.column("value"),
        )
        return False
    again, _ = first_values.setdefault((*key, "system", system), (number, content))
    if again != number:
        report.rules[TWICE] += 1
    return again == number


def _valued(row: ScoreRow | PreferenceRow) -> dict[str, Any]:
    return {"missing_reason": (row.missing_reason or BLANK) if row.value is None else None}


def _frame(
    source: RecordSource, records: list[dict[str, Any]], columns: dict[str, str]
) -> "DataFrame":
    import numpy as np
    import pandas as pd

    from study.importing.import_report import ImportSummary

    report = source.report
    if report.faults:
        in_order = sorted(report.faults, key=lambda fault: (fault.row is None, fault.row or 0))
        in_order = reported_once(in_order, source.path.name)
        raise InputError(source.path.name, in_order, report.notes)
    frame = pd.DataFrame(
        {
            name: pd.Series(
                [row[name] for row in records], dtype=np.dtype(object if kind == "str" else kind)
            )
            for name, kind in columns.items()
        }
    )
    frame.attrs["summary"] = ImportSummary.of(report, source.path.name, "table").lines()[1:]
    return frame
