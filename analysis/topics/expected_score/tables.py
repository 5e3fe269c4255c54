"""The number that a judge wrote beside the mean of its distribution."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.core.construct_data import judge_of_expected
from analysis.core.estimates import Estimate
from analysis.render.table import Table, TableBuilder
from analysis.render.verdict.verdicts import leading_scope

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
