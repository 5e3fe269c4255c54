"""Section of the report: the mean of a judge's distribution, with its table and figure."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from analysis.core.analysis import Analysis
from analysis.core.construct_data import EXPECTED, judge_of_expected
from analysis.core.estimates import Estimate
from analysis.render.drawing import ACCENT, INK, MUTED, Drawing
from analysis.render.figure_of import FigureOf, Panels
from analysis.render.forest import ForestStyle, Mark, forest
from analysis.render.formatting import correlation, listed, with_interval, with_minus
from analysis.render.panels import JUDGES_DRAWN, WIDTH
from analysis.render.section import Section
from analysis.render.table import Table, TableBuilder
from analysis.render.verdict_facts import VerdictFacts
from analysis.topics.expected_score import estimates


def reading(analysis: Analysis) -> Iterator[str]:
    """On which constructs the mean follows people better, and on which worse."""
    gains, hold = compared(analysis), analysis.claims.hold
    for judge in list(dict.fromkeys(e.scorers[1] for e in gains))[:2]:
        judge_gains = [e for e in gains if e.scorers[1] == judge and e.has_interval]
        apart = [e for e in judge_gains if hold("expected", e)]
        better = [e.constructs[0] for e in apart if e.value > 0]
        worse = [e.constructs[0] for e in apart if e.value < 0]
        open_ = [e.constructs[0] for e in judge_gains if e not in apart]
        if judge_gains:
            yield (
                f"{judge}{EXPECTED} is the mean of the probabilities that {judge} gave to the "
                f"scores. {_statement(f'the number that {judge} wrote', better, worse, open_)}"
            )


def compared(analysis: Analysis) -> list[Estimate]:
    """The gains of which sentences are made."""
    return analysis.estimates.select("expected_gain", scope="within_query", measure="pearson")


def _statement(number: str, better: list[str], worse: list[str], open_: list[str]) -> str:
    """The constructs with a significant difference; else that none can be shown."""
    sides = [
        f"{word} on {listed(names)}"
        for word, names in (("better", better), ("worse", worse))
        if names
    ]
    if not sides:
        return f"Within a query no difference from {number} can be shown on {listed(open_)}."
    rest = f"; no difference can be shown on {listed(open_)}" if open_ else ""
    return f"Within a query it follows people {listed(sides)} than {number}{rest}."


_AGREEMENT = ("pearson", "kendall_tau_b", "pairwise_accuracy")
_ALONE = ("tie_probability", "discriminative_power")


def written_and_expected(analysis: Analysis) -> Iterator[Table]:
    """Agreement, ties and discriminative power of both, a row each."""
    built, gain = TableBuilder(), analysis.headings["expected_gain"]
    for construct, data in analysis.context.whole.items():
        for expected in data.scorers:
            number = judge_of_expected(expected, data.scorers)
            if number is None:
                continue
            _agreement(analysis, built, construct, number, expected)
            for statistic in _ALONE:
                pair = [
                    _alone(analysis, statistic, construct, scorer) for scorer in (number, expected)
                ]
                counts = [estimate.n_responses for estimate in pair if estimate is not None]
                cells = [built.number(estimate, ".1%") for estimate in pair]
                responses = " and ".join(f"{n:,}" for n in dict.fromkeys(counts))
                built.add(construct, number, analysis.headings[statistic], *cells, "", responses)
    yield built.table(
        "expected-scores",
        "The number that was written, and the mean of the distribution",
        f"{analysis.headings['agreement_where_both']}: with people, on the responses that have "
        f"both, within a query where that is defined. {gain}: the mean of the distribution minus "
        "the number, with its interval over queries. Ties and significant differences of systems "
        "are of all scores of each. A mean is missing where less than 95% of the probability is "
        "known to be on scores.",
        ("Construct", "Judge", "Figure", "Number written", "Mean of the distribution",
         gain, "Responses"),
        heads=3,
    )  # fmt: skip


def _agreement(
    analysis: Analysis, built: TableBuilder, construct: str, number: str, expected: str
) -> None:
    if analysis.rated[construct].reference_missing:
        return
    scope = VerdictFacts(analysis, construct, number).scope
    for measure in _AGREEMENT:
        name = analysis.headings[measure]
        where = {"construct": construct, "scope": scope, "measure": measure}
        pair = [
            next((e for e in estimates if e.scorers[0] == scorer), None)
            for scorer in (number, expected)
            if (estimates := analysis.estimates.select("agreement_where_both", **where)) is not None
        ]
        gain = analysis.estimates.first("expected_gain", scorer=expected, **where)
        built.add(
            construct,
            number,
            name if scope == "within_query" else f"{name}, pooled",
            *(built.r(estimate) for estimate in pair),
            built.r(gain),
            f"{gain.n_responses:,}" if gain else "",
        )


def _alone(analysis: Analysis, statistic: str, construct: str, scorer: str) -> Estimate | None:
    scope = "pooled" if statistic == "tie_probability" else None
    estimates = analysis.estimates.select(
        statistic, construct=construct, scorer=scorer, scope=scope
    )
    return next((e for e in estimates if e.scorers == (scorer,)), None)


#: Color and marker of each measure: distinguishable without color.
_MARKS = {
    "pearson": (INK, "o"),
    "kendall_tau_b": (MUTED, "s"),
    "pairwise_accuracy": (ACCENT, "D"),
}


def _gains(analysis: Analysis) -> dict[str, list[Estimate]]:
    """The defined gains by judge."""
    by_judge: dict[str, list[Estimate]] = {}
    for e in analysis.estimates.select("expected_gain", scope="within_query"):
        if e.defined:
            by_judge.setdefault(e.scorers[1], []).append(e)
    return by_judge


def _omitted(analysis: Analysis, _panels: Panels) -> str:
    omitted = ", ".join(list(_gains(analysis))[JUDGES_DRAWN:])
    return f" Not drawn, see the table: {omitted}." if omitted else ""


def _draw(analysis: Analysis, judge: str, gains: list[Estimate], key: str) -> Drawing:
    constructs = list(dict.fromkeys(e.constructs[0] for e in gains))
    marks, values = [], []
    for place, (measure, (color, marker)) in enumerate(_MARKS.items()):
        name = analysis.headings[measure]
        style = {"color": color, "marker": marker, "shift": 0.22 * (1 - place), "label": name}
        for e in (e for e in gains if e.params["measure"] == measure):
            row = constructs.index(e.constructs[0])
            marks.append(Mark.of(row, e, width=1, **style))
            values.append(f"{e.constructs[0]}, {name}: {with_minus(with_interval(e))}")
    return forest(
        key,
        f"Gain from the distribution of {judge}",
        "; ".join(values) + ".",
        (judge,),
        constructs,
        marks,
        ForestStyle(
            "mean of the distribution less number written",
            width=1.5 * WIDTH,
            row=0.42,
            margin=0.9,
            form=correlation,
            legend=3,
        ),
    )


expected_gain = FigureOf(
    "expected-gain",
    "Does the mean of the distribution follow people better?",
    "Agreement with people within a query: of the mean of the judge's distribution, less "
    "that of the number it wrote, on the responses that have both. Right of the line the "
    "mean is better. Bars: intervals over queries.",
    lambda analysis: islice(_gains(analysis).items(), JUDGES_DRAWN),
    _draw,
    "expected-gain",
    note=_omitted,
    data=lambda analysis, _panels: (
        e for e in analysis.estimates.select("expected_gain", scope="within_query") if e.defined
    ),
)


SECTION = Section(
    key="expected",
    title="What the distribution adds",
    statistics=estimates.STATISTICS,
    figures=(expected_gain,),
    tables=(written_and_expected,),
    reading=reading,
    compared=compared,
)
