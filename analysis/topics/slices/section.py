"""Section of the report: agreement by system, by domain and by length of the response."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.formatting import correlation, percent, points
from analysis.render.section import Section
from analysis.render.table_of import TableOf, coefficient, each, formatted, in_points, in_words
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


def _of_a_kind(e: Estimate) -> tuple[object, ...]:
    return e.constructs, e.scorers[0], e.params["by"]


_BY_SLICE = ("construct", "scorer", in_words("By", "{e.params[by]}"),
             in_words("Slice", "{e.params[slice]}"))  # fmt: skip


score_slices = TableOf(
    "slices",
    "Agreement by slice",
    "The same responses divided by system, by domain of the query and by length. A slice of "
    "responses that are alike has a low tau-b although the scorer is not worse there: read "
    "the bias with it. Differences are from all other responses, for domains and lengths; of "
    f"two slices the second mirrors the first. The first {SLICES_SHOWN} of a kind.",
    each("slice_tau_b", "by", "slice", most=SLICES_SHOWN, per=_of_a_kind),
    (*_BY_SLICE, coefficient("slice_tau_b", "{kendall_tau_b}"), in_points("slice_bias", "{bias}"),
     coefficient("slice_difference", "Tau-b less others", measure="kendall_tau_b"),
     in_points("slice_difference", "Bias less others", measure="bias"), "responses"),
    heads=4,
)  # fmt: skip


verdict_slices = TableOf(
    "slices-of-verdicts",
    "Pass or fail by slice",
    "The same responses divided by system, by domain of the query and by length. "
    "Differences are from all other responses, for domains and lengths; of two slices the "
    f"second mirrors the first.  The first {SLICES_SHOWN} of a kind.",
    each("slice_rate", "by", "slice", most=SLICES_SHOWN, per=_of_a_kind, measure="accuracy"),
    (*_BY_SLICE,
     *(formatted("slice_rate", ".0%", f"{{{name}}}", measure=name) for name in estimates.RATES),
     formatted("slice_difference", ".0%", "Accuracy less others", measure="accuracy"),
     "responses"),
    heads=4,
)  # fmt: skip


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
