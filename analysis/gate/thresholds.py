"""Thresholds of a gate, and the figures of a report that they are for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Literal, get_args

from analysis.core.errors import AnalysisError
from analysis.core.estimates import Estimate

#: The statistic of two judges, the first minus the second.
DIFFERENCE = "judge_difference"

On = Literal["value", "ci_low", "ci_high"]


@dataclass(frozen=True)
class Threshold:
    """Bounds on the figures of one statistic.

    `construct`, `scorer`, `system`, `scope`, `target` and `params` select its records, as in
    report.json; an omitted field selects all. `against` is the second judge of `judge_difference`,
    which then is `scorer` minus `against`, whichever of the two the record has first. `on` is the
    number that `minimum` and `maximum` bound. `allowed_drop` and `allowed_rise` bound how far the
    value may be below or above that of a baseline.

    Raises
    ------
    AnalysisError
        It has no bound, or the bounds contradict each other.
    """

    statistic: str
    construct: str | None = None
    scorer: str | None = None
    against: str | None = None
    system: str | None = None
    scope: str | None = None
    target: str | None = None
    params: Mapping[str, str | float | int] = field(default_factory=dict)
    on: On = "value"
    minimum: float | None = None
    maximum: float | None = None
    allowed_drop: float | None = None
    allowed_rise: float | None = None

    def __post_init__(self) -> None:
        bounds = (self.minimum, self.maximum, self.allowed_drop, self.allowed_rise)
        if all(bound is None for bound in bounds):
            raise AnalysisError(
                f"the check of {self.statistic} has no bound; give it minimum, maximum, "
                "allowed_drop or allowed_rise"
            )
        if self.minimum is not None and self.maximum is not None and self.minimum > self.maximum:
            raise AnalysisError(
                f"the check of {self.statistic} has minimum {self.minimum:g} above maximum "
                f"{self.maximum:g}"
            )
        if self.on not in get_args(On):
            raise AnalysisError(f"on = {self.on!r}: use one of {', '.join(get_args(On))}")
        for name in ("allowed_drop", "allowed_rise"):
            allowed = getattr(self, name)
            if allowed is not None and allowed < 0:
                raise AnalysisError(f"{name} = {allowed:g}: give 0 or more")

        if self.against is not None and (self.statistic != DIFFERENCE or self.scorer is None):
            raise AnalysisError(
                f"against = {self.against!r}: it goes with statistic = {DIFFERENCE!r} and the "
                "scorer that is compared with it"
            )
        if self.against is not None and self.needs_baseline:
            raise AnalysisError(
                f"against = {self.against!r}: give minimum or maximum; each judge's own figures "
                "are compared with a baseline"
            )

    @property
    def needs_baseline(self) -> bool:
        """Whether it compares with an earlier report."""
        return self.allowed_drop is not None or self.allowed_rise is not None

    def __str__(self) -> str:
        scorer = self.scorer if self.against is None else f"{self.scorer} minus {self.against}"
        parts = [self.construct, scorer, self.system, self.scope, self.target]
        parts += [f"{key} {value}" for key, value in self.params.items()]
        listed = ", ".join(part for part in parts if part)
        return f"{self.statistic} ({listed})" if listed else self.statistic

    def matches(self, estimate: Estimate) -> bool:
        """Whether the threshold is for this record."""
        return (
            estimate.statistic == self.statistic
            and (self.construct is None or self.construct in estimate.constructs)
            and (self.scorer is None or self.scorer in estimate.scorers)
            and (self.against is None or {self.scorer, self.against} == set(estimate.scorers[:2]))
            and (self.system is None or self.system in estimate.systems)
            and (self.scope is None or self.scope == estimate.scope)
            and (self.target is None or self.target == estimate.target)
            and all(estimate.params.get(key) == value for key, value in self.params.items())
        )

    def turns(self, estimate: Estimate) -> bool:
        """Whether a record that matches has the two judges in the other order."""
        return self.against is not None and estimate.scorers[0] == self.against


#: Parameters that state how well a figure is known, and choose none.
RESULTS = frozenset({"measured_coverage", "coverage_with_unseen_failures"})


def picked(threshold: Threshold, estimates: Sequence[Estimate]) -> list[Estimate]:
    """The records that a threshold is for: one for each construct, scorer and system.

    Raises
    ------
    AnalysisError
        No figure matches, or several of one construct, scorer and system, which must be
        distinguished by scope, target or params.
    """
    matching = [
        _turned(estimate) if threshold.turns(estimate) else estimate
        for estimate in estimates
        if threshold.matches(estimate)
    ]
    if not matching:
        raise AnalysisError(_no_match(threshold, estimates))
    # Figures of a part of the ratings are selected only by name.
    if "ratings" not in threshold.params:
        whole = [estimate for estimate in matching if "ratings" not in estimate.params]
        matching = whole or matching
    groups: dict[tuple[tuple[str, ...], ...], list[Estimate]] = {}
    for estimate in matching:
        groups.setdefault((estimate.constructs, estimate.scorers, estimate.systems), []).append(
            estimate
        )
    for several in groups.values():
        if len(several) > 1:
            raise AnalysisError(
                f"{threshold} matches {len(several)} figures of "
                f"{', '.join(several[0].constructs)}; name {_differing(several)}"
            )
    return matching


def _turned(difference: Estimate) -> Estimate:
    """The difference of two judges with the second first."""
    first, second, *people = difference.scorers
    return replace(
        difference,
        scorers=(second, first, *people),
        value=-difference.value,
        ci_low=-difference.ci_high,
        ci_high=-difference.ci_low,
    )


def _no_match(threshold: Threshold, estimates: Sequence[Estimate]) -> str:
    statistics = sorted({estimate.statistic for estimate in estimates})
    if threshold.statistic not in statistics:
        close = get_close_matches(threshold.statistic, statistics, n=1, cutoff=0.5)
        hint = f" Did you mean {close[0]!r}?" if close else f" There are {', '.join(statistics)}."
        return f"unknown figure {threshold.statistic!r}: it is not in this report.{hint}"
    same_statistic = [e for e in estimates if e.statistic == threshold.statistic]
    hints = []
    for name, values in (
        ("construct", sorted({c for e in same_statistic for c in e.constructs})),
        ("scorer", sorted({s for e in same_statistic for s in e.scorers})),
        ("system", sorted({s for e in same_statistic for s in e.systems})),
        ("scope", sorted({e.scope for e in same_statistic})),
        ("target", sorted({e.target for e in same_statistic if e.target})),
    ):
        if getattr(threshold, name) is not None and getattr(threshold, name) not in values:
            hints.append(f"{name} is one of {', '.join(values) or 'none'}")
    for key in threshold.params:
        hints.append(
            f"{key} is one of {', '.join(sorted({str(e.params.get(key)) for e in same_statistic}))}"
        )
    return f"no figure matches {threshold}; {'; '.join(hints) or 'this combination does not occur'}"


def _differing(several: Sequence[Estimate]) -> str:
    """The fields in which these records differ, with their values."""
    hints = []
    for name in ("scope", "target"):
        values = {str(getattr(estimate, name)) for estimate in several}
        if len(values) > 1:
            hints.append(f"{name} ({', '.join(sorted(values))})")
    for key in sorted({key for estimate in several for key in estimate.params} - RESULTS):
        values = {str(estimate.params.get(key)) for estimate in several}
        if len(values) > 1:
            hints.append(f"params.{key} ({', '.join(sorted(values))})")
    return " or ".join(hints) or "the params in which they differ"
