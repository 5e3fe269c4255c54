"""Hypotheses on pairs of systems, declared before the scores are known."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from analysis.core.errors import AnalysisError, did_you_mean

Direction = Literal["greater", "different"]
Aggregation = Literal["maximum", "bonferroni_minimum"]


@dataclass(frozen=True)
class Hypothesis:
    """A claim about pairs of systems; the first of a pair is expected above the second.

    `direction` greater tests each pair one-sided, different two-sided. Without `constructs` the
    hypothesis is about all constructs, without `scorer` about each judge. `aggregation` maximum
    claims every pair on every construct (the largest p); bonferroni_minimum claims at least one
    (the smallest p times the number of constructs; the test already allows for the number of
    pairs).

    Raises
    ------
    AnalysisError
        The hypothesis has no name or no pair, a system is paired with itself, or `direction` or
        `aggregation` is unknown.
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
                    f"hypothesis {self.name!r}: {list(pair)} is not a pair of two systems"
                )
        for field, allowed in (("direction", Direction), ("aggregation", Aggregation)):
            if getattr(self, field) not in get_args(allowed):
                raise AnalysisError(
                    f"hypothesis {self.name!r}: {field} {getattr(self, field)!r} is not one of "
                    f"{', '.join(get_args(allowed))}"
                )


def check_hypotheses(
    hypotheses: Sequence[Hypothesis],
    systems: Collection[str],
    constructs: Collection[str],
    scorers: Collection[str],
) -> None:
    """Check that hypotheses have different names and that the scores have what they name.

    Raises
    ------
    AnalysisError
        Two hypotheses have one name, or a name is not in the scores; the message lists theirs.
    """
    names = [hypothesis.name for hypothesis in hypotheses]
    for name in names:
        if names.count(name) > 1:
            raise AnalysisError(f"two hypotheses are called {name!r}; give one another name")
    for hypothesis in hypotheses:
        references = [("system", name, systems) for pair in hypothesis.pairs for name in pair]
        references += [("construct", name, constructs) for name in hypothesis.constructs]
        if hypothesis.scorer is not None:
            references.append(("scorer", hypothesis.scorer, scorers))
        for noun, name, present in references:
            if name not in present:
                listed = ", ".join(present) or "none"
                raise AnalysisError(
                    f"hypothesis {hypothesis.name!r}: unknown {noun} {name!r}; the scores have "
                    f"{listed}.{did_you_mean(name, present)}"
                )
