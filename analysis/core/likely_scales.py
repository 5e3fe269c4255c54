"""Which usual scales values look like; such a guess is shown, and used once it is declared."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from study.base.scales import Scale

if TYPE_CHECKING:
    from analysis.core.tables import ScoreTable

# Share of values on a short scale from which the others are taken for slips.
_MOST = 0.9
# More consecutive whole numbers may be a part of a longer scale.
_MOST_GRADES = 7


@dataclass(frozen=True)
class Scored:
    """One scorer's values on one construct, and the scale that they look like."""

    construct: str
    scorer: str
    kind: str
    n: int
    missing: int
    low: float
    high: float
    distinct: int
    declared: str | None
    looks_like: str | None
    passes_or_fails: bool
    """Whether the values are 1 and 0 only, on a scale that has no other points, if one is
    declared."""
    points: tuple[float, ...] = ()
    """The distinct values, where they are a few whole numbers."""


def scored_values(scores: ScoreTable) -> tuple[Scored, ...]:
    """Each scorer's values on each construct."""
    return tuple(_scored(scores))


def _scored(scores: ScoreTable) -> Iterator[Scored]:
    rows = scores.frame
    values = rows["value"].astype("float64")
    by_pair = {
        (construct, scorer): values[
            (rows["construct"] == construct) & (rows["scorer"] == scorer)
        ].tolist()
        for construct in scores.constructs
        for scorer in scores.scorers(construct)
    }
    declared = {
        (construct, scorer): scores.scale(construct, scorer) for construct, scorer in by_pair
    }
    yield from scored_lists(by_pair, scores.scorer_kinds, declared)


def scored_lists(
    by_pair: Mapping[tuple[str, str], list[float]],
    kinds: Mapping[str, str],
    declared: Mapping[tuple[str, str], Scale | None],
) -> Iterator[Scored]:
    """The values by construct and scorer, NaN where missing, with the scales they look like."""
    for (construct, scorer), here in by_pair.items():
        present = _known(here)
        scale = declared.get((construct, scorer))
        # Values up to 1 are on a scale of their own, which says nothing about the others.
        together = [v for (_, s), v in by_pair.items() if s == scorer and not _up_to_one(_known(v))]
        yield Scored(
            construct, scorer, kinds[scorer], len(present), len(here) - len(present),
            min(present, default=float("nan")),
            max(present, default=float("nan")),
            len(set(present)),
            None if scale is None else f"{scale.min:g}:{scale.max:g}",
            looks_like(here, [value for values in (here, *together) for value in values]),
            _passes_or_fails(present, scale),
            _whole_points(present),
        )  # fmt: skip


def _whole_points(present: list[float]) -> tuple[float, ...]:
    """The distinct values, where they are a few whole numbers."""
    distinct = sorted(set(present))
    few = len(distinct) <= _MOST_GRADES and not any(value % 1 for value in distinct)
    return tuple(distinct) if few else ()


def _passes_or_fails(present: list[float], declared: Scale | None) -> bool:
    if declared is not None and (
        (declared.min, declared.max) != (0, 1) or declared.level == "nominal"
    ):
        return False
    distinct = set(present)
    both = len(distinct) == 2 or (declared is not None and declared.binary and len(distinct) == 1)
    return both and distinct <= {0.0, 1.0}


def likely_scales(scores: ScoreTable) -> tuple[str, ...]:
    """The `--scale` options that would declare what values without a declared scale look like."""
    return likely_options(scored_values(scores))


def likely_options(scored: tuple[Scored, ...]) -> tuple[str, ...]:
    """The same, from what the values look like."""
    return tuple(_scales(scored))


