"""Section of the report: agreement by system, by domain and by length of the response."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.formatting import correlation, percent, points
from analysis.render.section import Section
from analysis.render.table import Cell, Table, TableBuilder
from analysis.topics.slices import estimates

#: Slices of one kind of which a row is shown; estimates.csv has the rest.
SLICES_SHOWN = 12

_SENTENCES = 3
_PLACES = {"domain": "on queries of {}", "length": "on responses of {}"}


def compared(analysis: Analysis) -> list[Estimate]:
    """The differences from which a slice is said to be another than the others."""
    return analysis.estimates.select("slice_difference")


def reading(analysis: Analysis) -> Iterator[str]:
    """Where the agreement is another than elsewhere."""
    holding = [e for e in compared(analysis) if analysis.claims.hold("slices", e)]
    for e in holding[:_SENTENCES]:
        yield _sentence(analysis, e)
    if len(holding) > _SENTENCES:
        yield f"{len(holding) - _SENTENCES} more differences between slices hold; see the table."


def _sentence(analysis: Analysis, e: Estimate) -> str:
    construct, scorer = e.constructs[0], e.scorers[0]
    where = _PLACES[str(e.params["by"])].format(e.params["slice"])
    if e.params["measure"] == "bias":
        scale = analysis.context.human_scale(construct)
        direction = "more lenient" if e.value > 0 else "stricter"
        ends = sorted(abs(end) for end in (e.ci_low, e.ci_high))
        between = " to ".join(points(end, scale, 1) for end in ends)
        return (
            f"{construct}: {where} {scorer} is {points(abs(e.value), scale, 1)} points "
            f"{direction} than on all others ({between})."
        )
    less = "less" if e.value < 0 else "more"
    if e.params["measure"] == "accuracy":
        return (
            f"{construct}: {where} {scorer} agrees with people {less} often than on all others "
            f"(by {percent(abs(e.value))} of the responses)."
        )
    return (
        f"{construct}: {where} {scorer} orders responses {less} like people than on all others "
        f"(tau-b {correlation(e.value)})."
    )


def _shown(analysis: Analysis, statistic: str, **params: str) -> Iterator[Estimate]:
    """One statistic in every slice, as far as rows are shown."""
    counts: dict[tuple[object, ...], int] = {}
    for e in analysis.estimates.select(statistic, **params):
        key = (e.constructs, e.scorers[0], e.params["by"])
        counts[key] = counts.get(key, 0) + 1
        if counts[key] <= SLICES_SHOWN:
            yield e


def _place(e: Estimate) -> dict[str, str]:
    return {
        "construct": e.constructs[0], "scorer": e.scorers[0],
        "by": str(e.params["by"]), "slice": str(e.params["slice"]),
    }  # fmt: skip


def score_slices(analysis: Analysis) -> Iterator[Table]:
    """Tau-b and bias of graded scores, a row for each slice."""
    built, headings = TableBuilder(), analysis.headings
    for e in _shown(analysis, "slice_tau_b"):
        where = _place(e)
        scale = analysis.context.human_scale(e.constructs[0])
        built.add(
            *where.values(),
            built.r(e),
            built.points(analysis.estimates.first("slice_bias", **where), scale),
            *_differences(analysis, built, where, ("kendall_tau_b", "bias")),
            f"{e.n_responses:,}",
        )
    yield built.table(
        "slices",
        "Agreement by slice",
        "The same responses divided by system, by domain of the query and by length. A slice of "
        "responses that are alike has a low tau-b although the scorer is not worse there: read "
        "the bias with it. Differences are from all other responses, for domains and lengths; of "
        f"two slices the second mirrors the first. The first {SLICES_SHOWN} of a kind.",
        ("Construct", "Scorer", "By", "Slice", headings["kendall_tau_b"], headings["bias"],
         "Tau-b less others", "Bias less others", "Responses"),
        heads=4,
    )  # fmt: skip


def verdict_slices(analysis: Analysis) -> Iterator[Table]:
    """Rates of pass and fail, a row for each slice."""
    built, headings = TableBuilder(), analysis.headings
    for e in _shown(analysis, "slice_rate", measure="accuracy"):
        where = _place(e)
        rates = [
            analysis.estimates.first("slice_rate", measure=name, **where)
            for name in estimates.RATES
        ]
        built.add(
            *where.values(),
            *(built.number(of, ".0%") for of in rates),
            *_differences(analysis, built, where, ("accuracy",)),
            f"{e.n_responses:,}",
        )
    yield built.table(
        "slices-of-verdicts",
        "Pass or fail by slice",
        "The same responses divided by system, by domain of the query and by length. "
        "Differences are from all other responses, for domains and lengths; of two slices the "
        "second mirrors the first. "
        f" The first {SLICES_SHOWN} of a kind.",
        ("Construct", "Scorer", "By", "Slice", *(headings[name] for name in estimates.RATES),
         "Accuracy less others", "Responses"),
        heads=4,
    )  # fmt: skip


def _differences(
    analysis: Analysis, built: TableBuilder, where: dict[str, str], measures: tuple[str, ...]
) -> Iterator[Cell | str]:
    scale = analysis.context.human_scale(where["construct"])
    for measure in measures:
        e = analysis.estimates.first("slice_difference", measure=measure, **where)
        if e is None:
            yield ""
        elif measure == "bias":
            yield built.points(e, scale)
        else:
            yield built.number(e, ".0%") if measure == "accuracy" else built.r(e)


SECTION = Section(
    key="slices",
    title="Agreement by slice",
    statistics=estimates.STATISTICS,
    tables=(score_slices, verdict_slices),
    details=("slices",),
    reading=reading,
    compared=compared,
    on_categories=(reading, verdict_slices),
)
