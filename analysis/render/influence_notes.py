"""Notes on a verdict whose figures rest on one query."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.render.formatting import between, correlation
from analysis.render.verdict_order import CONCLUSIONS, Comparison, outcome, target

#: A change of an agreement by one query from which the query is named.
INFLUENTIAL = 0.1

_MEASURES = {"kendall_tau_b": "tau-b", "pearson": "Pearson's r"}


def influence_notes(
    analysis: Analysis, construct: str, scorer: str, scope: str | None, comparison: Comparison
) -> Iterator[str]:
    """Queries without which the agreement with people or the statement on order falls.

    `scope` and `comparison` are those of the verdict.
    """
    select = analysis.estimates.select
    for measure, name in _MEASURES.items():
        without = [
            e
            for e in select(
                "agreement_without_one",
                construct=construct, scorer=scorer, left_out="query", measure=measure,
            )
            if e.defined
        ]  # fmt: skip
        if not without:
            continue
        whole = float(str(without[0].params["whole"]))
        most = max(without, key=lambda e: abs(e.value - whole))
        if abs(most.value - whole) >= INFLUENTIAL:
            yield (
                f"One query changes the agreement with people: without {most.params['name']}, "
                f"{name} is {correlation(most.value)} in place of {correlation(whole)}."
            )
    # Where the verdict claims no difference, a query more or less makes none.
    if comparison not in {"better", "worse"}:
        return
    for e in select(
        "difference_without_query",
        construct=construct, scorer=scorer, scope=scope, target=target(analysis, construct, scorer),
    ):  # fmt: skip
        changed = outcome(e.ci_low, e.ci_high)
        if changed not in {comparison, "withheld"}:
            yield (
                f"The statement on order rests on one query: without {e.params['name']}, "
                f"{CONCLUSIONS[changed]} (difference {correlation(e.value)} {between(e)})."
            )
