"""The bias on each system: what speaks against a level, and what qualifies it.

A judge that is 10 points too kind to one system and 10 too strict to another has a bias of 0, and
reports no level. A single system's own bias is known less well than that over all: it refuses a
level where it is shown to be outside of the margin at 1% (a fifth of the error of an answer),
corrected for the number of systems; otherwise it is named where the best guess is outside. That is
the system's bias pulled toward the mean of all by how little the systems differ beyond chance
(DerSimonian and Laird 1986, Controlled Clinical Trials 7:177-188), since the largest of several is
large by chance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from analysis.core.estimates import Estimate
from analysis.decisions.figures import within
from analysis.decisions.records import DecidingFigure, DecisionThreshold


def bias_by_system(
    biases: Mapping[str, Estimate | None], level: DecisionThreshold, alpha: float
) -> tuple[tuple[DecidingFigure, ...], tuple[str, ...]]:
    """The bias on each system as a figure that can only speak against a level, and limits."""
    if len(biases) < 2:
        return (), ()
    known = [(system, e) for system, e in biases.items() if e is not None and e.has_interval]
    limits = [
        f"on {system} it is not known" for system, e in biases.items() if e is None or not e.defined
    ]
    figures = [within(e, level, alpha) for _, e in known]
    if known:
        pooled = pulled_to_mean([e for _, e in known])
        worst = max(range(len(known)), key=lambda place: abs(pooled[place]))
        system, e = known[worst]
        if min(abs(pooled[worst]), abs(e.value)) > level.value:
            limits.append(
                f"on {system} it is probably outside of the margin (its bias there is "
                f"{e.value:+.3g})"
            )
    return tuple(figures), tuple(limits)


def for_raters_like_these(bias: Estimate | None, overall: Estimate) -> Estimate | None:
    """The bias on a system with the error of the raters that the bias over all has.

    A severe panel moves the bias on every system alike.
    """
    if bias is None or bias.uncertainty is None or overall.uncertainty is None:
        return bias
    own, further = bias.uncertainty, overall.uncertainty
    both = replace(
        own,
        variances=(*own.variances, *further.variances[1:]),
        dfs=(*own.dfs, *further.dfs[1:]),
    )
    return replace(bias, uncertainty=both, target=overall.target)


def pulled_to_mean(biases: Sequence[Estimate]) -> list[float]:
    """Each bias, moved toward their weighted mean by its share of chance in its variance."""
    variances = [sum(e.uncertainty.variances) if e.uncertainty is not None else 0.0 for e in biases]
    if len(biases) < 2 or not all(variance > 0 for variance in variances):
        return [e.value for e in biases]
    weights = [1 / variance for variance in variances]
    total = sum(weights)
    mean = sum(w * e.value for w, e in zip(weights, biases, strict=True)) / total
    spread = sum(w * (e.value - mean) ** 2 for w, e in zip(weights, biases, strict=True))
    scale = total - sum(w * w for w in weights) / total
    if not scale > 0:
        # One of them has all of the weight: what the others say of the spread is lost in rounding.
        return [e.value for e in biases]
    between = max(0.0, (spread - (len(biases) - 1)) / scale)
    return [
        mean + between / (between + variance) * (e.value - mean)
        for e, variance in zip(biases, variances, strict=True)
    ]
