"""Which claims of a report hold after correction for all that they were chosen from.

A report looks at many intervals and makes sentences of those that exclude 0. Where nothing is to be
found, one interval in twenty does so by chance. Each sentence that claims a difference is therefore
made from a family of comparisons that are corrected together, by Holm's method on their p-values,
which allows for any dependence. The verdict (its lines, over all constructs, judges and measures)
is one family, each section of the report is one. The verdict has half of the error that a report
may make (1 - level, 5%); the sections with a comparison share the other half equally. So the
probability of any false claim in a report is at most 5% (Bonferroni over families).

Claims on a scorer and several others at once, such as a judge and all metrics, are made from
families by themselves (`JointFamily`), one for each construct and judge.

Claims declared in advance, by options or study.toml, are outside: each keeps its own level.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from analysis.core.estimates import Estimate
from analysis.core.multiple_tests import holm

VERDICT = "verdict"

#: Part of the error that the verdict may make.
VERDICT_SHARE = 0.5


@dataclass(frozen=True, eq=False)
class Family:
    """Comparisons that are corrected together; a claim holds if its adjusted p is at most alpha."""

    key: str
    estimates: tuple[Estimate, ...]
    alpha: float

    @cached_property
    def adjusted(self) -> dict[int, float]:
        """Adjusted p of each comparison by the identity of its estimate."""
        p = holm([e.p for e in self.estimates])
        return {id(e): float(after) for e, after in zip(self.estimates, p, strict=True)}

    @property
    def comparisons(self) -> int:
        """Number of comparisons with a p-value."""
        return sum(bool(math.isfinite(p)) for p in self.adjusted.values())

    @property
    def holding(self) -> int:
        """Number of comparisons that hold."""
        return sum(self.holds(e) for e in self.estimates)

    def holds(self, estimate: Estimate) -> bool:
        """Whether its interval excludes 0 after correction."""
        return bool(self.adjusted[id(estimate)] <= self.alpha)


@dataclass(frozen=True, eq=False)
class JointFamily(Family):
    """Comparisons of one scorer with several others, of which joint claims are made.

    That it is better than each of them holds where each comparison alone is significant: by the
    intersection-union principle (Berger 1982, Technometrics 24:295-300) no correction for their
    number is needed. That one of them is better, or about as good, is a claim on one that was
    chosen from all, and is corrected by Holm's method at half of alpha. The first claim is made in
    one direction of a two-sided test, which takes the other half.
    """

    @cached_property
    def adjusted(self) -> dict[int, float]:
        """Adjusted p of the claim on each comparison that was chosen from all."""
        return {key: min(1.0, 2 * p) for key, p in super().adjusted.items()}

    def joint(self, estimates: Iterable[Estimate]) -> bool:
        """Whether all of these differences, at least one, are above 0."""
        chosen = list(estimates)
        return bool(chosen) and all(map(self.supports, chosen))

    def supports(self, estimate: Estimate) -> bool:
        """Whether a comparison is as the joint claim has it."""
        return bool(estimate.value > 0 and estimate.p <= self.alpha)


@dataclass(frozen=True, eq=False)
class Claims:
    """The families of a report."""

    families: tuple[Family, ...] = ()

    def of(self, key: str) -> Family | None:
        """The family of the verdict or of a section; None where it makes no comparison."""
        return next((family for family in self.families if family.key == key), None)

    def hold(self, key: str, estimate: Estimate) -> bool:
        """Whether a comparison of this family holds."""
        family = self.of(key)
        return family is not None and family.holds(estimate)

    def joint(self, key: str, estimates: Iterable[Estimate]) -> bool:
        """Whether a scorer is claimed to be better than each of the others."""
        family = self.of(key)
        return isinstance(family, JointFamily) and family.joint(estimates)

    def records(self) -> Iterator[dict[str, Any]]:
        """Every comparison as report.json has it."""
        for family in self.families:
            for e in family.estimates:
                if math.isfinite(e.p):
                    yield {
                        "family": family.key,
                        "statistic": e.statistic,
                        "constructs": list(e.constructs),
                        "scorers": list(e.scorers),
                        "systems": list(e.systems),
                        "scope": e.scope,
                        "target": e.target,
                        "measure": e.params.get("measure"),
                        "value": e.value,
                        "p": e.p,
                        "adjusted_p": family.adjusted[id(e)],
                        "comparisons": family.comparisons,
                        "alpha": family.alpha,
                        "holds": family.holds(e),
                        "joint": family.supports(e) if isinstance(family, JointFamily) else None,
                    }


def claims(
    verdict: Iterable[Estimate],
    sections: Mapping[str, Iterable[Estimate]],
    level: float,
    joint: Mapping[str, Mapping[str, Iterable[Estimate]]] | None = None,
) -> Claims:
    """The families of a report whose intervals have this level.

    `joint` has by section the families of joint claims, by key. They share the section's part of
    the error equally among each other and with its other comparisons, empty ones included: what is
    compared in one of them changes nothing for the others.
    """
    joint = {key: of for key, of in (joint or {}).items() if any(of.values())}
    chosen = {key: _distinct(estimates) for key, estimates in sections.items()}
    chosen = {key: e for key, e in chosen.items() if any(math.isfinite(one.p) for one in e)}
    number = max(1, len({*chosen, *joint}))
    verdict_family = Family(VERDICT, _distinct(verdict), (1 - level) * VERDICT_SHARE)
    each = (1 - level) * (1 - VERDICT_SHARE) / number
    parts = {key: len(of) + (key in chosen) for key, of in joint.items()}
    families = [Family(key, e, each / parts.get(key, 1)) for key, e in chosen.items()]
    families += [
        JointFamily(name, _distinct(e), each / parts[key])
        for key, of in joint.items()
        for name, e in of.items()
    ]
    return Claims((verdict_family, *families))


def _distinct(estimates: Iterable[Estimate]) -> tuple[Estimate, ...]:
    return tuple({id(e): e for e in estimates}.values())
