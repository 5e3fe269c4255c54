"""Sentences of a report: facts that conditions find, and templates that make texts of them.

A condition finds a `Fact`: the name of a template (`sentence_templates`) and what its slots
contain. `in_words` is the one function that makes a text of it. A slot says how its value is
written:

- `r` and `%`: a correlation or a share, of an estimate without its interval; `r+` and `%+` with
  it, `[r]` and `[%]` the interval alone
- `basis`: the responses and queries of an estimate, '36 responses to 12 queries'
- `listed`: names, 'a, b and c'
- a noun in the plural: a number of them, '1 query', '3 queries'
- `is/are` and the like: the first for one, the second for another number of things
- `+`: a part that may be empty, after a space

A slot may contain another fact, or None for nothing.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from analysis.core.estimates import Estimate
from analysis.render import sentence_templates
from analysis.render.formatting import (
    between,
    correlation,
    counted,
    listed,
    percent,
    percents,
    with_interval,
)

TEMPLATES: Mapping[str, str] = {
    **sentence_templates.ANSWERS,
    **sentence_templates.FIRST_LINES,
    **sentence_templates.VERDICTS,
    **sentence_templates.NOTES,
    **sentence_templates.LIMITS,
}


class Fact(NamedTuple):
    """What a condition found: the name of a template, and what its slots contain."""

    name: str
    slots: Mapping[str, Any]


def fact(name: str, /, **slots: Any) -> Fact:
    """A fact with these slots."""
    return Fact(name, slots)


def in_words(found: Fact | None) -> str:
    """The text of a fact; empty where none was found."""
    return "" if found is None else _SLOTS.vformat(TEMPLATES[found.name], (), found.slots)


def _number(value: Estimate | float) -> float:
    return value.value if isinstance(value, Estimate) else value


def _basis(e: Estimate) -> str:
    return f"{counted(e.n_responses, 'response')} to {counted(e.n_queries, 'query', 'queries')}"


FORMS: Mapping[str, Callable[[Any], str]] = {
    "r": lambda value: correlation(_number(value)),
    "[r]": between,
    "r+": with_interval,
    "%": lambda value: percent(_number(value)),
    "[%]": percents,
    "%+": lambda e: f"{percent(e.value)} {percents(e)}".rstrip(),
    "+": lambda part: f" {part}" if part else "",
    "basis": _basis,
    "listed": listed,
}


class _Slots(string.Formatter):
    """Writes slots in the forms that this module names."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if value is None or isinstance(value, Fact):
            return in_words(value)
        if format_spec in FORMS:
            return FORMS[format_spec](value)
        if "/" in format_spec:
            one, several = format_spec.split("/")
            n = len(value) if isinstance(value, Sequence) else value
            return one if n == 1 else several
        if len(format_spec) > 1 and format_spec.replace(" ", "").isalpha():
            singular = "query" if format_spec == "queries" else format_spec[:-1]
            return counted(value, singular, format_spec)
        return str(super().format_field(value, format_spec))


_SLOTS = _Slots()
