"""Reading the named columns of a file, with the row of every fault."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from study.errors import Fault, InputError
from study.importing.import_report import ImportReport, ImportSummary
from study.importing.readers.cells import blank
from study.importing.readers.failure_names import ReadScores, direction_notes
from study.importing.readers.judgment_cells import Ranged, reported_once
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import RecordSource, table_source
from study.importing.readers.value_words import checked_values
from study.importing.readers.written_values import (
    Group,
    GroupWords,
    JudgedValue,
    ScoredCell,
    ValueRules,
    WordsAhead,
)
from study.importing.score_columns import row_checks
from study.importing.score_columns.column_purposes import DeclaredScales, Purposes, purposes_of
from study.importing.score_columns.judgment_table import (
    JudgmentTable,
    ScoreColumn,
    by_response,
    names_of_values,
    rater_name,
    scales_of_words,
)
from study.importing.score_columns.named_columns import IDENTIFYING, NamedColumns
from study.importing.score_columns.preference_columns import perhaps_choices
from study.importing.score_columns.scored_again import repeated_responses, scored_again
from study.importing.score_columns.words import ONLY_CONSTRUCT

# Mechanical Turk has the answers in it that the requester did not accept.
_STATUS_ON_TURK = "AssignmentStatus"
WHITE_SPACE = "white space around ids, queries and systems left out"


def read_named_columns(
    path: Path | str,
    columns: NamedColumns,
    *,
    values: Mapping[str, float | None] | None = None,
    scales: Mapping[str, Ranged] | None = None,
    scorer_scales: Mapping[tuple[str, str], Ranged] | None = None,
    looks_like: Callable[[Sequence[float]], str | None] | None = None,
    one_side: bool = False,
) -> JudgmentTable:
    """Read the named columns of a file.

    Parameters
    ----------
    path
        CSV, TSV, JSON lines, JSON or Parquet.
    columns
        Columns of judges and of raters, and what identifies a row. Without an id each row is a
        separate response, without a query each response has a separate one.
    values
        Numbers by word, where they are not those of well-known words; None is missing.
    scales, scorer_scales
        Declared scales by construct, and by (scorer, construct); values outside are faults.
    looks_like
        Returns a usual scale that values look as if they were on, for the remedy of values outside.
    one_side
        Whether columns of judges alone, or of raters alone, are read.

    Raises
    ------
    InputError
        With every fault of the file: its row, its column and the remedy.
    """
    source = _source(Path(path), columns)
    named = purposes_of(source, columns, path, one_side=one_side)
    declared = checked_values((values or {}).items())
    by_scale = DeclaredScales(named, scales or {}, scorer_scales or {})
    reader = Reader(source, named.fields, reserved=named.columns.__contains__)
    rows = _read(reader, named)
    report = source.report
    if not rows and not report.faults:
        report.fault("has no rows.", "Give at least one.")
    if "id" in named.identifying:
        rows = _once(rows, report)
    if "id" in named.identifying and (again := _scored_again(rows, named, source)) is not None:
        problem, end, remedy = again.partition("responses. ")
        report.fault(f"{problem}{end.strip()}", f"{remedy}.")
    else:
        row_checks.note_repeated(rows, named.identifying, report)
    row_checks.note_summary(rows, named.columns, report)
    words = WordsAhead(lambda: _scored_cells(rows, named), declared)
    reader.values = ValueRules(words, by_scale.of_column, by_scale.option)
    judged = [
        [
            row.cells.score(column.column, (column.column, row.construct or column.construct))
            for row in rows
        ]
        for column in named.scorers
    ]
    if named.raters is not None:
        row_checks.note_contradicting(rows, named.scorers, judged, report)
    for row in rows:
        report.faults += row.cells.remaining_faults()
    report.warnings += reader.mixed_decimals()
    unused = words.concluded(report)
    report.warnings += [
        *direction_notes(_as_read(rows, named, judged, words.groups)),
        *_perhaps_choices(rows, named, source),
        *_repeated_responses(rows, named, source),
    ]
    report.faults += unused
    if not report.faults:
        _note_scales(rows, named, judged, by_scale, looks_like, report)
    if report.faults:
        in_order = sorted(report.faults, key=lambda fault: fault.row or 0)
        in_order = reported_once(in_order, source.path.name)
        raise InputError(str(path), in_order, report.notes)
    if named.raters is None:
        return _table(rows, named, judged, words.groups, report, source)
    responses = len({row.texts["id"] for row in rows})
    report.rules[
        f"rows of the raters in {named.raters.rater!r} read as {responses} responses, with the "
        "judge's score once for each"
    ] += len(rows)
    table = _table(rows, named, judged, words.groups, report, source)
    return by_response(table, [str(row.texts["scorer"]) for row in rows])


def _source(path: Path, columns: NamedColumns) -> RecordSource:
    """The file with inner values as columns, unless every named column is there without them."""
    plain = RecordSource(path)
    named = {column for name in IDENTIFYING if (column := getattr(columns, name)) is not None}
    named.update(columns.judge + columns.human)
    if plain.form == "delimited" or named <= set(plain.head.columns):
        return plain
    return table_source(path)


def _read(reader: Reader, named: Purposes) -> list[row_checks.Row]:
    rows = []
    report = reader.source.report
    for cells in reader:
        if isinstance(cells, Fault):
            report.count_row(cells.row)
            report.faults.append(cells)
            continue
        report.count_row(cells.number)
        if str(cells.written.get(_STATUS_ON_TURK)).strip().casefold() == "rejected":
            report.left_out[f"rows whose {_STATUS_ON_TURK} is Rejected"] += 1
            continue
        rows.append(_row(cells, named, report))
    return rows


def _once(rows: list[row_checks.Row], report: ImportReport) -> list[row_checks.Row]:
    """Leave out rows that are in the file twice, with the same cells in every column."""
    kept: dict[str, row_checks.Row] = {}
    for row in rows:
        kept.setdefault(repr([*row.cells.written.items()]), row)
    if twice := len(rows) - len(kept):
        report.left_out["rows that are the same as an earlier one"] += twice
    return [*kept.values()]


def _row(cells: RecordCells, named: Purposes, report: ImportReport) -> row_checks.Row:
    texts: dict[str, str | None] = {}
    for name, column in named.identifying.items():
        texts[name] = written = cells.words(name)
        if written is not None and isinstance(cells.raw(name), float):
            # One id is 1 or 1.0: pandas makes floats of a column in which some are missing.
            texts[name] = written.removesuffix(".0")
        elif written is not None and written != written.strip():
            texts[name] = written.strip()
            report.rules[WHITE_SPACE] += 1
        if name != "system" and not (texts[name] or "").strip():
            report.fault("is blank.", "Fill it in.", cells.number, column)
    if named.raters is not None:
        texts["scorer"] = rater_name(named.raters.rater, texts["scorer"])
        texts.setdefault("id", ", ".join(named.raters.response(cells.written)))
    kept = {
        name: cells.key(name) if name == "domain" else cells.whole_number(name)
        for name in named.kept
    }
    return row_checks.Row(cells, texts, kept)


def _scored_cells(rows: Sequence[row_checks.Row], named: Purposes) -> Iterator[ScoredCell]:
    for column in named.scorers:
        for row in rows:
            cell = row.cells.written.get(column.column)
            yield ScoredCell(column.column, row.construct or column.construct, cell, row.number)


def _perhaps_choices(
    rows: Sequence[row_checks.Row], named: Purposes, source: RecordSource
) -> Iterator[str]:
    """A warning where all values may be choices between two responses, such as 1 and 2."""
    columns = [column.column for column in named.scorers]
    cells = (row.cells.written.get(column) for row in rows for column in columns)
    texts = {str(cell).strip() for cell in cells if not blank(cell)}
    if (told := perhaps_choices(source.head.columns, columns, texts)) is not None:
        yield told


def _repeated_responses(
    rows: Sequence[row_checks.Row], named: Purposes, source: RecordSource
) -> Iterator[str]:
    """Warnings about rows that may be of one response, where no column identifies it."""
    if "id" in named.identifying or not _one_row_each(named):
        return
    numbered = [(row.number, row.cells.written) for row in rows]
    judges, people = _scorers(named)
    columns = source.head.columns
    yield from repeated_responses(columns, numbered, judges, people, named.identifying)


def _scored_again(
    rows: Sequence[row_checks.Row], named: Purposes, source: RecordSource
) -> str | None:
    """Why rows with the same id are there, where each is of another judge or run."""
    if not _one_row_each(named):
        return None
    written = (row.cells.written for row in rows)
    return scored_again(source.head.columns, written, *_scorers(named), named.identifying)


def _one_row_each(named: Purposes) -> bool:
    """Whether a response has one row, in place of one for each rater or construct."""
    return named.raters is None and "construct" not in named.identifying


def _scorers(named: Purposes) -> tuple[list[str], list[str]]:
    """The columns of judges, and those of people."""
    judges, people = (
        [*dict.fromkeys(c.column for c in named.scorers if c.kind == kind)]
        for kind in ("judge", "human")
    )
    return judges, people


def _as_read(
    rows: Sequence[row_checks.Row],
    named: Purposes,
    judged: Sequence[Sequence[JudgedValue]],
    words: Mapping[Group, GroupWords],
) -> Iterator[ReadScores]:
    """The judgments of each column (on each construct), with the names they go by."""
    for column, values in zip(named.scorers, judged, strict=True):
        numbers: dict[str, set[float]] = {}
        for row, judgment in zip(rows, values, strict=True):
            own = numbers.setdefault(row.construct or column.construct, set())
            if judgment.value is not None:
                own.add(judgment.value)
        for construct, found in numbers.items():
            vocabulary = words[column.column, construct].vocabulary
            yield ReadScores((column.column, construct), vocabulary, found)


def _note_scales(
    rows: Sequence[row_checks.Row],
    named: Purposes,
    judged: Sequence[Sequence[JudgedValue]],
    scales: DeclaredScales,
    looks_like: Callable[[Sequence[float]], str | None] | None,
    report: ImportReport,
) -> None:
    """Report values outside the declared scales, and words with another one."""
    names = named.names
    for column, values in zip(named.scorers, judged, strict=True):
        by_construct: dict[str, list[tuple[int, JudgedValue]]] = {}
        for row, value in zip(rows, values, strict=True):
            construct_values = by_construct.setdefault(row.construct or column.construct, [])
            construct_values.append((row.number, value))
        for construct, placed in by_construct.items():
            scale = scales.of(names[column.column], construct)
            if scale is not None:
                scorer = row_checks.Scorer(names[column.column], construct, column.kind)
                row_checks.note_words(placed, scorer, column.column, scale, report)
                row_checks.note_outside(placed, scorer, scale, looks_like, report)


def _table(
    rows: Sequence[row_checks.Row],
    named: Purposes,
    judged: Sequence[Sequence[JudgedValue]],
    words: Mapping[Group, GroupWords],
    report: ImportReport,
    source: RecordSource,
) -> JudgmentTable:
    responses = [row.texts.get("id") or f"row {place}" for place, row in enumerate(rows, start=1)]
    names, by_row = named.names, "construct" in named.identifying
    by_scorer = {(names[column], key): found for (column, key), found in words.items()}
    word_scales = scales_of_words(by_scorer)
    levels = {
        construct: "binary" if scale == (0, 1, 1, "ordinal") else scale.level
        for (_, construct), scale in word_scales.items()
    }
    return JudgmentTable(
        response_ids=responses,
        query_ids=[
            row.texts.get("query") or name for row, name in zip(rows, responses, strict=True)
        ],
        systems=[row.texts.get("system") for row in rows],
        row_numbers=[row.number for row in rows],
        columns=tuple(
            ScoreColumn(
                column.column,
                names[column.column],
                column.kind,
                None if by_row else column.construct,
                [judgment.value for judgment in values],
            )
            for column, values in zip(named.scorers, judged, strict=True)
        ),
        constructs=[row.construct or ONLY_CONSTRUCT for row in rows] if by_row else None,
        kept={name: [row.kept[name] for row in rows] for name in named.kept},
        value_names=names_of_values(by_scorer),
        word_scales=word_scales,
        levels=levels,
        summary=tuple(ImportSummary.of(report, source.path.name, "table").lines()[1:]),
    )
