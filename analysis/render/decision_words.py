"""Decisions in words, and as report.json has them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from analysis.core.estimates import Estimate
from analysis.core.statistic import Target
from analysis.decisions.described import Described
from analysis.decisions.records import (
    Answer,
    CorrectedMeans,
    DecidingFigure,
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
    points,
    threshold_amount,
)
from analysis.render.sentence_templates import SCOPES
from analysis.render.sentences import Fact, fact, in_words

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
        return in_words(fact("not_told", reason=decision.missing))
    if decision.missing is not None:
        return in_words(fact("not_known", whose=whose, reason=shortened(decision.missing)))
    limits = decision.limits if decision.answer != "no" else ()
    return in_words(
        fact(
            "decided",
            whose=whose,
            figure=_deciding(described, decision),
            chance=_chance_left_open(decision),
            limits=f"; {', and '.join(limits)}" if limits else "",
        )
    )


def _deciding(described: Described, decision: UseDecision) -> str:
    """The figure that decides, with the level of its interval where that is another one."""
    if decision.binding is None:
        return ""
    figure = phrase(described, decision.binding)
    if not _other_level(decision.binding):
        return figure
    end = figure.rfind("]") + 1 or len(figure)
    return f"{figure[:end]} ({_level(decision.binding.estimate.ci_level)}){figure[end:]}"


def _chance_left_open(decision: UseDecision) -> Fact | None:
    """What the probability is of, where it leaves out what a yes must show besides."""
    if not decision.unshown or decision.probability is None:
        return None
    name = "chance_on_one" if decision.weakest is None else "chance_on_all"
    return fact(name, chance=_chance(decision.probability))


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
    wider = any(d.binding is not None and _other_level(d.binding) for d in decisions)
    stated = {
        "chances": any(d.probability is not None for d in decisions),
        "both_targets": any(d.target == "raters_like_these" for d in decisions),
        "figures_stay": any(settled_by(d) for d in decisions),
    }
    found = (
        fact("yes_and_no", whole=" on the judge as a whole" if several else "", alpha=ALPHA),
        *(fact(name) for name, holds in stated.items() if holds),
        fact(
            "answer_brackets",
            answers=1 - 2 * ALPHA,
            wider=fact("wider_brackets") if wider else None,
            level=described.level,
        ),
    )
    return "".join(map(in_words, found))


def phrase(described: Described, figure: DecidingFigure) -> str:
    """One figure with its interval and its threshold."""
    e, threshold = figure.estimate, figure.threshold.value
    within = e.scope == "within_query"
    slots = {
        "e": e,
        "threshold": threshold,
        "least": correlation(threshold) if threshold else "0",
        "above": "at least" if threshold else "above",
        "p": p_value(figure.p),
        "where": SCOPES["within_query" if within else "pooled"],
        "to_one": " to one query" if within else "",
    }
    if e.statistic in {"bias", "choice_regret", "decision"}:
        # Preferences have no scale.
        slots |= _in_points(described, figure)
    own = {
        "choice_regret": _choice_words,
        "decision": _pair_words,
        "concordance_difference": _repeat_words,
    }
    further = own[e.statistic](described, e) if e.statistic in own else {}
    return in_words(Fact(e.statistic, slots | further))


def _in_points(described: Described, figure: DecidingFigure) -> dict[str, object]:
    e, scale = figure.estimate, described.human_scale(figure.estimate.constructs[0])
    return {
        "margin": threshold_amount(figure.threshold.value, scale),
        "amount": amount(e.value, scale, (e.ci_low, e.ci_high)),
        "interval": between(e, scale, in_points=True),
        "on": f" on {e.scope.removeprefix('system:')}" if e.systems else "",
    }


def _repeat_words(_: Described, e: Estimate) -> dict[str, object]:
    return {key: float(str(e.params[key])) for key in ("judge", "repeat")}


def _choice_words(_: Described, e: Estimate) -> dict[str, object]:
    judged = e.params.get("judged_queries")
    of = fact("ratings_of", rated=e.n_queries, judged=judged) if isinstance(judged, int) else None
    return {"best": ", which people find best as well," if e.ci_high <= 0 else "", "known": of}


def _pair_words(described: Described, e: Estimate) -> dict[str, object]:
    construct = e.constructs[0]
    scales = {
        "people": described.human_scale(construct),
        "judge": described.scorer_scale(construct, e.scorers[0]),
    }
    sides: dict[str, object] = {}
    for side, on in scales.items():
        values = [e.params.get(key) for key in (side, f"{side}_low", f"{side}_high")]
        value, *ends = [math.nan if v is None else float(v) for v in values]
        interval = f" [{', '.join(points(end, on, 1) for end in ends)}]"
        sides[side] = points(value, on, 1) + (interval if not math.isnan(ends[0]) else "")
    return sides


def settled_by(decision: UseDecision) -> str | None:
    """What would settle an open answer; None for one that more data would not change."""
    if decision.answer in {"yes", "no", "not_applicable"}:
        return None
    if decision.missing is not None:
        return in_words(fact("needed_first", reason=decision.missing))
    further = further_data(decision)
    if further is None:
        close = decision.further_queries is not None and decision.answer == "open"
        return in_words(fact("too_close")) if close else None
    if _practical_queries(decision) is not None:
        return in_words(fact("more_queries", further=further))
    about = "about " if decision.raters_needed is not None else ""
    return in_words(fact("more_raters", about=about, further=further))


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
    width, alone = corrected.half_width, corrected.ratings_alone
    if math.isnan(width):
        return in_words(fact("no_corrected_mean", reason=corrected.reason or "it has no interval"))
    # A half-width that is not 0 is not printed as 0, whatever the unknown scale.
    sided = [w for w in (width, alone) if not math.isnan(w)]
    by_ratings = fact("by_ratings_alone", width=amount(alone, scale, sided))
    return in_words(
        fact(
            "corrected_mean",
            width=amount(width, scale, sided),
            alone=None if math.isnan(alone) else by_ratings,
            n=corrected.n_ratings,
        )
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