def _scales(scored: tuple[Scored, ...]) -> Iterator[str]:
    """The shortest list of options: one for all, then one per construct and per scorer."""
    open_ = [
        values_of
        for values_of in scored
        if values_of.declared is None and values_of.looks_like is not None
    ]
    if not open_:
        return
    constructs = list(dict.fromkeys(values_of.construct for values_of in open_))
    people_scales: dict[str, str] = {}
    own: dict[str, dict[str, str]] = {}
    for construct in constructs:
        here = [values_of for values_of in open_ if values_of.construct == construct]
        likely = _reconciled(here)
        people = [v.scorer for v in here if v.kind == "human"] or list(likely)
        people_scales[construct] = _most_frequent([likely[scorer] for scorer in people])
        own[construct] = {
            scorer: scale for scorer, scale in likely.items() if scale != people_scales[construct]
        }
    # An option without a scorer also applies to values that it would refuse, such as people's 0 and
    # 1 beside a judge's 1 to 5: there each scorer has an option of its own.
    apart = [key for key in constructs if _beyond(scored, key, people_scales[key], own[key])]
    together = [key for key in constructs if key not in apart]
    undeclared = {v.construct for v in scored} - {*constructs}
    whole = bool(together) and not (apart or undeclared)
    common = _most_frequent([people_scales[key] for key in together]) if whole else None
    if common is not None:
        yield common
    for construct in constructs:
        if construct in apart:
            own[construct] = {
                v.scorer: own[construct].get(v.scorer, people_scales[construct])
                for v in open_
                if v.construct == construct
            }
        elif people_scales[construct] != common:
            yield f"{construct}={people_scales[construct]}"
        for scorer, scale in own[construct].items():
            yield f"{scorer}:{construct}={scale}"


def _beyond(
    scored: tuple[Scored, ...], construct: str, common: str, own: Mapping[str, str]
) -> bool:
    """Whether a scale for all scorers of a construct leaves out values of one of them."""
    low, high = map(float, common.split(":")[:2])
    return any(
        values_of.construct == construct
        and values_of.n > 0
        and values_of.scorer not in own
        and (values_of.low < low or values_of.high > high)
        for values_of in scored
    )


def _reconciled(scored: list[Scored]) -> dict[str, str]:
    """The likely scale of each scorer on one construct.

    Where one scorer gives whole numbers from 1 to 5, another who stays between 1 and 5 is on the
    same scale, although numbers such as 3.5 alone might be on one from 0 to 10.
    """
    likely = {v.scorer: v.looks_like for v in scored if v.looks_like is not None}
    if (shared := _shared_grades(scored)) is not None:
        return dict.fromkeys(likely, shared)
    likely |= dict(_on_wider(scored, likely))
    for low in ("0", "1"):
        # One scorer may not use the last grades.
        grades = {name: of for name, of in likely.items() if _is_grades(of, low)}
        if grades:
            longest = max(grades.values(), key=lambda of: float(of.split(":")[1]))
            likely |= dict.fromkeys(grades, longest)
            high = float(longest.split(":")[1])
            between = [
                v.scorer for v in scored
                if v.looks_like in _WIDE and float(low) <= v.low <= v.high <= high != 5
            ]  # fmt: skip
            likely |= dict.fromkeys(between, longest)
    if "1:5:1" in likely.values():
        between = [v.scorer for v in scored if v.looks_like in _WIDE and 1 <= v.low <= v.high <= 5]
        people = any(v.kind == "human" for v in scored if v.scorer in between)
        # The step is that of the points that people choose from.
        same = "1:5" if people else "1:5:1"
        likely |= dict.fromkeys(between, same)
        likely = {name: same if of == "1:5:1" else of for name, of in likely.items()}
    return likely


