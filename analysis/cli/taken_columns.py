"""Which columns of a table were taken as what, and the options that declare the same."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from analysis.cli.column_options import NamedColumns, command_with, suggestion
from analysis.cli.typed_command import typed_command
from analysis.core.errors import TableError

if TYPE_CHECKING:
    from study.importing.score_columns.named_columns import Recognized

# So many columns are listed with what nothing tells of them.
_MOST = 12
# The option that names a column, to the field of a table that names its scorers.
_FIELDS = {
    "id": "response_id",
    "query": "query_id",
    "system": "system",
    "construct": "construct_key",
}


class UnclearColumnsError(TableError):
    """A table has columns of scores, and nothing tells whose they are."""

    def __init__(self, path: Path, recognized: Recognized) -> None:
        self.recognized = recognized
        self.problem = recognized.unclear
        self.example = recognized.example
        command = suggestion(self.example, path)
        elsewhere = in_another_file(path, recognized)
        declared = f" {how_to_declare(command)}: {command}." if recognized.can_be_completed else ""
        text = f"{self.problem}.{declared}{elsewhere}"
        super().__init__(str(path), [text.removesuffix(".")])


def how_to_declare(command: str) -> str:
    """What to do with a command that names columns, or has COLUMN in place of one."""
    from study.importing.score_columns.named_columns import PLACEHOLDER

    if any(word.rpartition("=")[2] == PLACEHOLDER for word in shlex.split(command)):
        return "Put the name of a column in place of COLUMN, and repeat the option for further ones"
    return "Declare the columns that are meant, for example"


def in_another_file(path: Path, recognized: Recognized) -> str:
    """The sentence on a table whose columns may be those of one side, and nothing else is scores.

    It begins with a space; nothing where further columns may be scores.
    """
    from analysis.cli.other_file import with_other_file

    sides = [role for role in ("judge", "human") if recognized.reasons(role)]
    if recognized.reasons("texts"):
        return ""
    if len(sides) > 1 or len(sides) + len(recognized.candidates) != 1:
        return ""
    other = {"judge": "people", "human": "the judge"}.get("".join(sides), "the other side")
    return f" If the scores of {other} are in another file, give both: {with_other_file(path)}"


def taken_columns(path: Path, named: NamedColumns | None = None) -> Recognized:
    """Return what is evident of a table's columns, beside those that the user names.

    Raises
    ------
    UnclearColumnsError
        Columns have scores, and it is not evident whose; the message has the command to type.
    """
    from study.importing.score_columns.named_columns import PLACEHOLDER
    from study.importing.score_columns.recognition import recognized_table

    recognized = recognized_table(path)
    if recognized.form == "unclear" and named is not None and named.id is not None:
        completed = replace(recognized.example, id=named.id)
        texts = (*completed.judge, *completed.human)
        if completed.judge and completed.human and not any(PLACEHOLDER in text for text in texts):
            return replace(recognized, form="named columns", columns=completed)
    if recognized.form == "unclear":
        raise UnclearColumnsError(path, recognized)
    return recognized


class Told(NamedTuple):
    """What the user named, completed by what the table tells."""

    columns: NamedColumns | None
    """Of judges and raters; None for a table that names its scorers itself."""
    kinds: dict[str, str]
    """Of scorers, with those that were declared."""
    declared: str = ""
    """The command that declares the same, in words; for `say_declared`."""


def told_by_names(path: Path, columns: NamedColumns | None, kinds: dict[str, str]) -> Told:
    """Complete what the user named by what the table tells; print what was taken as what.

    Raises
    ------
    TableError
        It is not evident whose the scores are; the message has the options that are missing.
    """
    if columns and (columns.judge or columns.human):
        if not (columns.judge and columns.human):
            columns, recognized = with_other_side(path, columns)
            return _said(recognized, columns, path, kinds)
        return Told(columns, kinds)
    recognized = taken_columns(path, columns)
    if recognized.columns is not None:
        # What the user names takes precedence over what columns are called.
        named = {key: value for key, value in vars(columns or NamedColumns()).items() if value}
        columns = replace(recognized.columns, **named)
        return Told(columns, kinds) if kinds else _said(recognized, columns, path, kinds)
    if not columns or recognized.form in ("long", "wide"):
        check_kinds_known(recognized, kinds, path)
        for line in kinds_in_words(recognized, kinds, path):
            click.echo(line, err=True)
    return Told(columns, recognized.kinds | kinds)


def _said(recognized: Recognized, columns: NamedColumns, path: Path, kinds: dict[str, str]) -> Told:
    click.echo(in_words(recognized, columns), err=True)
    return Told(columns, kinds, declared_in_words(command_with(columns, path)))


def declared_in_words(command: str) -> str:
    """The line with a command that has the columns that were recognized as options."""
    return f"The same, declared: {command}"


def fields_named(path: Path, columns: NamedColumns | None) -> dict[str, str]:
    """Return the fields of a table that names its scorers, to the columns that the user names.

    Raises
    ------
    TableError
        A named column is missing.
    """
    from study.errors import nearest
    from study.importing.readers.source import RecordSource

    given = {
        field: (option, column)
        for option, field in _FIELDS.items()
        if (column := getattr(columns or NamedColumns(), option)) is not None
    }
    present = RecordSource(path).head.columns if given else ()
    absent = [
        f"--{option}: the column {column!r} is missing; there are "
        f"{', '.join(map(repr, present))}. {nearest(column, present)}".strip()
        for option, column in given.values()
        if column not in present
    ]
    if absent:
        raise TableError(str(path), absent)
    return {field: column for field, (_, column) in given.items()}


def with_other_side(path: Path, named: NamedColumns) -> tuple[NamedColumns, Recognized]:
    """Complete the columns of judges alone, or of raters alone, by those that are evident.

    The second value says on what evidence.

    Raises
    ------
    TableError
        A named column is missing, or nothing says whose the other columns are.
    """
    from study.importing.score_columns.table_side import columns_of_other_side

    side = "judge" if named.judge else "human"
    found = columns_of_other_side(path, named)
    if found.missing:
        raise TableError(str(path), [f"--{side}: {problem}" for problem in found.missing])
    if found.columns is not None:
        return found.columns, found.recognized
    problem = found.recognized.unclear
    command = suggestion(found.recognized.example, path)
    if found.recognized.candidates:
        listed = ", ".join(map(repr, found.recognized.candidates))
        problem += f". Columns that may be: {listed}. {how_to_declare(command)}: {command}"
    else:
        problem += f", and no other column has scores.{in_another_file(path, found.recognized)}"
    raise TableError(str(path), [problem])


def check_kinds_known(recognized: Recognized, declared: dict[str, str], path: Path) -> None:
    """Refuse scorers that neither their names, the table nor options call judges or people.

    Raises
    ------
    TableError
        With the options that are missing.
    """
    unknown = [name for name in recognized.unknown_kinds if name not in declared]
    if not unknown:
        return
    named = ", ".join(map(repr, unknown[:_MOST]))
    more = f" and {len(unknown) - _MOST} more" if len(unknown) > _MOST else ""
    options = " ".join(f"--kind {shlex.quote(f'{name}=KIND')}" for name in unknown[:_MOST])
    command = f"{_typed(path)} {options}"
    raise TableError(
        str(path),
        [
            f"nothing says whether {named}{more} are people or judges. Add a column scorer_kind, "
            f"or put human, adjudicated, judge or metric in place of KIND: {command}"
        ],
    )


def _typed(path: Path) -> str:
    if click.get_current_context(silent=True) is None:
        return f"ccrs report {shlex.quote(str(path))}"
    return typed_command(whole_paths=True)


def in_words(recognized: Recognized, columns: NamedColumns) -> str:
    """Lines that say which columns were taken as what, and which of scores were left out."""
    parts = [
        f"{noun}: {_listed(names, recognized.reasons(role))}"
        for noun, role, names in (
            ("judge", "judge", columns.judge),
            ("people", "human", columns.human),
        )
    ]
    parts += [
        f"{noun}: {column}"
        for noun, column in (
            ("response", columns.id),
            ("query", columns.query),
            ("system", columns.system),
            ("construct", columns.construct),
        )
        if column is not None
    ]
    if columns.id is None:
        parts.append("each row is a response")
    if columns.query is None:
        parts.append("each row is a separate query")
    lines = [f"Columns taken by their names ({'; '.join(parts)})."]
    named = {text.partition("=")[2] or text for text in (*columns.judge, *columns.human)}
    left = [name for name in recognized.candidates if name not in named]
    if left:
        lines.append(
            f"Nothing says whose scores these are: {', '.join(left)}. To use them, name every "
            "column of scores with --judge COLUMN or --human COLUMN."
        )
    return "\n".join(lines)


def kinds_in_words(
    recognized: Recognized, declared: Collection[str] = (), path: Path | None = None
) -> list[str]:
    """Lines on the kinds of scorers, and on the file `path` if it has those of one side alone."""
    from analysis.cli.other_file import with_other_file

    lines = []
    told = [
        f"{item.column} {item.role} ({item.reason})"
        for item in recognized.evidence
        if item.column in recognized.kinds and item.column not in declared
    ]
    if told:
        more = f"; and {len(told) - _MOST} more" if len(told) > _MOST else ""
        lines.append(f"Kinds of scorers that the names tell: {'; '.join(told[:_MOST])}{more}.")
    if recognized.candidates:
        left = ", ".join(recognized.candidates)
        lines.append(f"Left out, since the table has a row for each score: {left}.")
    if recognized.one_side and path is not None:
        side, other = (
            ("people", "judges") if recognized.one_side == "human" else ("judges", "people")
        )
        lines.append(
            f"The table has scores of {side} alone. If those of {other} are in another file, give "
            f"both: {with_other_file(path)}"
        )
    return lines


def _listed(texts: tuple[str, ...], reasons: dict[str, str]) -> str:
    """Columns, each with its evidence where that is not its own name."""
    parts: list[str] = []
    for text in texts:
        column = text if text in reasons else text.partition("=")[2] or text
        reason = reasons.get(column, "")
        further = "" if not reason or reason.endswith("in its name") else f" ({reason})"
        if further and parts and parts[-1].endswith(further):
            parts[-1] = parts[-1].removesuffix(further)
        parts.append(f"{column}{further}")
    return ", ".join(parts)
