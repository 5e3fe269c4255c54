"""Section of the report: what the mean of a judge's distribution adds to the number it wrote."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.core.construct_data import EXPECTED, judge_of_expected
from analysis.core.estimates import Estimate, to_frame
from analysis.render.drawing import (
    ACCENT,
    INK,
    MUTED,
    RULE,
    Drawing,
    Figure,
    as_svg,
    canvas,
    head,
    zero_line,
)
from analysis.render.formatting import between, correlation, listed
from analysis.render.panels import JUDGES_DRAWN, WIDTH
from analysis.render.section import Section
from analysis.render.table import Table, TableBuilder
from analysis.render.verdicts import leading_scope
from analysis.topics.expected_score import estimates


def reading(analysis: Analysis) -> Iterator[str]:
    """On which constructs the mean follows people better, and on which worse."""
    gains = analysis.estimates.select("expected_gain", scope="within_query", measure="pearson")
    for judge in list(dict.fromkeys(e.scorers[1] for e in gains))[:2]:
        own = [e for e in gains if e.scorers[1] == judge and e.has_interval]
        better = [e.constructs[0] for e in own if e.ci_low > 0]
        worse = [e.constructs[0] for e in own if e.ci_high < 0]
        open_ = [e.constructs[0] for e in own if e.ci_low <= 0 <= e.ci_high]
        if own:
            yield (
                f"{judge}{EXPECTED} is the mean of the probabilities that {judge} gave to the "
                f"scores. {_said(f'the number that {judge} wrote', better, worse, open_)}"
            )


def _said(number: str, better: list[str], worse: list[str], open_: list[str]) -> str:
    """Nothing of following people where only the absence of a difference is at hand."""
    sides = [
        f"{word} on {listed(names)}"
        for word, names in (("better", better), ("worse", worse))
        if names
    ]
    if not sides:
        return f"Within a query no difference from {number} can be shown on {listed(open_)}."
    rest = f"; no difference can be shown on {listed(open_)}" if open_ else ""
    return f"Within a query it follows people {listed(sides)} than {number}{rest}."


_AGREEMENT = {
    "pearson": "r with people",
    "kendall_tau_b": "tau-b with people",
    "pairwise_accuracy": "pairs ordered as people do",
}


_ALONE = {
    "tie_probability": "chance of a tie",
    "discriminative_power": "pairs of systems told apart",
}


def beside(analysis: Analysis) -> Iterator[Table]:
    """Agreement, ties and discriminative power of both, a row each."""
    built = TableBuilder()
    for construct, data in analysis.context.whole.items():
        for expected in data.scorers:
            number = judge_of_expected(expected, data.scorers)
            if number is None:
                continue
            _agreement(analysis, built, construct, number, expected)
            for statistic, name in _ALONE.items():
                pair = [_alone(analysis, statistic, construct, who) for who in (number, expected)]
                counts = [one.n_responses for one in pair if one is not None]
                cells = [built.number(one, ".1%") for one in pair]
                shown = " and ".join(f"{n:,}" for n in dict.fromkeys(counts))
                built.add(construct, number, name, *cells, "", shown)
    yield built.table(
        "expected-scores",
        "The number that was written, and the mean of the distribution",
        "Agreement is on the responses that have both, within a query where that can be told; the "
        "difference is the mean of the distribution less the number, with its interval over "
        "queries. Ties and pairs of systems told apart are of all scores of each. A mean is "
        "missing where less than 95% of the probability is known to lie on scores.",
        ("Construct", "Judge", "Figure", "Number written", "Mean of the distribution",
         "Difference", "Responses"),
        heads=3,
    )  # fmt: skip


def _agreement(
    analysis: Analysis, built: TableBuilder, construct: str, number: str, expected: str
) -> None:
    if analysis.rated[construct].reference_missing:
        return
    scope, _ = leading_scope(analysis, construct, number)
    for measure, name in _AGREEMENT.items():
        where = {"construct": construct, "scope": scope, "measure": measure}
        pair = [
            next((e for e in found if e.scorers[0] == who), None)
            for who in (number, expected)
            if (found := analysis.estimates.select("agreement_where_both", **where)) is not None
        ]
        gain = analysis.estimates.first("expected_gain", scorer=expected, **where)
        built.add(
            construct,
            number,
            name if scope == "within_query" else f"{name}, pooled",
            *(built.r(one) for one in pair),
            built.r(gain),
            f"{gain.n_responses:,}" if gain else "",
        )


def _alone(analysis: Analysis, statistic: str, construct: str, scorer: str) -> Estimate | None:
    scope = "pooled" if statistic == "tie_probability" else None
    found = analysis.estimates.select(statistic, construct=construct, scorer=scorer, scope=scope)
    return next((e for e in found if e.scorers == (scorer,)), None)


#: Name, color and marker of each measure: told apart without color.
_MARKS = {
    "pearson": ("r", INK, "o"),
    "kendall_tau_b": ("tau-b", MUTED, "s"),
    "pairwise_accuracy": ("share of pairs", ACCENT, "D"),
}


def expected_gain(analysis: Analysis) -> Iterator[Figure]:
    """A panel a judge: the gains within a query, by construct, with their intervals."""
    gains = [
        e for e in analysis.estimates.select("expected_gain", scope="within_query") if e.defined
    ]
    judges = list(dict.fromkeys(e.scorers[1] for e in gains))
    if not judges:
        return
    shown = judges[:JUDGES_DRAWN]
    left = ", ".join(judges[JUDGES_DRAWN:])
    yield Figure(
        key="expected-gain",
        title="Does the mean of the distribution follow people better?",
        caption=(
            "Agreement with people within a query: of the mean of the judge's distribution, less "
            "that of the number it wrote, on the responses that have both. Right of the line the "
            "mean is better. Bars: intervals over queries."
            + (f" Not drawn, see the table: {left}." if left else "")
        ),
        drawings=tuple(
            _draw([e for e in gains if e.scorers[1] == judge], judge, f"expected-gain-{number}")
            for number, judge in enumerate(shown)
        ),
        data=to_frame(gains),
    )


def _draw(gains: list[Estimate], judge: str, key: str) -> Drawing:
    constructs = list(dict.fromkeys(e.constructs[0] for e in gains))
    said = []
    with canvas(WIDTH * 1.5, 0.9 + 0.42 * len(constructs)) as (figure, axes):
        zero_line(axes)
        for place, (measure, (name, color, marker)) in enumerate(_MARKS.items()):
            own = [e for e in gains if e.params["measure"] == measure]
            rows = [constructs.index(e.constructs[0]) + 0.22 * (place - 1) for e in own]
            for row, e in zip(rows, own, strict=True):
                if e.has_interval:
                    axes.plot([e.ci_low, e.ci_high], [row, row], color=color, linewidth=1)
                figures = f"{correlation(e.value)} {between(e)}".rstrip()
                said.append(f"{e.constructs[0]}, {name}: {figures}")
            axes.plot(
                [e.value for e in own], rows, color=color, marker=marker, markersize=3.5,
                linestyle="none", label=name,
            )  # fmt: skip
        axes.set_yticks(range(len(constructs)), constructs)
        axes.set_ylim(len(constructs) - 0.5, -0.5)
        axes.grid(axis="x", color=RULE, linewidth=0.4)
        axes.set_axisbelow(True)
        axes.set_xlabel("mean of the distribution less number written")
        axes.xaxis.set_major_formatter(lambda value, _: correlation(value).replace("-", "−"))
        head(figure, judge)
        figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=7)
        return as_svg(figure, key, f"Gain from the distribution of {judge}", "; ".join(said) + ".")


SECTION = Section(
    key="expected",
    title="What the distribution adds",
    statistics=estimates.STATISTICS,
    figures=(expected_gain,),
    tables=(beside,),
    reading=reading,
)
