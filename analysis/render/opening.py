"""The lines that a report begins with: what was compared, how far it agrees, and the answers.

The terminal, the page, Python and a notebook show the same. Only names, scales, figures and
decisions are needed, so that they can be printed before the rest of a report is computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from analysis.core.estimates import Estimate, EstimateList
from analysis.core.statistic import ORDER
from analysis.decisions.described import Described
from analysis.decisions.facts import ScoredFacts
from analysis.decisions.patterns import note_on_rater, reversed_order, reversed_rater
from analysis.decisions.records import UseDecision
from analysis.decisions.standards import RATERS_OF_A_KIND
from analysis.render.answer_lines import AnswerLine, answer_lines, shared_remarks
from analysis.render.decision_words import USE_WORDS, shortened
from analysis.render.formatting import (
    amount,
    between,
    counted,
    listed,
)
from analysis.render.sentences import Fact, fact, in_words
from study.base.scales import Scale

#: More raters are counted and not named.
_RATERS_NAMED = 4

_BIAS, _LIKE_THESE = "Bias: ", " for raters like these"


@dataclass(frozen=True)
class ConstructOpening:
    """The agreement on one construct, with what a person would see in the scores."""

    name: str
    agreement: tuple[str, ...]
    confusion: tuple[tuple[str, ...], ...] = ()
    """Rows of the confusion matrix, the heading first; empty where people grade."""
    patterns: tuple[str, ...] = ()


@dataclass(frozen=True)
class JudgeOpening:
    """The first lines about one judge."""

    scorer: str
    compared: str
    constructs: tuple[ConstructOpening, ...]
    answers: tuple[AnswerLine, ...]
    """For the judge as a whole; what cannot be asked of the table is left out."""
    remarks: str | None
    """What qualifies all answers."""
    not_asked: str | None


def openings(
    described: Described,
    estimates: EstimateList,
    facts: Sequence[ScoredFacts],
    decisions: Sequence[UseDecision],
) -> list[JudgeOpening]:
    """The first lines about each judge, in the order of the facts."""
    results = []
    for scorer in dict.fromkeys(of.scorer for of in facts):
        own = [of for of in facts if of.scorer == scorer]
        scorer_decisions = [d for d in decisions if d.scorer == scorer]
        whole = [d for d in scorer_decisions if d.construct is None]
        compared, constructs = _said_once(
            _compared(described, own), [_construct_opening(described, estimates, of) for of in own]
        )
        results.append(
            JudgeOpening(
                scorer,
                compared,
                constructs,
                tuple(answer_lines(described, scorer_decisions)),
                shared_remarks(whole),
                _not_asked(whole),
            )
        )
    return results


def _said_once(
    compared: str, constructs: Sequence[ConstructOpening]
) -> tuple[str, tuple[ConstructOpening, ...]]:
    """What was compared, with the raters that the bias on each of several constructs is about."""
    bias_lines = [line for of in constructs for line in of.agreement if line.startswith(_BIAS)]
    if len(bias_lines) < 2 or not all(line.endswith(_LIKE_THESE) for line in bias_lines):
        return compared, tuple(constructs)
    shorter = (
        replace(of, agreement=tuple(line.removesuffix(_LIKE_THESE) for line in of.agreement))
        for of in constructs
    )
    return f"{compared} Bias is{_LIKE_THESE}.", tuple(shorter)


def lines(opening: JudgeOpening) -> Iterator[str]:
    """The first lines as plain text, one item a line."""
    yield opening.compared
    several = len(opening.constructs) > 1
    for of in opening.constructs:
        if several:
            yield f"  {in_one_line(of)}"
        else:
            yield from (f"  {line}" for line in of.agreement)
        yield from (f"  {row}" for row in table_lines(of.confusion))
        yield from (f"  Note: {pattern}." for pattern in of.patterns)
    if opening.answers:
        yield f"Can {opening.scorer} be used to ..."
    for answer in opening.answers:
        yield f"  {answer.name}: {answer.word}. {answer.why}"
        if answer.settle is not None:
            yield f"    {answer.settle}."
        if answer.on_some is not None:
            yield f"    {answer.on_some}"
    yield from filter(None, (opening.remarks, opening.not_asked))


def in_one_line(of: ConstructOpening) -> str:
    """The agreement on one of several constructs."""
    return f"{of.name}: {'; '.join(line[0].lower() + line[1:] for line in of.agreement)}"


def table_lines(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows of cells as lines of equal columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        first, *others = (
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join([first, *others]).rstrip()


def _compared(described: Described, facts: Sequence[ScoredFacts]) -> str:
    """What was compared: the scorer, the people, the responses and the scale."""
    first = max(facts, key=lambda of: of.n_responses)
    if all(of.reference_missing for of in facts):
        return in_words(fact("nothing_compared", scorer=first.scorer))
    where = {
        f" to {counted(first.n_queries, 'query', 'queries')}": first.several_a_query,
        f" by {counted(len(first.systems), 'system')}": len(first.systems) > 1,
        f", {counted(len(facts), 'construct')}": len(facts) > 1,
    }
    return in_words(
        fact(
            "compared",
            scorer=first.scorer,
            people=_people(facts, first),
            n=first.n_responses,
            where="".join(text for text, several in where.items() if several),
            scale=_scale(described, facts),
        )
    )


def _people(facts: Sequence[ScoredFacts], first: ScoredFacts) -> str:
    # Each construct may have raters of its own.
    names = tuple(dict.fromkeys(name for of in facts for name in of.people))
    n_raters = first.n_raters if first.adjudicated else max(first.n_raters, len(names))
    if n_raters > _RATERS_NAMED:
        return counted(n_raters, "rater")
    if first.adjudicated:
        return "the adjudicated values"
    return f"{counted(n_raters, 'rater')} ({listed(names)})" if n_raters > 1 else listed(names)


def _scale(described: Described, facts: Sequence[ScoredFacts]) -> str:
    scales = {described.human_scale(of.construct) for of in facts}
    if len(scales) > 1:
        return "scales differ between constructs"
    (scale,) = scales
    if scale is None:
        return "no scale is declared"
    if scale.level == "nominal":
        return "categories"
    own = [described.scorer_scale(of.construct, of.scorer) for of in facts]
    verdicts = scale.binary and (scale.min, scale.max) == (0, 1)
    words = "pass or fail" if verdicts else f"scale {scale}"
    other = next((s for s in own if s is not None and not s.same_points(scale)), None)
    return words if other is None else f"{words}, the judge's {other}"


def _construct_opening(
    described: Described, estimates: EstimateList, of: ScoredFacts
) -> ConstructOpening:
    figures = _Figures(estimates, of)
    agreement: Iterable[Fact | str]
    if of.reference_missing:
        agreement = [of.reference_missing[0].upper() + of.reference_missing[1:]]
    elif of.nominal:
        agreement = _on_categories(figures)
    elif figures.first("true_positive_rate") is not None:
        agreement = _on_verdicts(figures)
    else:
        agreement = _on_grades(described, figures)
    reversed_note = reversed_order(figures.first(ORDER, scope=of.scope))
    rater = reversed_rater(estimates.select("rater_against_others"), of)
    rater_note = None if rater is None else note_on_rater(rater)
    patterns = [note for note in (of.pattern or reversed_note, rater_note) if note]
    return ConstructOpening(
        described.full_name(of.construct),
        tuple(line if isinstance(line, str) else in_words(line) for line in agreement),
        tuple(_confusion(figures)),
        tuple(patterns),
    )


@dataclass(frozen=True)
class _Figures:
    """The figures of one judge on one construct."""

    estimates: EstimateList
    of: ScoredFacts

    def first(self, statistic: str, **where: str) -> Estimate | None:
        """The first estimate, whether it is defined or not."""
        return self.estimates.first(
            statistic, construct=self.of.construct, scorer=self.of.scorer, **where
        )

    def and_(self, name: str, statistic: str, **where: str) -> Fact | None:
        """A further figure of a line; None where it is not defined."""
        e = self.first(statistic, **where)
        return fact(name, e=e) if e is not None and e.defined else None


def _on_grades(described: Described, figures: _Figures) -> Iterator[Fact]:
    """Order, equal grades and level."""
    scope, scale = figures.of.scope, described.human_scale(figures.of.construct)
    to_one = " to one query" if scope == "within_query" else ""
    alike = figures.first("concordance", scope=scope)
    if alike is not None and alike.defined:
        few = _few_compared(figures, alike) if to_one else None
        tau = figures.and_("and_tau", ORDER, scope=scope)
        yield fact("alike", to_one=to_one, e=alike, few=few, tau=tau)
    else:
        yield fact("order_undefined", reason=(alike and alike.reason) or "no pair")
    yield from _on_equal_grades(figures, scale)
    bias = _bias(figures)
    if bias is not None and not bias.defined:
        yield fact("level_undefined", reason=bias.reason)
    elif bias is not None:
        yield fact(
            "level",
            plus="+" if bias.value > 0 else "",
            amount=amount(bias.value, scale, (bias.ci_low, bias.ci_high)),
            interval=between(bias, scale, in_points=True),
            whom=_LIKE_THESE if bias.target == "raters_like_these" else "",
        )


def _on_equal_grades(figures: _Figures, scale: Scale | None) -> Iterator[Fact]:
    equal, near = (figures.first(f"{which}_agreement") for which in ("exact", "adjacent"))
    if equal is not None and equal.defined:
        step = "point" if scale is None or (scale.step or 1) == 1 else "step"
        within = None if near is None or not near.defined else fact("and_near", step=step, e=near)
        yield fact("same_value", e=equal, near=within)


def _few_compared(figures: _Figures, e: Estimate) -> Fact | None:
    """How many queries have pairs, where fewer than half of them do."""
    few = 2 * e.n_queries < figures.of.n_queries
    return fact("few_compared", compared=e.n_queries, n=figures.of.n_queries) if few else None


def _bias(figures: _Figures) -> Estimate | None:
    """The bias that the answer on the level rests on: for raters like these, where there are."""
    panel, further = (
        figures.first("bias", scope="pooled", target=target)
        for target in ("these_raters", "raters_like_these")
    )
    few = figures.of.n_raters < RATERS_OF_A_KIND
    if figures.of.one_rating or few or further is None or not further.has_interval:
        return panel
    return further


def _on_verdicts(figures: _Figures) -> Iterator[Fact | str]:
    """What the judge does with what people pass and fail."""
    rates = {"passed": "true_positive_rate", "failed": "true_negative_rate"}
    parts = [figures.and_(name, rate) for name, rate in rates.items()]
    text = "; ".join(in_words(part) for part in parts if part is not None)
    if text:
        yield text[0].upper() + text[1:]
    for rate in rates.values():
        e = figures.first(rate)
        if e is not None and not e.defined and e.reason:
            yield f"{e.reason[0].upper()}{e.reason[1:]}"
    accuracy = figures.first("accuracy")
    if accuracy is not None and accuracy.defined:
        kappa = figures.and_("and_kappa", "verdict_kappa")
        yield fact("accuracy", e=accuracy, kappa=kappa, ac1=None)


def _on_categories(figures: _Figures) -> Iterator[Fact]:
    equal = figures.first("equal_categories")
    if equal is not None and equal.defined:
        yield fact("categories", e=equal, kappa=figures.and_("and_kappa", "cohen_kappa"))


def _confusion(figures: _Figures) -> Iterator[tuple[str, ...]]:
    """Counts of people's verdicts (rows) and the judge's (columns)."""
    cells = figures.estimates.select(
        "verdict_confusion", construct=figures.of.construct, scorer=figures.of.scorer
    )
    counts = {(e.params["people"], e.params["judge"]): e.params["count"] for e in cells}
    if not counts:
        return
    yield "", "judge: pass", "judge: fail"
    for people in ("pass", "fail"):
        numbers = (float(str(counts.get((people, judge), 0))) for judge in ("pass", "fail"))
        yield (f"people: {people}", *(f"{number:,g}" for number in numbers))


def _not_asked(whole: Sequence[UseDecision]) -> str | None:
    """The uses that the table cannot be asked about, in one line."""
    reasons: dict[str, list[str]] = {}
    for d in whole:
        if d.answer == "not_applicable" and d.missing is not None:
            reasons.setdefault(shortened(d.missing), []).append(USE_WORDS[d.use].lower())
    if len(reasons) == 1 and len(whole) == len(next(iter(reasons.values()))):
        return in_words(fact("no_answer", reason=next(iter(reasons))))
    left_out = [
        f"{listed(uses)} ({reason})"
        for reason, uses in reasons.items()
        if uses != [USE_WORDS["order_responses"].lower()]
    ]
    return in_words(fact("not_asked", uses="; ".join(left_out))) if left_out else None


def scale_words(scale: Scale) -> str:
    """A scale as it is declared, for a line that says how values were understood."""
    step = "" if scale.step is None else f":{scale.step:g}"
    return f"{scale.min:g}:{scale.max:g}{step}"
