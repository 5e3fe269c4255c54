"""The command line that a user typed, for a report's record and for commands that are suggested."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from pathlib import Path

import click


def command_name() -> str:
    """The command that runs, such as "ccrs judge rank"; "ccrs report" outside of a command."""
    context = click.get_current_context(silent=True)
    names: list[str] = []
    while context is not None:
        names.insert(0, context.info_name or "")
        context = context.parent
    # The first name is that of the program, unless a command is called alone.
    return " ".join(["ccrs", *(names[1:] or names or ["report"])])


def typed_command(*, whole_paths: bool, without: Collection[str] = ()) -> str:
    """The command with its arguments and options as far as the user typed them.

    `whole_paths` is false for what is shared: files by name only. `without` names parameters that
    are left out.
    """
    words = [command_name()]
    context = click.get_current_context(silent=True)
    for parameter in context.command.get_params(context) if context is not None else ():
        assert context is not None  # noqa: S101  (for the type checker: there are parameters)
        name = parameter.name or ""
        typed = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if not typed or name in without:
            continue
        value = context.params[name]
        for item in value if isinstance(value, tuple) else (value,):
            text = item.name if isinstance(item, Path) and not whole_paths else str(item)
            if isinstance(parameter, click.Argument):
                words.append(shlex.quote(text))
            elif isinstance(item, bool):
                options = parameter.opts if item else parameter.secondary_opts
                words.append(options[0])
            else:
                words.append(f"{parameter.opts[0]} {shlex.quote(text)}")
    return " ".join(words)
