"""Section of the report: the audit of Answer Correctness."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.render.formatting import between, correlation, listed, points
from analysis.render.section import Section
from analysis.topics.answer_correctness import estimates, figures, tables
from analysis.topics.distribution import tables as distribution_tables


def reading(analysis: Analysis) -> Iterator[str]:
    """The unit slip if there is one, what composing does to the agreement, and to the level."""
    found = analysis.estimates
    weight = analysis.options.ac_lambda
    slips = [e for e in found.select("ac_unit_check") if e.value == 1]
    for e in slips[:2]:
        yield (
            f"In {e.scorers[0]} an exact match adds {weight:g} of a point where {100 * weight:g} "
            "are meant: the match was left at 1 beside a judge's part in points."
        )
    sweeps = found.select("ac_lambda_sweep", scope="within_query", measure="pearson")
    judges = list(dict.fromkeys(e.scorers[0] for e in sweeps))[: 1 if slips else 2]
    for judge in judges:
        own = [e for e in sweeps if e.scorers[0] == judge and e.defined]
        if not own:
            continue
        # At lambda 0 every sweep of a judge has the judge's own part.
        alone, best = own[0], max(own, key=lambda e: e.value)
        if alone.params["lambda"] != 0:
            continue
        figure = f"{correlation(alone.value)} {between(alone)}".rstrip()
        says = f"Within a query {judge}'s own part follows people at {figure}"
        if best.params["lambda"] == 0:
            matches = listed(list(dict.fromkeys(e.scorers[1] for e in own)))
            yield f"{says}; every weight of {matches} above 0 lowers that."
        else:
            yield (
                f"{says}; the highest, {correlation(best.value)}, has a weight of "
                f"{float(str(best.params['lambda'])):g} for {best.scorers[1]}, picked on the same "
                "data."
            )
    for e in found.select("composed_ac_mean")[:1]:
        scale = analysis.context.human_scale("AC")
        people = float(str(e.params["people"]))
        yield (
            f"Composed with lambda {weight:g}, AC averages {points(e.value, scale)} where people "
            f"average {points(people, scale)}: the distance comes from the composing and is no "
            "bias of the judge."
        )


SECTION = Section(
    key="answer-correctness",
    title="Answer Correctness",
    statistics=estimates.STATISTICS,
    figures=(figures.lambda_sweep,),
    tables=(distribution_tables.composed, tables.unit_checks),
    reading=reading,
)
