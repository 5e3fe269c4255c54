"""Tables on pairs of responses: which of two is better, by scores and by preferences."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.table import Cell, Table, TableBuilder

_SCOPES = {
    "within_query": "within a query",
    "pooled": "pooled",
    "between_queries": "between queries",
}


def pairwise(analysis: Analysis) -> Iterator[Table]:
    """Accuracy raw, at the best tie threshold, and with thresholds of other queries."""
    built, first = TableBuilder(), analysis.estimates.first
    for construct, data in analysis.rated.items():
        for scorer in data.scorers:
            for scope, name in _SCOPES.items():
                where = {"construct": construct, "scorer": scorer, "scope": scope}
                raw, best, outside = (
                    first("pairwise_accuracy", calibration=kind, **where)
                    for kind in ("none", "in_sample", "out_of_fold")
                )
                if raw is None:
                    continue
                built.add(
                    construct, scorer, name, built.number(raw, ".1%"), built.number(best, ".1%"),
                    _threshold(best), built.number(outside, ".1%"), f"{raw.params['pairs']:,}",
                )  # fmt: skip
    yield built.table(
        "pairwise-accuracy",
        "Which of two responses is better",
        "Share of pairs that judge and people order alike; a pair that people tie is right only if "
        "the judge ties it. Tied: scores that differ by no more than the threshold, the best one "
        "of these data, which flatters; out of fold: thresholds found on other queries, on pairs "
        "inside a fold.",
        ("Construct", "Scorer", "Scope", "As scored", "Best threshold", "Threshold", "Out of fold",
         "Pairs"),
        heads=3,
    )  # fmt: skip


def _threshold(best: Estimate | None) -> str:
    return "" if best is None else f"{best.params['tie_threshold']:.3g}"


def preference_accuracy(analysis: Analysis) -> Iterator[Table]:
    """How often the better score goes with the preference."""
    built = TableBuilder()
    for e in analysis.estimates.select("preference_accuracy"):
        cell: Cell = built.number(e, ".1%")
        built.add(e.constructs[0], e.scorers[0], cell, f"{e.n_responses:,}")
    yield built.table(
        "preference-accuracy",
        "Which of two responses people prefer",
        "Share of preferences whose sign is that of the difference of the scores; no preference is "
        "right only with equal scores. A pair counts once for each rater.",
        ("Construct", "Scorer", "Accuracy", "Preferences"),
        heads=2,
    )
