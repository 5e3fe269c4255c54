"""Section of the report: whether a score means what it says."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.render.formatting import amount, between, correlation, on_scale, points
from analysis.render.section import Section
from analysis.topics.calibration import estimates, figures, tables

#: Sentences of a section at most.
_SAID = 5


def reading(analysis: Analysis) -> Iterator[str]:
    """Whether a line makes a judge better, who is favored, and whether length pays."""
    said = [*_lines(analysis), *_favored(analysis), *_lengths(analysis)]
    yield from said[:_SAID]


def _lines(analysis: Analysis) -> list[str]:
    found, first = [], analysis.estimates.first
    for construct, data in analysis.rated.items():
        for scorer in data.examined[:1]:
            where = {"construct": construct, "scorer": scorer}
            slope = first("recalibration_slope", **where)
            # The line has the least squared error: on few levels it may raise the absolute one.
            raw = first("recalibrated_rmse", method="raw", **where)
            line = first("recalibrated_rmse", method="linear", **where)
            change = first("recalibrated_rmse_difference", method="linear", **where)
            if slope is None or not slope.defined or raw is None or line is None or change is None:
                continue
            if not (change.has_interval and (change.ci_high < 0 or change.ci_low > 0)):
                continue
            scale = analysis.context.human_scale(construct)
            closer = change.value < 0
            does = f"brings {scorer} closer to" if closer else f"takes {scorer} away from"
            found.append(
                f"{construct}: a straight line learned on other queries {does} people, from "
                f"{points(raw.value, scale, 1)} to {points(line.value, scale, 1)} "
                f"{on_scale(scale) or 'points'} (root mean square); its slope is "
                f"{correlation(slope.value)} {between(slope)}".rstrip()
                + "."
            )
    return found[:2]


def _favored(analysis: Analysis) -> list[str]:
    found = []
    for e in analysis.estimates.select("error_by_system_given_human"):
        apart = e.has_interval and (e.ci_low > 0 or e.ci_high < 0)
        if apart and e.params["noise"] == "removed":
            scale = analysis.context.human_scale(e.constructs[0])
            does = "favors" if e.value > 0 else "disfavors"
            found.append(
                (
                    abs(e.value) / (scale.width if scale else 1),
                    f"{e.constructs[0]}: at the same human value {e.scorers[0]} {does} "
                    f"{e.systems[0]} by {amount(abs(e.value), scale)} against the average system.",
                )
            )
    return [said for _, said in sorted(found, reverse=True)[:2]]


def _lengths(analysis: Analysis) -> list[str]:
    found = []
    for e in analysis.estimates.select("error_by_length"):
        if e.has_interval and (e.ci_low > 0 or e.ci_high < 0):
            scale = analysis.context.human_scale(e.constructs[0])
            how = "more lenient" if e.value > 0 else "more severe"
            found.append(
                f"{e.constructs[0]}: {e.scorers[0]} is {amount(abs(e.value), scale)} {how} than "
                "people to a response twice as long "
                f"{' '.join(filter(None, (between(e, scale, in_points=True), on_scale(scale))))}."
            )
    return found[:1]


SECTION = Section(
    key="calibration",
    title="Level and calibration",
    statistics=estimates.STATISTICS,
    figures=(figures.bias_by_system, figures.reliability_diagram, figures.error_by_level),
    tables=(tables.calibrated, tables.given_people, tables.by_length),
    reading=reading,
)
