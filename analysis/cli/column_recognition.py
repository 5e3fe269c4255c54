"""Which columns of a table are those of judges and of raters, from their names and contents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.cli.column_contents import ColumnContent, contents_of, records_of
from analysis.cli.column_names import (
    by_construct,
    identifying_columns,
    is_no_score,
    is_of_judge,
    is_of_rater,
    is_other_field,
    paired_with,
    summaries,
)
from analysis.cli.column_options import NamedColumns, command_with
from analysis.core.errors import TableError

if TYPE_CHECKING:
    from study.importing.readers.source import RecordSource


class UnclearColumnsError(TableError):
    """A table has columns of numbers whose meaning their names do not decide."""

    def __init__(self, path: Path, problem: str, example: NamedColumns) -> None:
        self.problem = problem
        self.example = example
        command = command_with(example, path)
        super().__init__(
            str(path),
            [f"{problem}. Name the columns of each judge and each rater, for example: {command}"],
        )


def recognized_columns(path: Path) -> NamedColumns | None:
    """Return the columns of judges and raters; None for a table that names its scorers itself.

    Raises
    ------
    UnclearColumnsError
        The names do not decide; the message has the command to type.
    """
    from study.importing.readers.source import RecordSource

    source = RecordSource(path)
    if source.head.form == "json document" and not isinstance(source.document, list):
        _refuse_columns_of_json(path, source.document)
        return None
    columns = source.head.columns
    contents = contents_of(source)
    numeric = [name for name in columns if contents[name].only_numbers]
    if _names_scorers(columns, numeric):
        return None
    identifying = identifying_columns(columns)
    # A word among the numbers of a judge or rater is a fault of its row, which the reader reports.
    named_so = [
        name
        for name in columns
        if contents[name].mostly_numbers and (is_of_judge(name) or is_of_rater(name))
    ]
    measured = [
        name
        for name in columns
        if name in named_so or (name in numeric and not is_other_field(name))
    ]
    scores = [name for name in measured if not is_no_score(name)]
    judges = [name for name in scores if is_of_judge(name) and not is_of_rater(name)]
    raters = [name for name in scores if is_of_rater(name) and not is_of_judge(name)]
    together = {*summaries(judges), *summaries(raters)}
    judges, raters = ([n for n in names if n not in together] for names in (judges, raters))
    unclear = [name for name in measured if name not in judges and name not in raters]
    words = None if judges and raters else _in_words_only(contents, judges, raters)
    if not (judges or raters) and (not (measured or words) or _has_another_format(source)):
        return None
    if words is not None:
        problem = words
    elif not (judges or raters):
        problem = f"no column is clearly that of a judge or a rater; {_of_numbers(measured)}"
    elif unclear:
        contain = "contains" if len(unclear) == 1 else "contain"
        problem = f"it is not clear whether {_quoted(unclear)} {contain} scores, and whose"
    elif not (judges and raters):
        missing, is_of = ("rater", is_of_rater) if judges else ("judge", is_of_judge)
        blank = next((c for c in columns if is_of(c) and contents[c] == ColumnContent()), None)
        problem = f"no column of numbers is clearly that of a {missing}"
        problem += "" if blank is None else f"; column {blank!r} is blank"
    elif (pairs := by_construct(judges, raters)) is None:
        problem = "it is not clear which columns of judges and raters belong together"
    elif "construct" in identifying:
        problem = "a response may have several rows, one for each construct"
    elif "id" in identifying and (twice := _repeated(source, identifying["id"])):
        problem = f"the column {identifying['id']!r} does not identify a row: {twice}"
        identifying.setdefault("query", identifying.pop("id"))
    else:
        return _with(pairs, identifying)
    if words is not None:
        judges = judges or [name for name in columns if is_of_judge(name) and contents[name].labels]
        raters = raters or [name for name in columns if is_of_rater(name) and contents[name].labels]
    raise UnclearColumnsError(path, problem, _example(judges, raters, unclear, identifying))


def _example(
    judges: Sequence[str],
    raters: Sequence[str],
    unclear: Sequence[str],
    identifying: Mapping[str, str],
) -> NamedColumns:
    """Options for the user to adapt: columns that are not clear are taken for what is missing."""
    if judges and raters:
        pairs = paired_with(judges, raters) or (tuple(judges), tuple(raters))
    elif judges:
        pairs = paired_with(judges, unclear or ("COLUMN",)) or (
            tuple(judges), tuple(unclear) or ("COLUMN",)
        )  # fmt: skip
    elif raters:
        pairs = tuple(unclear) or ("COLUMN",), tuple(raters)
    else:
        # Nothing is known: a table usually has the people's column first.
        pairs = tuple(unclear[1:2]) or ("COLUMN",), tuple(unclear[:1]) or ("COLUMN",)
    return _with(pairs, identifying)


def _with(
    columns: tuple[tuple[str, ...], tuple[str, ...]], identifying: Mapping[str, str]
) -> NamedColumns:
    named = NamedColumns(*columns)
    return replace(named, **dict[str, Any](identifying))


def in_words(columns: NamedColumns, path: Path) -> str:
    """A line that says which columns were taken as what, with the command that declares it."""
    parts = [f"judge: {', '.join(columns.judge)}", f"people: {', '.join(columns.human)}"]
    parts += [
        f"{noun}: {column}"
        for noun, column in (
            ("response", columns.id),
            ("query", columns.query),
            ("system", columns.system),
        )
        if column is not None
    ]
    if columns.id is None:
        parts.append("each row is a response")
    if columns.query is None:
        parts.append("each row is a separate query")
    command = command_with(columns, path)
    return f"Columns taken by their names ({'; '.join(parts)}). The same, declared: {command}"


def _refuse_columns_of_json(path: Path, document: Any) -> None:
    """Refuse an object with a list or an object for each column, as pandas writes it."""

    def cells(value: Any) -> list[Any]:
        return list(value.values()) if isinstance(value, dict) else value

    lists = isinstance(document, dict) and all(
        isinstance(v, list | dict) for v in document.values()
    )
    if not lists or len(document) < 2:
        return
    columns = [cells(value) for value in document.values()]
    flat = not any(isinstance(cell, list | dict) for column in columns for cell in column)
    if flat and len(set(map(len, columns))) == 1:
        raise TableError(
            str(path),
            [
                "the file has a list for each column. Write an object for each row, in pandas: "
                "frame.to_json(path, orient='records', lines=True)"
            ],
        )


def _has_another_format(source: RecordSource) -> bool:
    """Whether an importer reads the file, such as one with responses."""
    from study.errors import InputError
    from study.importing.importers import importer_for
    from study.settings.constructs import CCRS

    try:
        importer_for(source, tuple(construct.key for construct in CCRS), None)
    except InputError:
        return False
    return True


def _names_scorers(columns: Sequence[str], numeric: Sequence[str]) -> bool:
    """Whether the table has one of the project's own layouts, or compares responses."""
    from study.importing.formats import scores
    from study.importing.readers.column_layout import folded, has

    names = folded(columns)
    scorer = next((n for n in scores.FIELDS["scorer"] if n in names), None)
    numbers = folded(numeric)
    if names & {"response_a", "response_b", "scorer"}:
        return True
    if any(":" in name and not is_other_field(name) for name in columns):
        return True
    if scorer == "judge" and scorer in numbers:
        return False
    named = [
        name
        for name in numeric
        if (is_of_judge(name) or is_of_rater(name))
        and not is_no_score(name)
        and name.casefold() not in scores.FIELDS["scorer"]
    ]
    if named and not names & {"value", "score", "rating"}:
        # A label next to columns of judges and raters may be anything.
        return False
    return has(scores.FIELDS, columns, "value") and (
        scorer is not None or has(scores.FIELDS, columns, "construct_key")
    )


