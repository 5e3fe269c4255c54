"""The options that name the columns of a table with one column for each judge and each rater."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from analysis.cli.typed_command import typed_command
from study.importing.score_columns.named_columns import PLACEHOLDER, NamedColumns

__all__ = ["NamedColumns", "command_with", "named_columns_options", "suggestion"]

F = TypeVar("F", bound=Callable[..., Any])


_PARAMETERS = {
    "judge": "judge_columns",
    "human": "human_columns",
    "id": "id_column",
    "query": "query_column",
    "system": "system_column",
    "construct": "construct_column",
    "values": "word_values",
}
# A command's own --construct is the key of a construct.
CONSTRUCT_OPTIONS = {"plan": "--construct-column"}


def named_columns_options(command: F) -> F:
    """Add --judge, --human, --id, --query, --system, --construct and --values to a command.

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
    result = click.option(
        "--values",
        _PARAMETERS["values"],
        multiple=True,
        metavar="WORD=NUMBER,...",
        callback=_checked,
        help="Numbers of words in place of scores, such as good=2,ok=1,bad=0,unsure= (missing). "
        "-1=,99= makes these numbers missing. Repeatable. Well-known words are read without it.",
    )(result)
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


def _checked(
    context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]
) -> tuple[str, ...]:
    """Refuse numbers of words that cannot be read."""
    from study.importing.readers.value_words import declared_values

    try:
        declared_values(texts)
    except ValueError as error:
        raise click.BadParameter(str(error), context, parameter) from None
    return texts


def columns_of_options() -> set[str]:
    """The parameters that name columns, as a command's context has them."""
    return {name for field, name in _PARAMETERS.items() if field != "values"}


def _suffices(columns: NamedColumns, command: str) -> bool:
    """Whether a command can run on these columns; `plan` and `judge rank` need two of a kind."""
    named = {"plan": columns.human, "rank": columns.judge}.get(command)
    if named is None or PLACEHOLDER in {text.rpartition("=")[2] for text in named}:
        return True
    by_construct = Counter(text.rpartition("=")[0] for text in named)
    return max(by_construct.values(), default=0) > 1


def suggestion(columns: NamedColumns, path: Path) -> str:
    """The command with these columns; the options alone where it needs more columns."""
    context = click.get_current_context(silent=True)
    name = (context.command.name or "") if context is not None else ""
    if _suffices(columns, name):
        return command_with(columns, path)
    return columns.options(CONSTRUCT_OPTIONS.get(name, "--construct"))


def command_with(columns: NamedColumns, path: Path) -> str:
    """The command that runs, with its arguments and options, and these columns."""
    context = click.get_current_context(silent=True)
    if context is None:
        return f"ccrs report {shlex.quote(str(path))} {columns.options()}"
    if context.params.get("judges"):
        columns = replace(columns, judge=())
    option = CONSTRUCT_OPTIONS.get(context.command.name or "", "--construct")
    typed = typed_command(whole_paths=True, without=columns_of_options())
    return f"{typed} {columns.options(option)}"
