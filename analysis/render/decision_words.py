"""Decisions in words, and as report.json has them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from analysis.core.statistic import Target
from analysis.decisions.described import Described
from analysis.decisions.records import (
    Answer,
    CorrectedMeans,
    DecidingFigure,
    DecisionThreshold,
    Use,
    UseDecision,
)
from analysis.decisions.standards import ALPHA, LIKELY
from analysis.render.formatting import (
    amount,
    between,
    correlation,
    counted,
    p_value,
    percent,
    percents,
    points,
    threshold_amount,
)

USE_WORDS: dict[Use, str] = {
    "rank_systems": "Rank systems",
    "rank_all_systems": "Rank all systems",
    "choose_between_responses": "Choose between two responses",
    "order_responses": "Order responses",
    "report_level": "Report a level",
    "replace_rater": "Stand in for a rater",
}
COLUMNS: dict[Use, str] = {
    "rank_systems": "Rank",
    "rank_all_systems": "Rank all",
    "choose_between_responses": "Choose",
    "order_responses": "Order",
    "report_level": "Level",
    "replace_rater": "Stand in",
}
"""Short headings of columns of answers, in the order of the uses."""

LIMITED = "* marks an answer with a limit"
OF_THESE = "the table is for these raters"
ANSWER_WORDS: dict[Answer, str] = {
    "yes": "yes",
    "likely": "likely",
    "open": "open",
    "unlikely": "unlikely",
    "no": "no",
    "not_applicable": "not asked",
}
TARGET_WORDS: dict[Target, str] = {
    "these_raters": "for these raters",
    "raters_like_these": "for raters like these",
}

#: Answers that more data may change.
FOR_BOTH = "{}, for these raters and raters like these"

UNSETTLED: tuple[Answer, ...] = ("likely", "open", "unlikely")

#: More queries than this many times those rated are not proposed.
PRACTICAL = 50

#: Characters of a reason up to which it is shown with its details.
LONGEST_REASON = 120
_DETAILS = re.compile(r" \([^()]*\)")


def answer_word(decision: UseDecision) -> str:
    """The answer, with its probability where it is neither yes nor no: 'likely, 86%'."""
    word = ANSWER_WORDS[decision.answer]
    return word if decision.probability is None else f"{word}, {_chance(decision.probability)}"


def in_one_cell(decision: UseDecision | None) -> str:
    """The answer in a table, such as 'likely 86%'."""
    word = ANSWER_WORDS["not_applicable"] if decision is None else answer_word(decision)
    return word.replace(",", "")


def _chance(probability: float) -> str:
    """Whole percent, never 0 or 100, on the side of .2 and .8 where the number is."""
    if probability < 0.005:
        return "<1%"
    if probability > 0.995:
        return ">99%"
    if 1 - LIKELY < probability < LIKELY:
        return f"{min(max(probability, 1 - LIKELY + 0.01), LIKELY - 0.01):.0%}"
    return f"{probability:.0%}"


def name_of_use(decision: UseDecision, decisions: Sequence[UseDecision]) -> str:
    """The use, with the raters it is about where the judge has answers about two kinds."""
    own = {d.target for d in decisions if (d.use, d.scorer) == (decision.use, decision.scorer)}
    name = USE_WORDS[decision.use]
    return f"{name}, {TARGET_WORDS[decision.target]}" if len(own) > 1 else name


def sentence(described: Described, decision: UseDecision) -> str:
    """The figure that decides, with its threshold, and what qualifies the answer."""
    whose = "" if decision.weakest is None else f"{described.full_name(decision.weakest)}: "
    if decision.answer == "not_applicable":
        return f"the table does not tell: {decision.missing}."
    if decision.missing is not None:
        return f"{whose}not known, since {shortened(decision.missing)}."
    text = whose
    if decision.binding is not None:
        figure = phrase(described, decision.binding)
        if _other_level(decision.binding):
            end = figure.rfind("]") + 1 or len(figure)
            level = _level(decision.binding.estimate.ci_level)
            figure = f"{figure[:end]} ({level}){figure[end:]}"
        text += figure
    if decision.unshown and decision.probability is not None:
        text += f"; {_chance(decision.probability)} is {_chance_of(decision)}"
    if decision.limits and decision.answer != "no":
        text += f"; {', and '.join(decision.limits)}"
    return f"{text}."


def _chance_of(decision: UseDecision) -> str:
    """What the probability is of, where it leaves out what a yes must show besides."""
    on = " on every construct" if decision.weakest is not None else ""
    return f"the chance of that{on}, not of telling systems apart"


def _other_level(figure: DecidingFigure) -> bool:
    """Whether the interval is wider than that of a single answer."""
    level = figure.estimate.ci_level
    return level is not None and round(level, 6) != round(1 - 2 * ALPHA, 6)


def _level(level: float | None) -> str:
    """The level of an interval, never rounded to 100%: '98%', '99.9%', '99.98%'."""
    if level is None:
        return ""
    digits = 1
    while level < 1 and float(f"{100 * level:.{digits}f}") == 100:
        digits += 1
    return f"{level:.{digits}%}".replace(".0%", "%")


def shortened(reason: str) -> str:
    """A long reason without its details in parentheses, which the estimate has."""
    return reason if len(reason) <= LONGEST_REASON else _DETAILS.sub("", reason)


def answers_reading(described: Described, decisions: Sequence[UseDecision]) -> str:
    """What the answers mean, and which intervals they are shown with."""
    several = len({d.construct for d in decisions if d.construct is not None}) > 1
    whole = " on the judge as a whole" if several else ""
    text = (
        f"Yes and no{whole} are each false with a probability of at most {ALPHA:.0%}: the interval "
        "of every figure that decides is on that side of its threshold."
    )
    if any(d.probability is not None for d in decisions):
        text += " Likely, open and unlikely give the chance that the use meets its standard."
    if any(d.target == "raters_like_these" for d in decisions):
        text += " These raters are the panel as it is; raters like these are drawn as they were."
    wider = any(d.binding is not None and _other_level(d.binding) for d in decisions)
    stated = (
        ", or of the level beside them, which allows for the number of answers and of systems,"
        if wider
        else ""
    )
    if any(settled_by(d) for d in decisions):
        text += " What would decide an answer assumes that the figures stay as they are."
    return (
        f"{text} Square brackets are {1 - 2 * ALPHA:.0%} intervals in answers{stated} and "
        f"{described.level:.0%} intervals elsewhere."
    )


def phrase(described: Described, figure: DecidingFigure) -> str:
    """One figure with its interval and its threshold."""
    own = {"choice_regret": _of_choice, "decision": _of_pair, "bias": _of_bias}
    of_statistic = own.get(figure.estimate.statistic)
    return _in_words(figure) if of_statistic is None else of_statistic(described, figure)


def _of_bias(described: Described, figure: DecidingFigure) -> str:
    e, scale = figure.estimate, described.human_scale(figure.estimate.constructs[0])
    on = f" on {e.scope.removeprefix('system:')}" if e.systems else ""
    value = amount(e.value, scale, (e.ci_low, e.ci_high))
    margin = threshold_amount(figure.threshold.value, scale)
    return f"bias{on} {value} {between(e, scale, in_points=True)}, allowed are ±{margin}"


def _in_words(figure: DecidingFigure) -> str:
    """A figure without a scale."""
    e, threshold = figure.estimate, figure.threshold
    if e.statistic == "alt_test_winning_rate":
        return (
            f"the alternative annotator test shows that it may replace {percent(e.value)} of "
            f"{counted(e.n_raters, 'rater')}, {percent(threshold.value)} are needed "
            f"({p_value(figure.p)})"
        )
    if e.statistic in {"true_positive_rate", "true_negative_rate"}:
        name = e.statistic.replace("_", " ")
        return f"{name} {correlation(e.value)} {between(e)}, at least {_number(threshold)}"
    if e.statistic == "majority_accuracy":
        return (
            f"its choice is that of {'the rater' if e.n_raters == 1 else 'most raters'} in "
            f"{percent(e.value)} of the pairs {percents(e)}, at least {percent(threshold.value)}"
        )
    if e.statistic == "concordance":
        of = " to one query" if e.scope == "within_query" else ""
        return (
            f"{percent(e.value)} of pairs{of} ordered alike {percents(e)}, at least "
            f"{percent(threshold.value)}"
        )
    if e.statistic == "concordance_difference":
        of = " to one query" if e.scope == "within_query" else ""
        judge, repeat = (float(str(e.params[key])) for key in ("judge", "repeat"))
        return (
            f"{percent(judge)} of pairs{of} ordered as the rater's first ratings do, "
            f"{percent(repeat)} by the rater's own repeat: {correlation(e.value)} {between(e)}, at "
            f"least {_number(threshold)}"
        )
    where = "within a query" if e.scope == "within_query" else "over all responses"
    names = {
        "human_ceiling_difference": f"tau-b {where} minus that of one of these raters",
        "average_rater_difference": f"tau-b {where} minus the average rater's",
        "pairwise_accuracy_difference": "share of pairs ordered as people do minus a rater's",
        "kendall_tau_b": f"tau-b {where}",
        "majority_accuracy_difference": "accuracy against the majority minus a rater's",
        "kappa_difference": "kappa minus that of two raters",
    }
    limit = "above" if threshold.value == 0 else "at least"
    return (
        f"{names[e.statistic]} {correlation(e.value)} {between(e)}, {limit} {_number(threshold)} "
        "is required"
    )


def _of_choice(described: Described, figure: DecidingFigure) -> str:
    e, threshold = figure.estimate, figure.threshold
    scale = described.human_scale(e.constructs[0])
    ends = (e.ci_low, e.ci_high)
    best = ", which people find best as well," if e.ci_high <= 0 else ""
    judged = e.params.get("judged_queries")
    known = (
        f" (ratings of {e.n_queries:,} of {judged:,} judged queries, corrected by the judge)"
        if isinstance(judged, int)
        else ""
    )
    return (
        f"choosing {e.systems[0]}{best} as the judge does costs {amount(e.value, scale, ends)} "
        f"{between(e, scale, in_points=True)} of people's mean{known}, allowed are "
        f"{threshold_amount(threshold.value, scale)}"
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
    return (
        f"{pair}; choosing by the judge may cost at most {threshold_amount(threshold.value, scale)}"
    )


def _number(threshold: DecisionThreshold) -> str:
    return correlation(threshold.value) if threshold.value else "0"


def settled_by(decision: UseDecision) -> str | None:
    """What would settle an open answer; None for one that more data would not change."""
    if decision.answer in {"yes", "no", "not_applicable"}:
        return None
    if decision.missing is not None:
        return f"needed first: {decision.missing}"
    further = _practical_queries(decision)
    if further is not None:
        return (
            f"about {counted(further, 'more query', 'more queries')} rated by these raters would "
            "decide it (`ccrs plan`)"
        )
    if decision.further_raters:
        number = decision.raters_needed
        who = "more raters" if number is None else f"about {counted(number, 'rater')} like these"
        return f"{who} would decide it, more queries alone would not (`ccrs plan`)"
    if decision.further_queries is not None and decision.answer == "open":
        return "the figure is too close to its threshold for any practical number of queries"
    return None


def further_data(decision: UseDecision) -> str | None:
    """The number of more queries or raters that would settle an answer: '110 more queries'."""
    if decision.answer in {"yes", "no", "not_applicable"} or decision.missing is not None:
        return None
    further = _practical_queries(decision)
    if further is not None:
        return counted(further, "more query", "more queries")
    if decision.further_raters:
        number = decision.raters_needed
        return "more raters" if number is None else f"{counted(number, 'rater')} like these"
    return None


def _practical_queries(decision: UseDecision) -> int | None:
    """How many further queries would settle an answer, where that many may be rated."""
    further = decision.further_queries
    rated = max((f.estimate.n_queries for f in decision.figures), default=0)
    return further if further is not None and further <= PRACTICAL * max(1, rated) else None


def as_record(described: Described, decision: UseDecision) -> dict[str, Any]:
    """The decision as report.json has it."""
    threshold = None if decision.binding is None else decision.binding.threshold
    return {
        "construct": decision.construct,
        "scorer": decision.scorer,
        "use": decision.use,
        "target": decision.target,
        "answer": decision.answer,
        "probability": decision.probability,
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
        "ci_level": e.ci_level if e.has_interval else None,
        "n_queries": e.n_queries,
        "n_raters": e.n_raters,
        "minimum": figure.threshold.minimum,
        "maximum": figure.threshold.maximum,
        "p": _null(figure.p),
        "probability": _null(figure.probability),
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
