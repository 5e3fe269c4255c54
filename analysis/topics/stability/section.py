"""Section of the report: how far a judge's scores depend on the run, with tables and figure."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.drawing import ACCENT, INK, Drawing
from analysis.render.figure_of import FigureOf, estimates_in
from analysis.render.forest import ForestStyle, Mark, forest, reach_of
from analysis.render.formatting import counted, listed, percent
from analysis.render.panels import CONSTRUCTS_DRAWN
from analysis.render.section import Section
from analysis.render.table_of import (
    Column,
    TableOf,
    TableRow,
    coefficient,
    each,
    formatted,
    in_points,
    in_words,
    param,
    param_in_points,
    scorer_scale,
)
from analysis.statistics.stability.run_components import RUN_COMPONENTS
from analysis.topics.stability import estimates, rank_reversals

#: Runs below which the rate between runs like these is little more than a guess.
FEW_RUNS = 5


def reading(analysis: Analysis) -> Iterator[str]:
    """How often orders flip, and the judge's share of the variance."""
    yield from _flips(analysis)
    yield from _own_share(analysis)


def _flips(analysis: Analysis) -> Iterator[str]:
    for kind in ("repeats", "runs"):
        rates = [e for e in overall(analysis, kind) if e.defined]
        # The mean over constructs where there is one, and one run of several.
        e = max(rates, key=lambda e: len(e.constructs), default=None)
        if e is None:
            continue
        where = f"on {e.constructs[0]}" if len(e.constructs) == 1 else "over all constructs"
        scoring = f"{e.scorers[0]} asked again"
        if kind == "runs":
            scoring = f"Another run like {listed(e.scorers, 3)}"
        few = ""
        if kind == "runs" and len(e.scorers) < FEW_RUNS:
            few = f"; {counted(len(e.scorers), 'run')} are too few to generalize"
        yield (
            f"{scoring} would put two systems in another order with a probability of "
            f"{_interval(e)} {where}{few}."
        )


def _interval(e: Estimate) -> str:
    if not e.has_interval:
        return percent(e.value)
    return f"{percent(e.value)} [{percent(e.ci_low)}, {percent(e.ci_high)}]"


def _own_share(analysis: Analysis) -> Iterator[str]:
    by_judge: dict[tuple[str, ...], dict[str, float]] = {}
    for (construct, runs), components in by_runs(analysis).items():
        judge_components = [
            e for e in components if e.params["component"] not in {"query", "response"}
        ]
        if any(e.defined for e in judge_components):
            share = sum(e.value for e in judge_components if e.defined)
            by_judge.setdefault(runs, {})[construct] = share
    for runs, shares in by_judge.items():
        words = [f"{_part(share)} on {construct}" for construct, share in shares.items()]
        judge = f"the judge of {listed(runs, 3)}" if len(by_judge) > 1 else "the judge itself"
        yield f"Of the variance of one score, {judge} contributes {listed(words)}."


def by_runs(analysis: Analysis) -> dict[tuple[str, tuple[str, ...]], list[Estimate]]:
    """The shares of variance by construct and the runs of one judge."""
    shares: dict[tuple[str, tuple[str, ...]], list[Estimate]] = {}
    for e in analysis.estimates.select("run_variance_share"):
        shares.setdefault((e.constructs[0], e.scorers), []).append(e)
    return shares


def _part(share: float) -> str:
    """A share of a variance; estimates of it may lie below 0 and above 1."""
    if share <= 0:
        return "none of it"
    return "all of it" if share >= 1 else percent(share)


#: Rows of a table; report.json and estimates.csv have all.
ROWS_SHOWN = 30


#: A pair of systems that flips less often is not listed by name.
LEAST_LISTED = 0.05


OTHER = {
    "repeats": "same run, again",
    "runs": "another run",
    "queries": "same run, other queries",
}
"""What the other scoring of a `flip_rate` is."""


