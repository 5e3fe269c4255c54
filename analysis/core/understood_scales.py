"""The scale that values are understood to be on where none is declared.

Everything that depends on a scale is then computed, and the report says which one was understood
and how another one is declared.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from analysis.core.errors import TableError
from analysis.core.likely_scales import likely_scales, looks_like
from analysis.core.scales import parse_scale
from study.base.scales import Scale

if TYPE_CHECKING:
    import pandas as pd

    from analysis.core.tables import ScoreTable

#: How a note begins on a scale that values look like.
SCALE_UNDERSTOOD = "no scale is declared; the values look as if they were on that of"


def scales_of_options(
    options: Sequence[str], constructs: Sequence[str]
) -> tuple[dict[str, Scale], dict[tuple[str, str], Scale]]:
    """Scales by construct, and by (scorer, construct), of likely options (`likely_options`)."""
    by_construct: dict[str, Scale] = {}
    by_scorer: dict[tuple[str, str], Scale] = {}
    for text in options:
        key, separator, scale = text.rpartition("=")
        scorer, _, construct = key.rpartition(":")
        if not separator:
            by_construct |= dict.fromkeys(constructs, parse_scale(scale))
        elif scorer:
            by_scorer[scorer, construct] = parse_scale(scale)
        else:
            by_construct[construct] = parse_scale(scale)
    return by_construct, by_scorer


def note_of_options(options: Sequence[str], *, in_python: bool = False) -> str:
    """A sentence on the scales that were understood, with what declares the same."""
    listed = " ".join(f"--scale {shlex.quote(text)}" for text in options)
    if in_python:
        listed = (
            f'scale="{options[0]}"' if len(options) == 1 else f"the scales {', '.join(options)}"
        )
    return f"{SCALE_UNDERSTOOD} {listed}, which is used. If they are on another one, declare that"


def with_understood_scales(
    frame: pd.DataFrame,
    scores: ScoreTable,
    scales: Mapping[str, Scale],
    scorer_scales: Mapping[tuple[str, str], Scale],
    *,
    in_python: bool = False,
) -> ScoreTable:
    """The table with the scales that values without a declared one look like.

    `frame` is what `scores` was made from, with the declared scales.
    """
    options = likely_scales(scores)
    if not options:
        return scores
    by_construct, by_scorer = scales_of_options(options, scores.constructs)
    # A scale that was recognized, such as that of pass and fail, is not replaced.
    known = {key for key in scores.constructs if scores.scale(key) is not None}
    by_construct = {key: scale for key, scale in by_construct.items() if key not in known}
    by_scorer = {key: s for key, s in by_scorer.items() if scores.scale(key[1], key[0]) is None}
    found = scores.from_frame(
        frame,
        {**by_construct, **scales},
        {**by_scorer, **scorer_scales},
        construct_names=scores.construct_names,
    )
    return replace(found, warnings=(*found.warnings, note_of_options(options, in_python=in_python)))


def check_odd_values(
    frame: pd.DataFrame,
    scores: ScoreTable,
    *,
    rows: Sequence[int] = (),
    source: str = "table",
    in_python: bool = False,
) -> None:
    """Check that no scorer has a few values outside of the scale that its others are on.

    `frame` is what `scores` was made from; `rows` are the numbers of the rows of its file, where
    each scorer has a value in each of them, and `source` its name.

    Raises
    ------
    TableError
        There are such values; with the first row and the remedy.
    """
    understood = scales_of_options(likely_scales(scores), scores.constructs)
    faults = list(_odd_values(frame, scores, *understood, rows, in_python=in_python))
    if faults:
        raise TableError(source, faults)


#: Up to this share of a scorer's values are odd ones; with more they are on a scale of their own.
ODD_SHARE = 0.1

#: Codes that stand for a missing value in surveys; they are odd values up to any share.
CODES = {-1.0, -9.0, -99.0, -999.0, 99.0, 999.0, 9999.0}

#: Values on the common scale from which on others are odd.
USUAL = 10


def _odd_values(
    frame: pd.DataFrame,
    scores: ScoreTable,
    by_construct: Mapping[str, Scale],
    by_scorer: Mapping[tuple[str, str], Scale],
    rows: Sequence[int],
    *,
    in_python: bool,
) -> Iterator[str]:
    """Name a few values that are outside of the scale of people, such as -1 or 99 for missing."""
    for key, part in frame.groupby(["construct", "scorer"], sort=False):
        construct, scorer = map(str, key) if isinstance(key, tuple) else (str(key), "")
        if scores.scale(construct, scorer) is not None:
            continue
        values = part["value"].astype("float64").tolist()
        known = [value for value in values if value == value]  # noqa: PLR0124  (NaN differs)
        people = _people_scale(scores, construct, by_construct, by_scorer)
        scale = _scale_of_most(known) or people
        people_words = "and people's " if scale == people else ""
        if scale is None:
            continue
        odd = [
            (place, value)
            for place, value in enumerate(values)
            if value < scale.min or value > scale.max
        ]
        if not odd or not _few([value for _, value in odd], known):
            continue
        if len(known) - len(odd) < USUAL:
            continue
        listed = ", ".join(f"{value:g}" for value in dict.fromkeys(value for _, value in odd))
        place, _ = odd[0]
        where = (
            f"row {rows[place]}" if place < len(rows) else f"{part['response_id'].iloc[place]!r}"
        )
        more = f" and {len(odd) - 1} more" if len(odd) > 1 else ""
        low, high = min(*known, scale.min), max(*known, scale.max)
        missing = ",".join(f"{value:g}=" for value in dict.fromkeys(value for _, value in odd))
        remedy = (
            f"make them missing, or declare their scale: scale=({low:g}, {high:g})"
            if in_python
            else f"if they mean missing, add --values {shlex.quote(missing)}; if they are right, "
            f"add --scale {shlex.quote(f'{scorer}:{construct}={low:g}:{high:g}')}"
        )
        yield (
            f"{scorer}: {listed} in {where}{more} {'are' if more else 'is'} outside {scale}, on "
            f"which its other {len(known) - len(odd)} values {people_words}are; {remedy}"
        )


def _few(odd: Sequence[float], known: Sequence[float]) -> bool:
    """Whether values are a few among the known ones, or codes for missing ones."""
    return len(odd) <= max(1, ODD_SHARE * len(known)) or CODES.issuperset(odd)


def _scale_of_most(known: Sequence[float]) -> Scale | None:
    """The usual scale of all values but one at an end, such as -1 or 99 for missing."""
    for end in (min(known, default=0.0), max(known, default=0.0)):
        rest = [value for value in known if value != end]
        text = looks_like(rest) if _few([end] * (len(known) - len(rest)), known) else None
        coded = end in CODES
        scale = parse_scale(text) if text and (coded or looks_like(known) is None) else None
        # Next to the scale a value may be one more grade.
        if scale is not None and (scale.width > 1 or (coded and end != -1)):
            far = scale.min - end >= 1 if end < scale.min else end - scale.max > scale.width
            if far:
                return scale
    return None


def _people_scale(
    scores: ScoreTable,
    construct: str,
    by_construct: Mapping[str, Scale],
    by_scorer: Mapping[tuple[str, str], Scale],
) -> Scale | None:
    """The scale of people's values: the known one, or the one understood."""
    for rater in scores.scorers(construct, "human"):
        known = scores.scale(construct, rater) or by_scorer.get((rater, construct))
        return known or by_construct.get(construct)
    return None
