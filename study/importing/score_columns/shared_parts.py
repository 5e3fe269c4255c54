"""The constructs of columns, by their names or by a part that judges and raters share: gpt_rel."""

import re
from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

from study.importing.score_columns.names import (
    construct_in_name,
    folded,
    scorer_words,
    written_words,
)
from study.importing.score_columns.words import (
    CONSTRUCTS,
    FILLERS,
    ONLY_CONSTRUCT,
    PERHAPS_OF_PEOPLE,
)
from study.text import quoted_names

Pair = tuple[tuple[str, ...], tuple[str, ...]]
"""Columns of judges and of raters, as COLUMN or CONSTRUCT=COLUMN."""

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


def by_construct(judges: Sequence[str], raters: Sequence[str]) -> Pair | None:
    """The columns with their constructs, if they have any; None where these are not clear."""
    judge_parts, rater_parts = (
        {construct_in_name(name).casefold() for name in names} for names in (judges, raters)
    )
    shared = (judge_parts & rater_parts) - {""}
    if len(judge_parts) == 1 and judge_parts == rater_parts:
        return tuple(judges), tuple(raters)
    # One letter may also number judges and raters: judge_a, judge_b.
    numbered = "" in judge_parts or all(len(rest) == 1 for rest in shared)
    if judge_parts != rater_parts or numbered:
        parted = shared_parts(judges, raters)
        if parted is None:
            return None if shared else (tuple(judges), tuple(raters))
        return (parted.judges, parted.raters) if parted.clear and not parted.left else None
    written = _constructs_as_written(judges)
    return _with_constructs(judges, written), _with_constructs(raters, written)


def shared_construct_pairs(judges: Sequence[str], raters: Sequence[str]) -> Pair | None:
    """The columns of constructs that both judges and raters scored; None where there are none."""
    kept = {construct_in_name(n).casefold() for n in judges} & {
        construct_in_name(n).casefold() for n in raters
    }
    overall = "" in kept
    kept = {rest for rest in kept if len(rest) > 1}
    parted = shared_parts(judges, raters)
    if not kept or (parted is not None and len(parted.left) < _left_out(judges, raters, kept)):
        return (parted.judges, parted.raters) if parted is not None and parted.clear else None
    both = [
        [n for n in names if construct_in_name(n).casefold() in kept] for names in (judges, raters)
    ]
    pairs = by_construct(*both)
    if pairs is None or not overall:
        return pairs
    # The scores that name no construct are a construct of their own, such as the overall one.
    alone = (
        tuple(f"{ONLY_CONSTRUCT}={n}" for n in names if not construct_in_name(n))
        for names in (judges, raters)
    )
    written = _constructs_as_written(both[0])
    judge_parts, rater_parts = (
        (*own, *_with_constructs(names, written)) for own, names in zip(alone, both, strict=True)
    )
    return judge_parts, rater_parts


_LETTER_BEHIND = re.compile(r"(.*[^\W_])([ _.-])([A-Za-z])")


def responses_in_a_row(
    judges: Sequence[str], raters: Sequence[str], texts: Sequence[str] = ()
) -> str | None:
    """What to do with columns such as human_A, human_B, judge_A and judge_B; None for others.

    The letters may be those of two responses in a row, or tell two raters and two judges apart.
    `texts` are further columns that are called so.
    """
    stems: dict[str, list[str]] = {}
    separators = set()
    for column in (*judges, *raters, *texts):
        found = _LETTER_BEHIND.fullmatch(column)
        if found is None:
            return None
        stems.setdefault(found[1], []).append(found[3])
        separators.add(found[2])
    letters = next(iter(stems.values()), [])
    if len(letters) < 2 or len(separators) > 1 or not (judges and raters):
        return None
    # Raters are called rater_a, and what they rated is not.
    if any({*scorer_words(stem).values()} & PERHAPS_OF_PEOPLE for stem in stems):
        return None
    if any(sorted(of) != sorted(letters) for of in stems.values()):
        return None
    listed = " and ".join(letters)
    return (
        f"{listed} behind {quoted_names(map(repr, stems))} may be several judges and raters, each "
        "of which is then to be named as judge or human, or responses, so that a row has several. "
        "If they are responses, write a row for each, in pandas: "
        f"pd.wide_to_long(frame.reset_index(), {[*stems]!r}, i='index', j='system', "
        f"sep={separators.pop()!r}, suffix='[{''.join(letters)}]').reset_index()"
    )


def _left_out(judges: Sequence[str], raters: Sequence[str], kept: Set[str]) -> int:
    return sum(construct_in_name(name).casefold() not in kept for name in (*judges, *raters))


def _constructs_as_written(columns: Sequence[str]) -> dict[str, str]:
    """Constructs as they are written in the names of columns, by their names in lower case."""
    return {
        construct_in_name(name).casefold(): construct_in_name(name) for name in reversed(columns)
    }


def _with_constructs(columns: Sequence[str], written: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"{written[construct_in_name(name).casefold()]}={name}" for name in columns)


def shared_parts(judges: Sequence[str], raters: Sequence[str]) -> PartedColumns | None:
    """Return the columns by a shared last part of their names, else a first or inner one.

    None where no part tells constructs apart: fewer than two groups of both judges and raters, and
    no judge or rater of such a group with a column beside it.
    """
    of = {
        column: tuple(w for w in written_words(column) if w and folded(w) not in FILLERS)
        for column in (*judges, *raters)
    }
    sides = (judges, raters)
    return (
        _parted({column: words[::-1] for column, words in of.items()}, sides, reverse=True)
        or _parted(of, sides)
        or _parted(_shared_first(of, sides), sides)
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


def _shared_first(of: Mapping[str, Parts], sides: Sequence[Sequence[str]]) -> dict[str, Parts]:
    """The names with the words first that some judge and some rater share, but not all of them."""
    of_scorers = {part for c in of for word in scorer_words(c) for part in word.split("_")}
    judges, raters = ({w.casefold() for c in side for w in of[c]} for side in sides)
    shared = {
        word
        for word in (judges & raters) - of_scorers
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
