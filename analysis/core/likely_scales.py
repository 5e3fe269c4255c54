"""Which usual scales values look like; such a guess is shown, and used once it is declared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import FloatArray
from analysis.core.scales import Scale
from analysis.core.tables import ScoreTable

# Share of values on a short scale from which the others are taken for slips.
_MOST = 0.9


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


def scored_values(scores: ScoreTable) -> tuple[Scored, ...]:
    """Each scorer's values on each construct."""
    return tuple(_scored(scores))


def _scored(scores: ScoreTable) -> Iterator[Scored]:
    rows = scores.frame
    values = rows["value"].to_numpy(dtype=np.float64)
    by_pair = {
        (construct, scorer): values[
            ((rows["construct"] == construct) & (rows["scorer"] == scorer)).to_numpy()
        ]
        for construct in scores.constructs
        for scorer in scores.scorers(construct)
    }
    for (construct, scorer), here in by_pair.items():
        present = here[np.isfinite(here)]
        declared = scores.scale(construct, scorer)
        # Fractions up to 1 are on a scale of their own, which says nothing about the others.
        together = [v for (_, s), v in by_pair.items() if s == scorer and not _fractions(_known(v))]
        yield Scored(
            construct, scorer, scores.scorer_kinds[scorer], int(present.size),
            int(here.size - present.size),
            float(present.min()) if present.size else float("nan"),
            float(present.max()) if present.size else float("nan"),
            int(np.unique(present).size),
            None if declared is None else f"{declared.min:g}:{declared.max:g}",
            looks_like(here, np.concatenate([here, *together])),
            _passes_or_fails(present, declared),
        )  # fmt: skip


def _passes_or_fails(present: FloatArray, declared: Scale | None) -> bool:
    if declared is not None and (declared.min, declared.max) != (0, 1):
        return False
    distinct = np.unique(present)
    both = distinct.size == 2 or (declared is not None and declared.binary and distinct.size == 1)
    return bool(both and np.isin(distinct, (0.0, 1.0)).all())


def likely_scales(scores: ScoreTable) -> tuple[str, ...]:
    """The `--scale` options that would declare what values without a declared scale look like."""
    return tuple(_scales(scored_values(scores)))


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
    of_people: dict[str, str] = {}
    own: dict[str, dict[str, str]] = {}
    for construct in constructs:
        here = [values_of for values_of in open_ if values_of.construct == construct]
        likely = _reconciled(here)
        people = [v.scorer for v in here if v.kind == "human"] or list(likely)
        of_people[construct] = _most_frequent([likely[scorer] for scorer in people])
        own[construct] = {
            scorer: scale for scorer, scale in likely.items() if scale != of_people[construct]
        }
    common = _most_frequent(list(of_people.values()))
    yield common
    for construct in constructs:
        if of_people[construct] != common:
            yield f"{construct}={of_people[construct]}"
        for scorer, scale in own[construct].items():
            yield f"{scorer}:{construct}={scale}"


def _reconciled(scored: list[Scored]) -> dict[str, str]:
    """The likely scale of each scorer on one construct.

    Where one scorer gives whole numbers from 1 to 5, another who stays between 1 and 5 is on the
    same scale, although numbers such as 3.5 alone might be on one from 0 to 10.
    """
    likely = {v.scorer: v.looks_like for v in scored if v.looks_like is not None}
    if "1:5:1" in likely.values():
        between = [v.scorer for v in scored if v.looks_like == "0:10" and 1 <= v.low <= v.high <= 5]
        people = any(v.kind == "human" for v in scored if v.scorer in between)
        # The step is that of the points that people choose from.
        same = "1:5" if people else "1:5:1"
        likely |= dict.fromkeys(between, same)
        likely = {name: same if of == "1:5:1" else of for name, of in likely.items()}
    return likely


def _most_frequent(scales: list[str]) -> str:
    return max(dict.fromkeys(scales), key=scales.count)


def looks_like(values: npt.ArrayLike, scorer_values: npt.ArrayLike | None = None) -> str | None:
    """The usual scale of values, in the form of `--scale`: 0:1, 1:5:1, 0:10 or 0:100.

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
    with few exceptions.

    Notes
    -----
    Whole numbers from 1 to 5 are taken for 1 to 5, although they might be the lower half of 0 to
    10; values from 0 to 1 for 0 to 1, although the scale might be 0 to 100.
    """
    of_scorer = _known(values)
    wider = of_scorer if scorer_values is None else _known(scorer_values)
    if of_scorer.size == 0 or np.ptp(wider) == 0:
        return None
    alone, together = _smallest(of_scorer), _smallest(wider)
    # Fractions show that the scale is 0 to 1, whatever the values on other constructs.
    return alone if alone == "0:1" and _fractions(of_scorer) else together


def _fractions(values: FloatArray) -> bool:
    """Whether values are from 0 to 1 and not all at these ends."""
    return bool(values.size and values.max() <= 1 and (values % 1 != 0).any())


def _known(values: npt.ArrayLike) -> FloatArray:
    array = np.asarray(values, dtype=np.float64).ravel()
    return array[np.isfinite(array)]


def _smallest(values: FloatArray) -> str | None:
    low, high = float(values.min()), float(values.max())
    whole = bool((values % 1 == 0).all())
    if low < 0 or high > 100:
        return None
    if high <= 1:
        return "0:1"
    if whole and low >= 1 and high <= 5:
        return "1:5:1"
    # A few values beyond 10 among points of 1 to 5 are slips rather than a scale.
    within = values[values <= 5]
    if whole and low >= 1 and high > 10 and within.size >= _MOST * values.size:
        return None if np.unique(within).size > 2 else "0:100"
    return "0:10" if high <= 10 else "0:100"
