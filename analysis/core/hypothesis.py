"""Hypotheses on pairs of systems, declared before the scores are known."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, get_args

from analysis.core.errors import AnalysisError

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