def overall(analysis: Analysis, between: str | None = None) -> list[Estimate]:
    """The flip rates that are means over pairs of systems."""
    rates = analysis.estimates.select("flip_rate")
    return [e for e in rates if "pairs" in e.params and between in {None, e.params["between"]}]


agreement = TableOf(
    "run-agreement",
    "Two runs on the same responses",
    "{run_agreement}: share of equal scores, mean distance in points, correlation "
    "within queries, and concordance (equal values, not only equal order).",
    each("run_agreement", "scorers", measure="share_equal"),
    ("construct", in_words("Run", "{e.scorers[0]}"), in_words("Other run", "{e.scorers[1]}"),
     formatted("run_agreement", ".0%", "{raw_agreement}"),
     in_points("run_agreement", "{mean_absolute_difference}", scorer_scale,
               measure="mean_absolute_difference"),
     coefficient("run_agreement", "{pearson} within a query", measure="pearson"),
     coefficient("run_agreement", "{ccc}", measure="ccc"), "responses"),
    most=ROWS_SHOWN,
    cut=" The first {most} of {all} pairs.",
)  # fmt: skip


def _runs(row: TableRow) -> str:
    without = row.estimate.params.get("excluded")
    return listed(row.estimate.scorers, 3) + (f" (without {without})" if without else "")


_RUNS = in_words("Runs", _runs)

components = TableOf(
    "run-variance",
    "Where the variance of judge scores comes from",
    "{run_variance_share} of one score: queries; responses to one query; runs as a whole (their "
    "severity); the interactions of run with query and with response; and the same run asked "
    "again. Analysis of variance on responses that all these runs have scored; without runs that "
    "have less than half as many scores as the fullest, or another scale than most. Intervals "
    "speak of these runs on queries like these. Estimates may fall below 0 where there is little.",
    each("run_variance_share", "scorers", per=lambda e: (e.constructs[0], e.scorers), most=1),
    ("construct", _RUNS,
     *(formatted("run_variance_share", ".0%", name.capitalize().replace(":", " × "), component=name)
       for name in RUN_COMPONENTS),
     in_words("Number of runs", lambda row: str(len(row.estimate.scorers))), "responses"),
)  # fmt: skip


def by_difference(statistic: str, key: str, title: str, caption: str) -> TableOf:
    """Mean square differences of pairs of scorings by what differs between the two."""

    def share_of_shift(row: TableRow) -> str:
        shift, value = row.estimate.params["shift"], row.estimate.value
        return f"{shift / value:.0%}" if isinstance(shift, float) and value > 0 else ""

    return TableOf(
        key,
        title,
        f"{caption} Typical difference: root of the mean squared difference, in points. "
        f"{{{statistic}}}: half of that square, in squared points, with the part that is a shift "
        "of all scores alike.",
        each(statistic, most=2 * ROWS_SHOWN),
        ("construct", in_words("Scorers", lambda row: listed(row.estimate.scorers, 3)),
         param("differ", "Differs"), param_in_points("rms", "Typical difference"),
         formatted(statistic, ".3g"), in_words("Shift of all scores", share_of_shift),
         param("pairs", "Pairs")),
        heads=3,
    )  # fmt: skip


what_differs = by_difference(
    "variance_between_runs",
    "between-runs",
    "What moves scores of one judge",
    "Pairs of scorings by one judge, by what differs between the two.",
)


_OTHER_SCORING = param("between", "Other scoring", OTHER.__getitem__)


def _at_hand(heading: str, words: str) -> Column:
    """A column on the scorings at hand, of which none is on other queries."""

    def at_hand(row: TableRow) -> str:
        e = row.estimate
        return "" if e.params["between"] == "queries" else words.format(e=e)

    return in_words(heading, at_hand)