def _in_words_only(
    contents: Mapping[str, ColumnContent], judges: Sequence[str], raters: Sequence[str]
) -> str | None:
    """Why columns named after judges, or raters, are not theirs: they have words for scores.

    Texts, such as comments, differ from row to row.
    """
    from study.text import abbreviate

    for missing, is_of in ((not judges, is_of_judge), (not raters, is_of_rater)):
        for column, content in contents.items() if missing else ():
            row, word = content.first_word
            both = is_of_judge(column) and is_of_rater(column)
            if content.labels and is_of(column) and not both and not is_other_field(column):
                return (
                    f"column {column!r} has words in place of scores, {abbreviate(word)} in row "
                    f"{row}; write numbers, or pass and fail"
                )
    return None


def _repeated(source: RecordSource, column: str) -> str | None:
    """The first two rows with the same cell."""
    rows: dict[str, int] = {}
    for record in records_of(source):
        cell = str(record.cells.get(column))
        if (first := rows.setdefault(cell, record.number)) != record.number:
            return f"{cell!r} is in rows {first} and {record.number}"
    return None


def _of_numbers(names: Sequence[str]) -> str:
    from study.importing.readers.cells import looks_like_number

    listed = f"columns of numbers: {_quoted(names)}"
    if all(looks_like_number(name) for name in names):
        return f"{listed}. If the first line has values in place of names, add a line with names"
    return listed


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))
