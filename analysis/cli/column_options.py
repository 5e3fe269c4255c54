"""The options that name the columns of a table with one column for each judge and each rater."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from analysis.cli.typed_command import typed_command

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class NamedColumns:
    """Columns of judges and raters, as COLUMN or CONSTRUCT=COLUMN, and what identifies a row."""

    judge: tuple[str, ...] = ()
    human: tuple[str, ...] = ()
    id: str | None = None
    query: str | None = None
    system: str | None = None
    construct: str | None = None

    def __bool__(self) -> bool:
        return any((self.judge, self.human, self.id, self.query, self.system, self.construct))

    def options(self, construct_option: str = "--construct") -> str:
        """The options that name these columns, quoted for a shell."""
        words = []
        for name in ("judge", "human"):
            words += [f"--{name} {shlex.quote(text)}" for text in getattr(self, name)]
        for name in ("id", "query", "system", "construct"):
            if (column := getattr(self, name)) is not None:
                option = construct_option if name == "construct" else f"--{name}"
                words.append(f"{option} {shlex.quote(column)}")
        return " ".join(words)


_PARAMETERS = {
    "judge": "judge_columns",
    "human": "human_columns",
    "id": "id_column",
    "query": "query_column",
    "system": "system_column",
    "construct": "construct_column",
}
# A command's own --construct is the key of a construct.
CONSTRUCT_OPTIONS = {"plan": "--construct-column"}


def named_columns_options(command: F) -> F:
    """Add --judge, --human, --id, --query, --system and --construct to a command.

    The command receives them as `columns`, which are `NamedColumns`. `ccrs plan` has the last one
    as --construct-column, `ccrs judge rank` a --judge of its own.
    """

    @wraps(command)
    def with_columns(*args: Any, **kwargs: Any) -> Any:
        named = {
            field: kwargs.pop(parameter)
            for field, parameter in _PARAMETERS.items()
            if parameter in kwargs
        }
        return command(*args, columns=NamedColumns(**named), **kwargs)

    result: Any = with_columns
    name = command.__name__
    texts = {
        "construct": "Column with the construct of each row. Needs --id.",
        "system": "Column with the system that gave the response.",
        "query": "Column with the query or its text; equal cells are one query. "
        "Default: each row is a separate query.",
        "id": "Column that identifies the response. Default: each row is one.",
    }
    for field, text in texts.items():
        option = CONSTRUCT_OPTIONS.get(name, "--construct") if field == "construct" else None
        result = click.option(
            option or f"--{field}", _PARAMETERS[field], metavar="COLUMN", help=text
        )(result)
    for field, whose in (("human", "a rater"), ("judge", "a judge")):
        if name != "rank" or field == "human":
            result = click.option(
                f"--{field}",
                _PARAMETERS[field],
                multiple=True,
                metavar="[CONSTRUCT=]COLUMN",
                help=f"Column with the scores of {whose}, in a table with a column for each judge "
                "and rater. Repeatable.",
            )(result)
    packed: F = result
    return packed


def command_with(columns: NamedColumns, path: Path) -> str:
    """The command that runs, with its arguments and options, and these columns."""
    context = click.get_current_context(silent=True)
    if context is None:
        return f"ccrs report {shlex.quote(str(path))} {columns.options()}"
    if context.params.get("judges"):
        columns = replace(columns, judge=())
    option = CONSTRUCT_OPTIONS.get(context.command.name or "", "--construct")
    typed = typed_command(whole_paths=True, without=_PARAMETERS.values())
    return f"{typed} {columns.options(option)}"


def column_of(text: str, present: Sequence[str]) -> str:
    """The column of COLUMN or CONSTRUCT=COLUMN."""
    return parts(text, present)[1]


def parts(text: str, present: Sequence[str]) -> tuple[str | None, str]:
    """The construct, if it is named, and the column of CONSTRUCT=COLUMN."""
    construct, separator, column = text.partition("=")
    return (construct, column) if separator and text not in present else (None, text)
