"""Section of the report: the audit of Answer Correctness, with its tables."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.render.contradictions import composed_mean
from analysis.render.formatting import correlation, listed, with_interval
from analysis.render.section import Section
from analysis.render.sentences import in_words
from analysis.render.table import Cell, Table, TableBuilder
from analysis.render.verdict_notes import unit_slip
from analysis.topics.answer_correctness import estimates, lambda_sweep


def reading(analysis: Analysis) -> Iterator[str]:
    """The unit slip if there is one, what composing does to the agreement, and to the level."""
    records = analysis.estimates
    slips = [e for e in records.select("ac_unit_check") if e.value == 1]
    for e in slips[:2]:
        yield in_words(unit_slip(e))
    sweeps = records.select("ac_lambda_sweep", scope="within_query", measure="pearson")
    judges = list(dict.fromkeys(e.scorers[0] for e in sweeps))[: 1 if slips else 2]
    for judge in judges:
        judge_sweeps = [e for e in sweeps if e.scorers[0] == judge and e.defined]
        if not judge_sweeps:
            continue
        # At lambda 0 every sweep of a judge has the judge's own part.
        alone, best = judge_sweeps[0], max(judge_sweeps, key=lambda e: e.value)
        if alone.params["lambda"] != 0:
            continue
        figure = with_interval(alone)
        opening = f"Within a query {judge}'s own part correlates {figure} with people"
        if best.params["lambda"] == 0:
            matches = listed(list(dict.fromkeys(e.scorers[1] for e in judge_sweeps)))
            yield f"{opening}; every weight of {matches} above 0 lowers that."
        else:
            yield (
                f"{opening}; the highest, {correlation(best.value)}, has a weight of "
                f"{float(str(best.params['lambda'])):g} for {best.scorers[1]}, chosen on the same "
                "data."
            )
    yield from (
        in_words(composed_mean(analysis, e)) for e in records.select("composed_ac_mean")[:1]
    )


def unit_checks(analysis: Analysis) -> Iterator[Table]:
    """What a match is worth in each scorer that looks composed."""
    built = TableBuilder()
    for e in analysis.estimates.select("ac_unit_check"):
        weight = float(str(e.params["lambda"]))
        per_unit = float(str(e.params["points_per_unit"]))
        unit = "points" if per_unit == 1 else "on a scale from 0 to 1"
        worth = {
            1.0: f"{weight / per_unit:g} {unit}: in the wrong unit",
            0.0: f"{100 * weight / per_unit:g} {unit}",
        }
        cell = built.number(e, ".0f")
        origin = "the parts" if e.params["from"] == "parts" else "its values alone"
        built.add(
            e.scorers[0],
            origin,
            Cell(worth[e.value]) if e.defined else Cell("unknown", mark=cell.mark),
        )
    yield built.table(
        "ac-unit",
        "What a match is worth in composed AC",
        "With both parts on 0 to 100 a match adds 100 lambda points; with the match left at 1 "
        "while the judge's part is in points, it adds only lambda of a point. "
        "Compared in whole numbers.",
        ("Scorer", "Read from", analysis.headings["ac_unit_check"]),
    )


def composed(analysis: Analysis) -> Iterator[Table]:
    """The AC audit."""
    built, first = TableBuilder(), analysis.estimates.first
    r, tau = (analysis.headings[name] for name in ("pearson", "kendall_tau_b"))
    for largest in analysis.estimates.select("attainable_without_match"):
        name, judge, em = largest.scorers
        matches = first("exact_matches", scope="pooled")
        scale = analysis.scores.scale("AC", judge)
        for scorer, role in ((name, "composed"), (judge, "judge's part"), (em, "exact match")):
            part = scorer == name
            where = {"construct": "AC", "scorer": scorer}
            built.add(
                scorer,
                role,
                built.r(first("pearson", scope="within_query", **where)),
                built.r(first("pearson", scope="pooled", **where)),
                built.r(first("kendall_tau_b", scope="within_query", **where)),
                built.points(largest, scale) if part else "",
                built.number(matches, ",.0f") if scorer == em else "",
            )
    weight = f"{analysis.options.ac_lambda:g}"
    yield built.table(
        "answer-correctness",
        "Answer Correctness: parts and whole",
        f"Composed AC = {weight} EM + (1 - {weight}) judge, both on the same scale. It gets "
        "correlations with people only: its level is below people's by construction. The "
        "largest value without an exact match is the most that a response can reach whose answer "
        "is worded differently.",
        ("Scorer", "Part", f"{r} within a query", f"{r}, pooled", f"{tau} within a query",
         analysis.headings["attainable_without_match"], analysis.headings["exact_matches"]),
        heads=2,
    )  # fmt: skip


SECTION = Section(
    key="answer-correctness",
    title="Answer Correctness",
    statistics=estimates.STATISTICS,
    figures=(lambda_sweep.lambda_sweep_figure,),
    tables=(composed, unit_checks),
    reading=reading,
)
