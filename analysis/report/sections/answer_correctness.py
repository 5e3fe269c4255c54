"""Section of the report: the audit of Answer Correctness."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.compose import Analysis
from analysis.report.figures.lambda_sweep import lambda_sweep
from analysis.report.sections.section import Section
from analysis.report.tables.answer_correctness import unit_checks
from analysis.report.tables.scores import composed
from analysis.report.words import between, correlation, points


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
    judges = list(dict.fromkeys(e.scorers for e in sweeps))[: 1 if slips else 2]
    for judge, match in judges:
        own = [e for e in sweeps if e.scorers == (judge, match) and e.defined]
        if not own:
            continue
        alone, best = own[0], max(own, key=lambda e: e.value)
        if alone.params["lambda"] != 0:
            continue
        figure = f"{correlation(alone.value)} {between(alone)}".rstrip()
        says = f"Within a query {judge}'s own part follows people at {figure}"
        if best is alone:
            yield f"{says}; every weight of {match} above 0 lowers that."
        else:
            yield (
                f"{says}; the highest, {correlation(best.value)}, has a weight of "
                f"{float(str(best.params['lambda'])):g} for {match}, picked on the same data."
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
    figures=(lambda_sweep,),
    tables=(composed, unit_checks),
    reading=reading,
)