def _on_wider(scored: list[Scored], likely: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Scorers up to 20, say, beside raters, or others of about as high values, who go further."""
    for scales in _WIDER:
        rank = {scale: place for place, scale in enumerate(scales)}
        known = [(v, rank[likely[v.scorer]]) for v in scored if likely.get(v.scorer) in rank]
        for v, own in known:
            beside = [
                of for w, of in known
                if of > own and (v.kind == w.kind == "human" or w.high <= _NEAR * v.high)
            ]  # fmt: skip
            if beside:
                yield v.scorer, scales[max(beside)]


# Up to so many times the highest value of one scorer that of another is on the same scale.
_NEAR = 2

#: Scales of which each may be a part of those that follow.
_TO_HUNDRED = ("0:20", "0:30", "0:50", "0:100")
_WIDER = (("1:10", "0:10"), _TO_HUNDRED)

#: Guesses from a part of the values that may be on the scale of another scorer's grades.
_WIDE = {"0:10", "1:10", "1:5", "0:5"}


def _shared_grades(scored: list[Scored]) -> str | None:
    """One scale of grades for all, where one scorer is shifted by a grade against another.

    People on 1 to 5 and a judge on 2 to 6 are on one scale, which they do not use alike.
    """
    points = [v.points for v in scored if v.n]
    if len(points) < 2 or not all(points) or any(v.passes_or_fails for v in scored):
        return None
    widths = [of[-1] - of[0] for of in points]
    if max(widths) - min(widths) > 1:
        return None
    return _grades(sorted({value for of in points for value in of}))


def _is_grades(scale: str, low: str) -> bool:
    return scale.startswith(f"{low}:") and scale.endswith(":1") and scale.count(":") == 2


def _most_frequent(scales: list[str]) -> str:
    return max(dict.fromkeys(scales), key=scales.count)


def looks_like(values: Iterable[float], scorer_values: Iterable[float] | None = None) -> str | None:
    """The usual scale of values, in the form of `--scale`: 0:1, 1:5:1, 0:10, 0:100 and others.

    Parameters
    ----------
    values
        Values of one scorer on one construct (n,); NaN is left out.
    scorer_values
        Values of the same scorer on all constructs (m,): most scorers use one scale, so that these
        help for a construct with low values only.

    Returns
    -------
    The scale, or None where the values are on none of them, are all equal, or are from 1 to 5
    with few exceptions. Consecutive whole numbers from 0, -1 or 1 on, seven at most, are a scale
    by themselves: 0:2:1, 0:4:1, 1:7:1.

    Notes
    -----
    Of several usual scales the narrowest is taken, which has the strictest margin. Numbers from 1
    to 5 are on 1 to 5, although they might be the lower half of 0 to 10; whole numbers from 1 to 3,
    and from 1 to 4, on these; values from 0 to 1 on 0 to 1, although the scale might be 0 to 100;
    without a value below 1, those up to 10 on 1 to 10; others on 0 to 10, 20, 30, 50 or 100.
    """
    known_values = _known(values)
    wider = known_values if scorer_values is None else _known(scorer_values)
    if not known_values or min(wider) == max(wider):
        return None
    alone, together = _smallest(known_values), _smallest(wider)
    # Fractions show that the scale is 0 to 1, whatever the values on other constructs.
    return alone if alone == "0:1" and _fractions(known_values) else together


def _up_to_one(values: list[float]) -> bool:
    """Whether values are fractions from 0 to 1, or both of these."""
    return _fractions(values) or set(values) == {0.0, 1.0}


def _fractions(values: list[float]) -> bool:
    """Whether values are from 0 to 1 and not all at these ends."""
    return bool(values) and max(values) <= 1 and any(value % 1 for value in set(values))


def _known(values: Iterable[float]) -> list[float]:
    return [value for value in map(float, values) if math.isfinite(value)]


def _smallest(values: list[float]) -> str | None:
    low, high = min(values), max(values)
    distinct = sorted(set(values))
    whole = not any(value % 1 for value in distinct)
    if whole and (grades := _grades(distinct)) is not None:
        return grades
    if low < 0 or high > 100:
        return None
    if high <= 1:
        return "0:1"
    if high <= 5:
        return _up_to_five(low, high, whole=whole)
    # A few values beyond 10 among points of 1 to 5 are slips rather than a scale.
    within = [value for value in values if value <= 5]
    if whole and low >= 1 and high > 10 and len(within) >= _MOST * len(values):
        return None if len(set(within)) > 2 else "0:100"
    wider = ("1:10" if low >= 1 else "0:10", *_TO_HUNDRED)
    return next(scale for scale in wider if high <= float(scale.partition(":")[2]))


def _up_to_five(low: float, high: float, *, whole: bool) -> str:
    """The narrowest usual scale of values up to 5, of which a margin is not too large a share."""
    if low < 1:
        return "0:5:1" if whole else "0:5"
    if whole and high <= 3:
        # Two codes, 1 and 2, have no direction that is known.
        return "1:2" if high == 2 else "1:3:1"
    if whole and low == 1 and high == 4:
        return "1:4:1"
    return "1:5:1" if whole else "1:5"


def _grades(distinct: list[float]) -> str | None:
    """The scale of three to seven consecutive whole numbers that begin at -1, 0 or 1."""
    low, high = distinct[0], distinct[-1]
    consecutive = all(b - a == 1 for a, b in pairwise(distinct))
    if not consecutive or not 3 <= len(distinct) <= _MOST_GRADES:
        return None
    if low == -1 and high == 1:
        return "-1:1:1"
    if low == 0 or (low == 1 and high > 5):
        return f"{low:g}:{high:g}:1"
    return None