flips = TableOf(
    "flip-rates",
    "Would another scoring order the systems differently?",
    "Probability that two independent scorings put two systems in another order on their mean "
    "scores, averaged over pairs of systems; 50% is chance. By the same run asked again, by "
    "another run like these, and, to compare with, by the same run on as many other queries. "
    "Opposite: of the scorings at hand, comparisons with the opposite order; tied: "
    "equal means in one of the two. The interval of the mean assumes the worst case, "
    "that the errors of all pairs are the same.",
    each("flip_rate", keep=lambda e: "pairs" in e.params, most=2 * ROWS_SHOWN),
    (in_words("Construct",
              lambda row: row.construct if len(row.estimate.constructs) == 1 else "all"),
     _OTHER_SCORING, _RUNS, formatted("flip_rate", ".0%"),
     _at_hand("Opposite", "{e.params[opposite]:,} of {e.params[compared]:,}"),
     _at_hand("Tied", "{e.params[tied]:,}"), param("pairs", "Pairs of systems")),
)  # fmt: skip


flipping_pairs = TableOf(
    "flipping-pairs",
    "Pairs of systems whose order is least certain",
    f"Pairs with a flip rate of at least {LEAST_LISTED:.0%}, the highest first.",
    each("flip_rate", keep=lambda e: "pairs" not in e.params and e.value >= LEAST_LISTED,
         sort=lambda e: -e.value),
    ("construct", in_words("Systems", lambda row: " and ".join(row.estimate.systems)),
     _OTHER_SCORING, _RUNS, formatted("flip_rate", ".0%"),
     in_words("Opposite", "{e.params[opposite]:,} of {e.params[compared]:,}")),
    most=ROWS_SHOWN,
    cut=" The first {most} of {all}.",
)  # fmt: skip


#: Components of the responses; the others come from the judge.
_OF_RESPONSES = {"query", "response"}


def _defined_shares(analysis: Analysis) -> list[tuple[tuple[str, str], list[Estimate]]]:
    """Constructs, and runs where there are several judges, with their shares."""
    shares = {
        of: defined
        for of, every in by_runs(analysis).items()
        if (defined := [e for e in every if e.defined])
    }
    several = len({runs for _, runs in shares}) > 1
    return [
        ((construct, listed(runs, 2) if several else ""), records)
        for (construct, runs), records in shares.items()
    ]


def _draw(
    _analysis: Analysis, heading: tuple[str, str], records: list[Estimate], key: str
) -> Drawing:
    ordered = sorted(records, key=lambda e: RUN_COMPONENTS.index(str(e.params["component"])))
    names = [str(e.params["component"]) for e in ordered]
    shares = "; ".join(f"{name} {percent(e.value)}" for name, e in zip(names, ordered, strict=True))
    low, high = reach_of(ordered, 0.02)
    return forest(
        key,
        f"Variance of judge scores on {heading[0]} by source",
        f"{listed(ordered[0].scorers, most=12)}: {shares}",
        tuple(filter(None, heading)),
        [name.replace(":", " × ") for name in names],
        [variance_mark(row, e) for row, e in enumerate(ordered)],
        ForestStyle("share of the variance", reach=(low, max(high, 1.02)), form=percent),
    )


def variance_mark(row: int, e: Estimate) -> Mark:
    """Open for the variance between queries and responses, filled for that of the judge."""
    is_judge = str(e.params["component"]) not in _OF_RESPONSES
    return Mark.of(row, e, color=ACCENT if is_judge else INK, filled=is_judge, width=1.2)


run_variance = FigureOf(
    "run-variance",
    "What does a judge's score depend on?",
    "Shares of the variance of one score. Open: queries and responses; "
    "filled: the judge, by run, and by repeats where there are any. "
    "Bars: {level:.0%} intervals for these runs on queries like these.",
    lambda analysis: _defined_shares(analysis)[:CONSTRUCTS_DRAWN],
    _draw,
    "run-variance",
    data=lambda analysis, _panels: estimates_in(_defined_shares(analysis)),
)


SECTION = Section(
    key="stability",
    title="Judge stability",
    statistics=(*estimates.STATISTICS, *rank_reversals.STATISTICS),
    figures=(run_variance,),
    tables=(
        components,
        what_differs,
        agreement,
        flips,
        flipping_pairs,
    ),
    reading=reading,
)
