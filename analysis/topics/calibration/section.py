"""Section of the report: calibration of the judge, with its tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.formatting import (
    amount,
    between,
    digits,
    on_scale,
    points,
    with_interval,
)
from analysis.render.section import Section
from analysis.render.table import Cell, TableBuilder
from analysis.render.table_of import (
    Column,
    TableOf,
    TableRow,
    each,
    formatted,
    human_scale,
    in_points,
    in_words,
)
from analysis.topics.calibration import estimates, figures
from analysis.topics.calibration.judge_error import SATURATED, UNKNOWN_PREFERENCE

#: Largest number of sentences.
_SENTENCES = 5


def reading(analysis: Analysis) -> Iterator[str]:
    """Whether recalibration helps, which systems are favored, and the effect of length."""
    sentences = [
        *_lines(analysis),
        *_favored(analysis),
        *_saturated(analysis),
        *_lengths(analysis),
    ]
    yield from sentences[:_SENTENCES]


def compared(analysis: Analysis) -> Iterator[Estimate]:
    """The gains of recalibration and the effects of system and length that are claimed."""
    select = analysis.estimates.select
    for construct, data in analysis.rated.items():
        for scorer in data.examined[:1]:
            where = {"construct": construct, "scorer": scorer}
            yield from select("recalibrated_rmse_difference", method="linear", **where)
    yield from select("error_by_system_given_human", noise="removed")
    yield from select("error_by_length")


def _lines(analysis: Analysis) -> list[str]:
    sentences, first = [], analysis.estimates.first
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
            if not analysis.claims.hold("calibration", change):
                continue
            scale = analysis.context.human_scale(construct)
            closer = change.value < 0
            does = f"brings {scorer} closer to" if closer else f"takes {scorer} away from"
            sentences.append(
                f"{construct}: a straight line learned on other queries {does} people, from "
                f"{points(raw.value, scale, 1)} to {points(line.value, scale, 1)} "
                f"{on_scale(scale) or 'points'} (root mean square); its slope is "
                f"{with_interval(slope)}."
            )
    return sentences[:2]


def _favored(analysis: Analysis) -> list[str]:
    sentences = []
    for e in analysis.estimates.select("error_by_system_given_human"):
        if e.params.get("noise") == "removed" and analysis.claims.hold("calibration", e):
            scale = analysis.context.human_scale(e.constructs[0])
            does = "favors" if e.value > 0 else "disfavors"
            sentences.append(
                (
                    abs(e.value) / (scale.width if scale else 1),
                    f"{e.constructs[0]}: at the same human value {e.scorers[0]} {does} "
                    f"{e.systems[0]} by {amount(abs(e.value), scale)} against the average system.",
                )
            )
    return [sentence for _, sentence in sorted(sentences, reverse=True)[:2]]


def _saturated(analysis: Analysis) -> list[str]:
    """Whose scores are too often at an end of the scale to show which system is favored."""
    withheld = {
        f"{e.constructs[0]}, {e.scorers[0]}: {e.reason}."
        for e in analysis.estimates.select("error_by_system_given_human")
        if e.reason and e.reason.endswith(UNKNOWN_PREFERENCE)
    }
    return sorted(withheld)[:2]


def _lengths(analysis: Analysis) -> list[str]:
    sentences = []
    for e in analysis.estimates.select("error_by_length"):
        if analysis.claims.hold("calibration", e):
            scale = analysis.context.human_scale(e.constructs[0])
            how = "more lenient" if e.value > 0 else "more severe"
            sentences.append(
                f"{e.constructs[0]}: {e.scorers[0]} is {amount(abs(e.value), scale)} {how} than "
                "people to a response twice as long "
                f"{' '.join(filter(None, (between(e, scale, in_points=True), on_scale(scale))))}."
            )
    return sentences[:1]


#: Systems of which a row is shown; estimates.csv has the rest.
SYSTEMS_SHOWN = 12


def _examined(analysis: Analysis) -> Iterator[TableRow]:
    for data, scorer, _, _ in analysis.context.scored("examined"):
        yield TableRow(analysis, {"construct": data.construct, "scorer": scorer})


def _squared_error(row: TableRow, built: TableBuilder) -> Cell:
    """The calibration error in squared points, its upper bound below."""
    form = f".{max(1, 2 * digits(human_scale(row)))}f"
    error, bound = (
        built.number(row.first(f"calibration_error_squared{end}"), form) for end in ("", "_upper")
    )
    at_most = f"at most {bound.text}" if bound.text not in {"", "—"} else ""
    return replace(error, interval=at_most)


calibrated = TableOf(
    "calibration",
    "Calibration and recalibration",
    "The line of people's value on the judge's score: slope 1 and intercept 0 need no "
    "recalibration. Calibration error: mean over bins of the squared distance between people's "
    "mean and the judge's, less the part that is noise (it may be negative), with its "
    "{level:.0%} upper bound below. MAE and RMSE: mean absolute and "
    "root mean square difference from people as the judge is; RMSE also recalibrated by a line "
    "or a rising function learned on other queries, and line minus raw.",
    _examined,
    ("construct", "scorer", "recalibration_slope", in_points("recalibration_intercept"),
     Column("{calibration_error_squared}", _squared_error),
     in_points("recalibrated_mae", method="raw"),
     *(in_points("recalibrated_rmse", f"{{recalibrated_rmse}}{how}", method=method)
       for method, how in (("raw", ""), ("linear", ", line"), ("isotonic", ", isotonic"))),
     in_points("recalibrated_rmse_difference", "{recalibrated_rmse_difference}, line",
               method="linear"),
     formatted("distinct_scores", ",.0f", of="scorer")),
)  # fmt: skip


def _largest(analysis: Analysis) -> Iterator[TableRow]:
    """The systems with the largest differences of each scorer; one row where none is defined."""
    for row in _examined(analysis):
        rows = analysis.estimates.select("error_by_system_given_human", **row.where)
        largest = sorted((e for e in rows if e.defined), key=lambda e: -abs(e.value))
        for e in largest[:SYSTEMS_SHOWN] or rows[:1]:
            yield TableRow(analysis, row.where, e)


given_people = TableOf(
    "error-given-people",
    "Judge minus people at the same human value, by system",
    "Difference of a system from the average of all systems, once people's value is "
    "accounted for by a cubic: above 0 the judge favors it. The raters' noise is taken out of "
    "the human value where responses have two ratings; with one rating each (params.noise = "
    "in_reference) better systems look favored. Withheld where more than "
    f"{SATURATED:.0%} of the scores are at an end of the scale. Intervals are simultaneous "
    f"over the systems of a judge and construct. The {SYSTEMS_SHOWN} systems with the largest "
    "differences; all are in estimates.csv.",
    _largest,
    ("construct", "scorer",
     in_words("System", lambda row: row.estimate.systems[0] if row.estimate.defined else "each"),
     in_points("error_by_system_given_human")),
    heads=3,
)  # fmt: skip


by_length = TableOf(
    "error-by-length",
    "Judge minus people by length",
    "Slope of judge minus people on the binary logarithm of a response's words: points by "
    "which the judge is more lenient, or more severe, to a response that is twice as long.",
    each("error_by_length"),
    ("construct", "scorer", in_points("error_by_length"), "responses"),
)


SECTION = Section(
    key="calibration",
    title="Level and calibration",
    statistics=estimates.STATISTICS,
    figures=(figures.bias_by_system, figures.reliability_diagram, figures.error_by_level),
    tables=(calibrated, given_people, by_length),
    details=("calibration", "error-given-people", "error-by-length"),
    reading=reading,
    compared=compared,
)
