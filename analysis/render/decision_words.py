"""Decisions in words, and as report.json has them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from analysis.decisions.described import Described
from analysis.decisions.records import (
    Answer,
    CorrectedMeans,
    DecidingFigure,
    DecisionThreshold,
    Use,
    UseDecision,
)
from analysis.render.formatting import (
    amount,
    between,
    correlation,
    counted,
    percent,
    percents,
    points,
)

USE_WORDS: dict[Use, str] = {
    "rank_systems": "Rank systems",
    "choose_between_responses": "Choose between two responses",
    "order_responses": "Order responses",
    "report_level": "Report a level",
    "replace_rater": "Stand in for a rater",
}
ANSWER_WORDS: dict[Answer, str] = {
    "yes": "yes",
    "with_care": "with care",
    "no": "no",
    "undecided": "undecided",
    "not_applicable": "not asked",
}

#: More queries than this many times those rated are not proposed.
PRACTICAL = 50

#: Characters of a reason up to which it is shown with its details.
LONGEST_REASON = 120
_DETAILS = re.compile(r" \([^()]*\)")


def sentence(described: Described, decision: UseDecision) -> str:
    """The figure that decides, with its threshold, and what qualifies the answer."""
    whose = "" if decision.weakest is None else f"{described.full_name(decision.weakest)}: "
    if decision.missing is not None:
        return f"{whose}not known, since {_shortened(decision.missing)}."
    parts = []
    if decision.binding is not None:
        parts.append(phrase(described, decision.binding))
        if _alone(described, decision):
            parts.append(
                f"not significant after correction for {counted(decision.answers, 'answer')}"
            )
    text = f"{whose}{'; '.join(parts)}"
    if decision.limits and decision.answer != "no":
        text += f"; {', and '.join(decision.limits)}"
    return f"{text}."


def _shortened(reason: str) -> str:
    """A long reason without its details in parentheses, which the estimate has."""
    return reason if len(reason) <= LONGEST_REASON else _DETAILS.sub("", reason)


def _alone(described: Described, decision: UseDecision) -> bool:
    """Whether all figures meet their thresholds by themselves, and not after correction."""
    alpha = (1 - described.level) / 2
    return not decision.supported and all(f.p <= alpha for f in decision.figures)


def answers_reading(described: Described, decisions: Sequence[UseDecision]) -> str:
    """What yes and no mean, and for how many answers they are corrected."""
    answers = max(decision.answers for decision in decisions)
    level = described.level
    corrected = f", after correction for {answers} answers" if answers > 1 else ""
    return (
        "Yes and no are stated where the interval of every figure that decides is on that side of "
        f"its threshold{corrected}; with care where a weaker threshold is met, or where figures "
        f"may be off by more than their intervals. Square brackets are {level:.0%} intervals."
    )


def phrase(described: Described, figure: DecidingFigure) -> str:
    """One figure with its interval and its threshold."""
    e, threshold = figure.estimate, figure.threshold
    scale = described.human_scale(e.constructs[0])
    if e.statistic == "decision":
        return _of_pair(described, figure)
    if e.statistic == "bias":
        on = f" on {e.scope.removeprefix('system:')}" if e.systems else ""
        value = amount(e.value, scale, (e.ci_low, e.ci_high))
        margin = amount(threshold.value, scale)
        return f"bias{on} {value} {between(e, scale, in_points=True)}, allowed are ±{margin}"
    if e.statistic == "alt_test_winning_rate":
        note = f" ({e.params['note']})" if e.params.get("note") else ""
        return (
            f"the alternative annotator test lets it replace {percent(e.value)} of "
            f"{counted(e.n_raters, 'rater')}, at least {percent(threshold.value)} pass{note}"
        )
    if e.statistic in {"true_positive_rate", "true_negative_rate"}:
        name = e.statistic.replace("_", " ")
        return f"{name} {correlation(e.value)} {between(e)}, at least {_number(threshold)}"
    if e.statistic == "concordance":
        of = " to one query" if e.scope == "within_query" else ""
        return (
            f"{percent(e.value)} of pairs{of} ordered alike {percents(e)}, at least "
            f"{percent(threshold.value)}"
        )
    where = "within a query" if e.scope == "within_query" else "over all responses"
    names = {
        "average_rater_difference": f"tau-b {where} minus the average rater's",
        "pairwise_accuracy_difference": "share of pairs ordered as people do minus a rater's",
        "kendall_tau_b": f"tau-b {where}",
        "kappa_difference": "kappa minus that of two raters",
    }
    limit = "above" if threshold.value == 0 else "at least"
    return (
        f"{names[e.statistic]} {correlation(e.value)} {between(e)}, {limit} {_number(threshold)} "
        "is required"
    )


def _of_pair(described: Described, figure: DecidingFigure) -> str:
    e, threshold = figure.estimate, figure.threshold
    scale = described.human_scale(e.constructs[0])
    of_judge = described.scorer_scale(e.constructs[0], e.scorers[0])
    sides = []
    for side, on in (("people", scale), ("judge", of_judge)):
        values = [e.params.get(key) for key in (side, f"{side}_low", f"{side}_high")]
        value, *ends = [math.nan if v is None else float(v) for v in values]
        interval = f" [{', '.join(points(end, on, 1) for end in ends)}]"
        sides.append(points(value, on, 1) + (interval if not math.isnan(ends[0]) else ""))
    pair = (
        f"{e.systems[0]} minus {e.systems[1]} is {sides[0]} by people and {sides[1]} by the judge"
    )
    if threshold.value == 0:
        return f"{pair}; one pair must have the same sign by both"
    return f"{pair}; choosing by the judge may cost at most {amount(threshold.value, scale)}"


def _number(threshold: DecisionThreshold) -> str:
    return correlation(threshold.value) if threshold.value else "0"


def settled_by(decision: UseDecision) -> str | None:
    """What would settle an open answer; None for one that more data would not change."""
    if decision.answer in {"yes", "no", "not_applicable"}:
        return None
    if decision.missing is not None:
        return f"needed first: {decision.missing}"
    further = decision.further_queries
    rated = max((f.estimate.n_queries for f in decision.figures), default=0)
    if further is not None and further <= PRACTICAL * max(1, rated):
        return (
            f"about {counted(further, 'more query', 'more queries')} rated by these raters would "
            "tell, if the figures stay as they are; see `ccrs plan`"
        )
    if decision.further_raters:
        return "more raters would tell, more queries alone would not; see `ccrs plan`"
    if further is not None:
        return "the figure is too close to its threshold for any practical number of queries"
    return None


def as_record(described: Described, decision: UseDecision) -> dict[str, Any]:
    """The decision as report.json has it."""
    threshold = None if decision.binding is None else decision.binding.threshold
    return {
        "construct": decision.construct,
        "scorer": decision.scorer,
        "use": decision.use,
        "answer": decision.answer,
        "deciding": {
            "sentence": sentence(described, decision),
            "weakest_construct": decision.weakest,
            "limits": list(decision.limits),
            "figures": [_figure(figure, decision) for figure in decision.figures],
        },
        "threshold": None
        if threshold is None
        else {
            "name": threshold.name,
            "value": threshold.value,
            "declared": threshold.declared,
        },
        "settle": settled_by(decision),
    }


def _figure(figure: DecidingFigure, decision: UseDecision) -> dict[str, Any]:
    e = figure.estimate
    return {
        "statistic": e.statistic,
        "construct": e.constructs[0],
        "systems": list(e.systems),
        "scope": e.scope,
        "target": e.target,
        "value": _null(e.value),
        "ci_low": _null(e.ci_low),
        "ci_high": _null(e.ci_high),
        "n_queries": e.n_queries,
        "n_raters": e.n_raters,
        "minimum": figure.threshold.minimum,
        "maximum": figure.threshold.maximum,
        "p": _null(figure.p),
        "binding": figure is decision.binding,
    }


def _null(value: float) -> float | None:
    return value if math.isfinite(value) else None


def corrected_sentence(described: Described, corrected: CorrectedMeans) -> str:
    """What corrected means give, in one sentence."""
    scale = described.human_scale(corrected.construct)
    if math.isnan(corrected.half_width):
        return f"no corrected mean: {corrected.reason or 'it has no interval'}"
    # A half-width that is not 0 is not printed as 0, whatever the unknown scale.
    sided = [w for w in (corrected.half_width, corrected.ratings_alone) if not math.isnan(w)]
    alone = ""
    if not math.isnan(corrected.ratings_alone):
        alone = f", ±{amount(corrected.ratings_alone, scale, sided)} by the ratings alone"
    return (
        f"the corrected mean is known to ±{amount(corrected.half_width, scale, sided)}{alone} "
        f"({counted(corrected.n_ratings, 'rated response')})"
    )


def corrected_record(described: Described, corrected: CorrectedMeans) -> dict[str, Any]:
    """The corrected means as report.json has them."""
    return {
        "construct": corrected.construct,
        "scorer": corrected.scorer,
        "half_width": _null(corrected.half_width),
        "ratings_alone": _null(corrected.ratings_alone),
        "n_ratings": corrected.n_ratings,
        "sentence": corrected_sentence(described, corrected),
    }
