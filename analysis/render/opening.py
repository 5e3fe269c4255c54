"""The lines that a report begins with: what was compared, how far it agrees, and the answers.

The terminal, the page, Python and a notebook show the same. Only names, scales, figures and
decisions are needed, so that they can be printed before the rest of a report is computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from analysis.core.estimates import Estimate, EstimateList
from analysis.core.statistic import ORDER
from analysis.decisions.described import Described
from analysis.decisions.facts import ScoredFacts
from analysis.decisions.patterns import note_on_rater, reversed_order, reversed_rater
from analysis.decisions.records import UseDecision
from analysis.decisions.standards import RATERS_OF_A_KIND
from analysis.render.answer_lines import AnswerLine, answer_lines, shared_remarks
from analysis.render.decision_words import (
    USE_WORDS,
    shortened,
)
from analysis.render.formatting import (
    amount,
    between,
    correlation,
    counted,
    listed,
    percent,
    percents,
)
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
        of_scorer = [d for d in decisions if d.scorer == scorer]
        whole = [d for d in of_scorer if d.construct is None]
        compared, constructs = _said_once(
            _compared(described, own), [_of_construct(described, estimates, of) for of in own]
        )
        results.append(
            JudgeOpening(
                scorer,
                compared,
                constructs,
                tuple(answer_lines(described, of_scorer)),
                shared_remarks(whole),
                _not_asked(whole),
            )
        )
    return results


def _said_once(
    compared: str, constructs: Sequence[ConstructOpening]
) -> tuple[str, tuple[ConstructOpening, ...]]:
    """What was compared, with the raters that the bias on each of several constructs is about."""
    of_bias = [line for of in constructs for line in of.agreement if line.startswith(_BIAS)]
    if len(of_bias) < 2 or not all(line.endswith(_LIKE_THESE) for line in of_bias):
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
        return f"{first.scorer}: there are no ratings by people to compare its scores with."
    # Each construct may have raters of its own.
    names = tuple(dict.fromkeys(name for of in facts for name in of.people))
    people = "the adjudicated values" if first.adjudicated else listed(names)
    n_raters = first.n_raters if first.adjudicated else max(first.n_raters, len(names))
    if n_raters > _RATERS_NAMED:
        people = counted(n_raters, "rater")
    elif n_raters > 1:
        people = f"{counted(n_raters, 'rater')} ({people})"
    where = counted(first.n_responses, "response")
    if first.several_a_query:
        where += f" to {counted(first.n_queries, 'query', 'queries')}"
    if len(first.systems) > 1:
        where += f" by {counted(len(first.systems), 'system')}"
    on = f", {counted(len(facts), 'construct')}" if len(facts) > 1 else ""
    return f"{first.scorer} compared with {people}: {where}{on}; {_scale(described, facts)}."


def _scale(described: Described, facts: Sequence[ScoredFacts]) -> str:
    scales = {described.human_scale(of.construct) for of in facts}
    if len(scales) > 1:
        return "scales differ between constructs"
    (scale,) = scales
    if scale is None:
        return "no scale is declared"
    if scale.level == "nominal":
        return "categories"
    own = {described.scorer_scale(of.construct, of.scorer) for of in facts}
    words = (
        "pass or fail" if scale.binary and (scale.min, scale.max) == (0, 1) else f"scale {scale}"
    )
    other = next((s for s in own if s is not None and not s.same_points(scale)), None)
    return f"{words}, the judge's {other}" if other is not None else words


def _of_construct(
    described: Described, estimates: EstimateList, of: ScoredFacts
) -> ConstructOpening:
    figures = _Figures(estimates, of)
    if of.reference_missing:
        agreement = [of.reference_missing[0].upper() + of.reference_missing[1:]]
    elif of.nominal:
        agreement = list(_on_categories(figures))
    elif figures.first("true_positive_rate") is not None:
        agreement = list(_on_verdicts(figures))
    else:
        agreement = list(_on_grades(described, figures))
    reversed_note = reversed_order(figures.first(ORDER, scope=of.scope))
    rater = reversed_rater(estimates.select("rater_against_others"), of)
    of_rater = None if rater is None else note_on_rater(rater)
    patterns = [note for note in (of.pattern or reversed_note, of_rater) if note]
    return ConstructOpening(
        described.full_name(of.construct),
        tuple(agreement),
        tuple(_confusion(figures)),
        tuple(patterns),
    )


@dataclass(frozen=True)
class _Figures:
    """The figures of one judge on one construct."""

    estimates: EstimateList
    of: ScoredFacts

    def first(self, statistic: str, **where: str) -> Estimate | None:
        return self.estimates.first(
            statistic, construct=self.of.construct, scorer=self.of.scorer, **where
        )

    def share(self, statistic: str, **where: str) -> str | None:
        """A share with its interval, such as 84% [79%, 88%]."""
        e = self.first(statistic, **where)
        return None if e is None or not e.defined else f"{percent(e.value)} {percents(e)}".rstrip()

    def coefficient(self, statistic: str, **where: str) -> str | None:
        """A correlation or kappa with its interval, such as .62 [.52, .70]."""
        e = self.first(statistic, **where)
        if e is None or not e.defined:
            return None
        return f"{correlation(e.value)} {between(e)}".rstrip()


def _on_grades(described: Described, figures: _Figures) -> Iterator[str]:
    """Order, equal grades and level."""
    scope = figures.of.scope
    to_one = " to one query" if scope == "within_query" else ""
    alike = figures.share("concordance", scope=scope)
    tau = figures.coefficient(ORDER, scope=scope)
    if alike is None:
        e = figures.first("concordance", scope=scope)
        yield f"Order: not defined, {e.reason if e is not None and e.reason else 'no pair'}"
    else:
        on = _few_compared(figures) if to_one else ""
        yield f"Pairs{to_one} ordered alike: {alike}{on}" + (f"; tau-b {tau}" if tau else "")
    equal, near = figures.share("exact_agreement"), figures.share("adjacent_agreement")
    if equal is not None:
        scale = described.human_scale(figures.of.construct)
        apart = "point" if scale is None or (scale.step or 1) == 1 else "step"
        within = f"; within one {apart} {near}" if near is not None else ""
        yield f"Same value: {equal}{within}"
    bias = _bias(figures)
    if bias is not None and bias.defined:
        scale = described.human_scale(figures.of.construct)
        ends = (bias.ci_low, bias.ci_high)
        value = amount(bias.value, scale, ends)
        interval = between(bias, scale, in_points=True)
        whom = _LIKE_THESE if bias.target == "raters_like_these" else ""
        yield f"{_BIAS}{'+' if bias.value > 0 else ''}{value} {interval}".rstrip() + whom
    elif bias is not None:
        yield f"Bias: not defined, {bias.reason}"


def _few_compared(figures: _Figures) -> str:
    """How many queries have pairs, where fewer than half of them do."""
    e, total = figures.first("concordance", scope="within_query"), figures.of.n_queries
    if e is None or 2 * e.n_queries >= total:
        return ""
    return f" on {e.n_queries:,} of {total:,} queries"


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


def _on_verdicts(figures: _Figures) -> Iterator[str]:
    """What the judge does with what people pass and fail."""
    passed, failed = figures.share("true_positive_rate"), figures.share("true_negative_rate")
    parts = []
    if passed is not None:
        parts.append(f"of the responses that people passed, it passed {passed}")
    if failed is not None:
        parts.append(f"of those that they failed, it failed {failed}")
    if parts:
        text = "; ".join(parts)
        yield text[0].upper() + text[1:]
    for name in ("true_positive_rate", "true_negative_rate"):
        e = figures.first(name)
        if e is not None and not e.defined and e.reason:
            yield f"{e.reason[0].upper()}{e.reason[1:]}"
    accuracy, kappa = figures.share("accuracy"), figures.coefficient("verdict_kappa")
    if accuracy is not None:
        yield f"Accuracy: {accuracy}" + (f"; kappa {kappa}" if kappa else "")


def _on_categories(figures: _Figures) -> Iterator[str]:
    equal, kappa = figures.share("equal_categories"), figures.coefficient("cohen_kappa")
    if equal is not None:
        yield f"Same category: {equal}" + (f"; kappa {kappa}" if kappa else "")


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
        return f"No answer can be given: {next(iter(reasons))}."
    left_out = [
        f"{listed(uses)} ({reason})"
        for reason, uses in reasons.items()
        if uses != [USE_WORDS["order_responses"].lower()]
    ]
    return f"Not asked of this table: {'; '.join(left_out)}." if left_out else None


def scale_words(scale: Scale) -> str:
    """A scale as it is declared, for a line that says how values were understood."""
    step = "" if scale.step is None else f":{scale.step:g}"
    return f"{scale.min:g}:{scale.max:g}{step}"
