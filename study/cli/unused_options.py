"""Options that have no effect beside the others of a command line: an error that names each.

A command declares them with `unused_if`, next to its options. What only the study or a file can
tell is found where that is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from study.errors import without_effect

Given = Mapping[str, Any]
"""The parameters of a command by name."""


class _Rule(NamedTuple):
    option: str
    applies: Callable[[Given], bool]
    why: str
    remedy: str


def unused_if(
    option: str, applies: Callable[[Given], bool], why: str, remedy: str = ""
) -> Callable[[Callable[..., Any]], Any]:
    """Refuse an option that was typed where it changes nothing.

    Parameters
    ----------
    option
        Its parameter.
    applies
        Whether it changes nothing beside these parameters.
    why, remedy
        The reason, and what to do instead of leaving it out, if anything.
    """

    def declare(command: Callable[..., Any]) -> Any:
        rules: list[_Rule] = getattr(command, "unused_options", [])
        rule = _Rule(option, applies, why, remedy)
        if rules:
            rules.insert(0, rule)
            return command

        @wraps(command)
        def checked(*arguments: Any, **options: Any) -> Any:
            _check(click.get_current_context(), checked.unused_options)  # type: ignore[attr-defined]
            return command(*arguments, **options)

        checked.unused_options = [rule]  # type: ignore[attr-defined]
        return checked

    return declare


def _check(context: click.Context, rules: list[_Rule]) -> None:
    words = {p.name: p.opts[0] for p in context.command.get_params(context)}
    faults = [
        without_effect(words[rule.option], context.params[rule.option], rule.why, rule.remedy)
        for rule in rules
        if context.get_parameter_source(rule.option) is ParameterSource.COMMANDLINE
        and rule.applies(context.params)
    ]
    if faults:
        raise click.UsageError("\n".join(faults))
