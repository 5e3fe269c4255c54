"""Section of the report: people among themselves."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.formatting import amount, correlation, listed, with_interval
from analysis.render.section import Section
from analysis.topics.reliability import (
    estimates,
    figures,
    generalizability,
    raters,
    repeats,
    sentence_marks,
    tables,
)

#: Reliability of a mean that a study of systems is usually asked for.
WANTED = 0.8


def reading(analysis: Analysis) -> Iterator[str]:
    """Reliability of a rating, how many raters are needed, and the most severe or lenient rater."""
    yield from _categories(analysis)
    yield from _single(analysis)
    yield from _enough(analysis)
    yield from _apart(analysis)
    yield from sentence_marks.reading(analysis)
    yield from _scale_use(analysis)


def _categories(analysis: Analysis) -> Iterator[str]:
    nominal = [key for key in analysis.rated if analysis.context.nominal([key])]
    alphas = [
        f"{e.constructs[0]} {with_interval(e)}"
        for e in analysis.estimates.select("krippendorff_alpha", level="nominal")
        if e.constructs[0] in nominal and e.defined
    ]
    if alphas:
        yield f"Agreement of raters on categories, Krippendorff's alpha: {listed(alphas)}."


def _single(analysis: Analysis) -> Iterator[str]:
    coefficients = [e for e in analysis.estimates.select("icc", form="A,1") if e.defined]
    if not coefficients:
        return
    words = [f"{e.constructs[0]} {with_interval(e)}" for e in coefficients]
    yield f"Reliability of a single rating, ICC(A,1): {listed(words)}."


def _enough(analysis: Analysis) -> Iterator[str]:
    least = {}
    for construct in analysis.rated:
        curve = analysis.estimates.select("spearman_brown", construct=construct)
        defined = [e for e in curve if e.defined]
        if defined:
            reached = (int(str(e.params["k"])) for e in defined if e.value >= WANTED)
            least[construct] = next(reached, None)
    if not least:
        return
    words = [f"{n} on {construct}" for construct, n in least.items() if n is not None]
    beyond = [construct for construct, n in least.items() if n is None]
    target = correlation(WANTED)
    if words:
        yield f"A mean with a reliability of {target} needs this many raters: {listed(words)}."
    if beyond:
        yield f"On {listed(beyond)} not even the mean of 10 raters would reach {target}."


def compared(analysis: Analysis) -> list[Estimate]:
    """The severities from which a rater is said to differ from the others."""
    return analysis.estimates.select("rater_severity", interval="simultaneous")


def _apart(analysis: Analysis) -> Iterator[str]:
    severities = [e for e in compared(analysis) if analysis.claims.hold("people", e)]
    if not severities:
        return
    # Constructs on different scales have no common points: the farthest in widths of its scale.
    e = max(severities, key=lambda e: abs(e.value) / _width(analysis, e.constructs[0]))
    scale = analysis.context.human_scale(e.constructs[0])
    how = "more lenient" if e.value > 0 else "more severe"
    others = len(severities) - 1
    more = f" {others} more such differences are significant." if others > 1 else ""
    size = amount(abs(e.value), scale, (e.value,))
    yield (
        f"The rater farthest from the others on the same responses is {e.scorers[0]} on "
        f"{e.constructs[0]}, {size} {how} than the panel.{more}"
    )


def _width(analysis: Analysis, construct: str) -> float:
    scale = analysis.context.human_scale(construct)
    return 1.0 if scale is None else scale.width


def _scale_use(analysis: Analysis) -> Iterator[str]:
    """The construct on which taking severity out changes alpha most."""
    gains = []
    for construct in analysis.rated:
        raw, centered = (
            analysis.estimates.first("alpha_by_scale_use", construct=construct, values=use)
            for use in ("raw", "centered")
        )
        if raw is not None and centered is not None and raw.defined and centered.defined:
            gains.append((centered.value - raw.value, construct, raw.value, centered.value))
    if not gains or max(gains)[0] < 0.02:
        return
    _, construct, raw_alpha, centered_alpha = max(gains)
    yield (
        f"Part of the disagreement is severity: on {construct}, alpha is "
        f"{correlation(raw_alpha)} as rated and {correlation(centered_alpha)} with each rater's "
        "severity taken out."
    )


SECTION = Section(
    key="people",
    title="People among themselves",
    statistics=(
        *estimates.STATISTICS,
        *generalizability.STATISTICS,
        *raters.STATISTICS,
        *repeats.STATISTICS,
        *sentence_marks.STATISTICS,
    ),
    figures=(
        figures.severities,
        figures.reliability_of_means,
        figures.designs,
    ),
    tables=(
        tables.reliability,
        tables.agreement_of_pairs,
        tables.raters,
        tables.between_sources,
        tables.repeats,
        sentence_marks.agreement_on_sentences,
        sentence_marks.marks_by_rater,
        tables.components,
        tables.designs,
    ),
    details=("human-agreement", "variance-components", "designs"),
    reading=reading,
    compared=compared,
    on_categories=(
        reading,
        tables.reliability,
        tables.agreement_of_pairs,
        tables.repeats,
        sentence_marks.agreement_on_sentences,
        sentence_marks.marks_by_rater,
    ),
)
