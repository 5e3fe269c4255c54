"""Columns that are distinguished by a part that judges and raters share: gpt_rel, human_a_rel."""

import re
from collections.abc import Callable, Mapping, Sequence, Set
from typing import NamedTuple

from study.importing.score_columns.words import CONSTRUCTS, ONLY_CONSTRUCT

Parts = tuple[str, ...]
"""The words of a column's name, as they are written, without those of scores in general."""


class PartedColumns(NamedTuple):
    """Columns in groups, each of which has a part of the names in common: its construct."""

    judges: tuple[str, ...]
    """As CONSTRUCT=COLUMN."""
    raters: tuple[str, ...]
    left: tuple[str, ...]
    """Columns of constructs that only judges, or only raters, have scores on."""
    clear: bool
    """Whether a judge or rater goes by the same name on every construct."""


def shared_parts(
    judges: Sequence[str],
    raters: Sequence[str],
    words_of: Callable[[str], Parts],
    words_for_scorers: Set[str] = frozenset(),
) -> PartedColumns | None:
    """Return the columns by a shared last part of their names, else a first or inner one.

    None where no part tells constructs apart: fewer than two groups of both judges and raters, and
    no judge or rater of such a group with a column beside it. `words_for_scorers` are words
    that name judges or raters.
    """
    of = {column: words_of(column) for column in (*judges, *raters)}
    sides = (judges, raters)
    return (
        _parted({column: words[::-1] for column, words in of.items()}, sides, reverse=True)
        or _parted(of, sides)
        or _parted(_shared_first(of, sides, words_for_scorers), sides)
    )


def _parted(
    of: Mapping[str, Parts], sides: Sequence[Sequence[str]], *, reverse: bool = False
) -> PartedColumns | None:
    """Columns by what their names begin with."""
    first: dict[str, list[str]] = {}
    for column, words in of.items():
        first.setdefault(words[0].casefold() if words else "", []).append(column)
    groups: dict[Parts, list[str]] = {}
    stems: dict[str, Parts] = {}
    alone: list[str] = []
    for names in first.values():
        shared = _beginning([of[name] for name in names])
        stems |= {name: _folded(of[name][len(shared) :]) for name in names}
        if shared and all(any(name in side for name in names) for side in sides):
            groups[shared] = names
        else:
            alone += names
    rests = {stems[column] for names in groups.values() for column in names}
    overall = [column for column in alone if _folded(of[column]) in rests]
    if all(any(name in side for name in overall) for side in sides):
        alone = [column for column in alone if column not in overall]
        groups = {(): overall, **groups}
        stems |= {name: _folded(of[name]) for name in overall}
    # One letter, or a number, may also tell judges and raters apart: judge_a, human_a.
    numbers = any(re.fullmatch(r"\d+|[^\W\d_]", "".join(key)) for key in groups)
    apart = all(len({stems[c] for c in names}) == len(names) for names in groups.values())
    told = len(groups) > 1 or (groups and alone)
    if not told or numbers or not apart or any(stems[column] not in rests for column in alone):
        return None
    named = {key: _written(of[names[0]][: len(key)], reverse) for key, names in groups.items()}
    judges, raters = (
        tuple(f"{named[key]}={c}" for key, names in groups.items() for c in names if c in side)
        for side in sides
    )
    clear = all(
        set().union(*grouped) in grouped
        for grouped in (
            [{stems[c] for c in names if c in side} for names in groups.values()] for side in sides
        )
    )
    return PartedColumns(judges, raters, tuple(alone), clear)


def _shared_first(
    of: Mapping[str, Parts], sides: Sequence[Sequence[str]], words_for_scorers: Set[str]
) -> dict[str, Parts]:
    """The names with the words first that some judge and some rater share, but not all of them."""
    judges, raters = ({w.casefold() for c in side for w in of[c]} for side in sides)
    shared = {
        word
        for word in (judges & raters) - words_for_scorers
        if not all(word in _folded(words) for words in of.values())
    }
    return {
        column: tuple(sorted(words, key=lambda word: word.casefold() not in shared))
        for column, words in of.items()
    }


def _beginning(names: Sequence[Parts]) -> Parts:
    """The words that all names begin with, short of a whole name."""
    found: list[str] = []
    for words in zip(*(name[:-1] for name in names), strict=False):
        if len({word.casefold() for word in words}) > 1:
            break
        found.append(words[0].casefold())
    return tuple(found)


def _folded(words: Parts) -> Parts:
    return tuple(word.casefold() for word in words)


def _written(words: Parts, reverse: bool) -> str:
    """A construct as it is written in the first name; those of CCRS have their keys."""
    written = "_".join(words[::-1] if reverse else words)
    return CONSTRUCTS.get(written.casefold(), written) or ONLY_CONSTRUCT
