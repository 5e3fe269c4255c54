"""Hypotheses declared before the scores are looked at, and their p-values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from analysis.core.errors import AnalysisError
from analysis.statistics.discrimination.tukey import one_sided

Direction = Literal["greater", "different"]
Aggregation = Literal["maximum", "bonferroni_minimum"]


@dataclass(frozen=True)
class Hypothesis:
    """A claim about pairs of systems; the first of a pair is expected above the second.

    `direction` greater tests each pair one-sided, different two-sided. `constructs` and `scorer`
    left out stand for all constructs and for each judge. `aggregation` maximum claims every pair
    on every construct (the largest p); bonferroni_minimum claims at least one (the smallest p times
    the number of constructs; the test already allows for the number of pairs).

    Raises
    ------
    AnalysisError
        The hypothesis has no name or no pair, a system is paired with itself, or a word is
        unknown.
    """

    name: str
    pairs: tuple[tuple[str, str], ...]
    direction: Direction = "greater"
    constructs: tuple[str, ...] = ()
    scorer: str | None = None
    aggregation: Aggregation = "maximum"

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise AnalysisError("a hypothesis needs a name")
        if not self.pairs:
            raise AnalysisError(f"hypothesis {self.name!r} has no pairs of systems")
        for pair in self.pairs:
            if len(pair) != 2 or pair[0] == pair[1]:
                raise AnalysisError(
                    f"hypothesis {self.name!r}: {list(pair)} is no pair of two systems"
                )
        for what, allowed in (("direction", Direction), ("aggregation", Aggregation)):
            if getattr(self, what) not in get_args(allowed):
                raise AnalysisError(
                    f"hypothesis {self.name!r}: {what} {getattr(self, what)!r} is none of "
                    f"{', '.join(get_args(allowed))}"
                )


def check_hypotheses(
    hypotheses: Sequence[Hypothesis],
    systems: Collection[str],
    constructs: Collection[str],
    scorers: Collection[str],
) -> None:
    """Refuse two hypotheses of one name, and names that the scores lack.

    Raises
    ------
    AnalysisError
        With the names that there are.
    """
    names = [hypothesis.name for hypothesis in hypotheses]
    for name in names:
        if names.count(name) > 1:
            raise AnalysisError(f"two hypotheses are called {name!r}; give one another name")
    for hypothesis in hypotheses:
        own = [system for pair in hypothesis.pairs for system in pair]
        wanted = [("system", name, systems) for name in own]
        wanted += [("construct", name, constructs) for name in hypothesis.constructs]
        if hypothesis.scorer is not None:
            wanted.append(("scorer", hypothesis.scorer, scorers))
        for what, name, known in wanted:
            if name not in known:
                close = get_close_matches(name, list(known), n=1, cutoff=0.5)
                listed = ", ".join(known) or "none"
                raise AnalysisError(
                    f"hypothesis {hypothesis.name!r}: there is no {what} {name!r}; there are "
                    f"{listed}." + (f" Did you mean {close[0]!r}?" if close else "")
                )


def hypothesis_p(
    hypothesis: Hypothesis,
    p: Mapping[tuple[str, str, str], float],
    difference: Mapping[tuple[str, str, str], float],
    constructs: Sequence[str],
) -> float:
    """p of a hypothesis from the tests of its pairs; NaN where one of them is undefined.

    Parameters
    ----------
    p, difference
        Two-sided p and difference by (construct, first system, second system); a pair may stand in
        either order.
    constructs
        Those that a hypothesis without its own speaks of.
    """
    found = []
    chosen = hypothesis.constructs or tuple(constructs)
    for construct in chosen:
        for first, second in hypothesis.pairs:
            turned = (construct, first, second) not in p
            key = (construct, second, first) if turned else (construct, first, second)
            own = p.get(key, np.nan)
            apart = difference.get(key, np.nan) * (-1 if turned else 1)
            if hypothesis.direction == "greater":
                own = float(one_sided(own, apart))
            found.append(own)
    if not found or np.isnan(found).any():
        return float("nan")
    if hypothesis.aggregation == "maximum":
        return float(max(found))
    # A product above 1 is no probability.
    return float(min(1.0, min(found) * len(chosen)))


def holm(p: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """p-values (m,) adjusted by Holm's step-down method; undefined ones stay out.

    Holm 1979. [.01, .04, .03, .005] becomes [.03, .06, .06, .02].
    """
    given = np.asarray(p, dtype=np.float64)
    adjusted = np.full(given.size, np.nan)
    defined = np.flatnonzero(np.isfinite(given))
    order = defined[np.argsort(given[defined], kind="stable")]
    stepped = given[order] * np.arange(order.size, 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(stepped)) if order.size else stepped
    return adjusted
