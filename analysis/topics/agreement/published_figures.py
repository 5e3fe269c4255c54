"""Figures that a publication reports on the study's data, next to those of this report."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import NamedTuple

from analysis.core.analysis import Analysis
from analysis.render.formatting import correlation
from analysis.render.table import Cell, Table, TableBuilder
from study.base.published_figures import Measure, PublishedFigures

_IN_WORDS: dict[Measure, str] = {
    "pearson": "Pearson's r",
    "spearman": "Spearman's rho",
    "preference_accuracy": "accuracy of preferences",
    "mean": "means",
}


class _Key(NamedTuple):
    place: str
    """Construct, or system where means are published."""
    scorer: str


class _Here(NamedTuple):
    value: float
    cell: Cell


def published_figures(analysis: Analysis) -> Iterator[Table]:
    """A table for each publication and measure: its figures, and those of the scorers here."""
    for number, declared in enumerate(analysis.options.published_figures, 1):
        yield _table(analysis, declared, f"published-figures-{number}")


def _table(analysis: Analysis, declared: PublishedFigures, key: str) -> Table:
    built = TableBuilder()
    published = {
        _Key(place, scorer): value
        for scorer, row in declared.figures.items()
        for place, value in row.items()
    }
    places = list(dict.fromkeys(place for place, _ in published))
    is_mean = declared.measure == "mean"
    here = dict(
        _means(analysis, declared) if is_mean else _measured(analysis, declared, built, places)
    )
    here = {at: found for at, found in here.items() if at.place in places}

    def rank(at: _Key) -> tuple[int, float, str]:
        value = published[at] if at in published else here[at].value
        # One that is not defined (NaN) is last.
        return places.index(at.place), float("inf") if isnan(value) else -value, at.scorer

    records = []
    for at in sorted({*published, *here}, key=rank):
        figure = published.get(at)
        text = "" if figure is None else f"{figure:.3f}" if is_mean else correlation(figure)
        built.add(*at, text, here[at].cell if at in here else "")
        records.append((*at, figure, here[at].value if at in here else None))
    heading = _IN_WORDS[declared.measure]
    whom = " with people's preferences" if declared.on == "preferences" else " with people"
    if declared.measure == "preference_accuracy":
        whom = ""
    what = f"Means of {declared.construct_key} by system" if is_mean else heading + whom
    note = f" {declared.note}" if declared.note else ""
    unit = "System" if is_mean else "Construct"
    columns = (unit.lower(), "scorer", "published", "here")
    return built.table(
        key,
        f"Published on these data: {heading}",
        f"{what[0].upper()}{what[1:]}, as published by {declared.source}, and here.{note}",
        (unit, "Scorer", "Published", "Here"),
        heads=2,
        records=(dict(zip(columns, record, strict=True)) for record in records),
    )


def _means(analysis: Analysis, declared: PublishedFigures) -> Iterator[tuple[_Key, _Here]]:
    """Means of the first scores by system, of the scorers that the publication names."""
    frame = analysis.scores.frame
    first = frame[(frame["construct"] == declared.construct_key) & (frame["repeat"] == 0)]
    for (system, scorer), values in first.groupby(["system", "scorer"], observed=True)["value"]:
        if scorer in declared.figures and values.notna().any():
            value = float(values.mean())
            yield _Key(str(system), str(scorer)), _Here(value, Cell(f"{value:.3f}"))


def _measured(
    analysis: Analysis, declared: PublishedFigures, built: TableBuilder, places: list[str]
) -> Iterator[tuple[_Key, _Here]]:
    """Estimates of the measure, of every scorer."""
    on_preferences = declared.on == "preferences" or declared.measure == "preference_accuracy"
    params = {"on": "preferences"} if on_preferences else {}
    for e in analysis.estimates.select(declared.measure, **params):
        if not on_preferences and (e.scope != "pooled" or "on" in e.params):
            continue
        if e.constructs[0] in places:
            # Of preferences, raters are also compared with each other.
            among = on_preferences and "repeated_by" not in e.params
            name = " and ".join(e.scorers) if among else e.scorers[0]
            yield _Key(e.constructs[0], name), _Here(e.value, built.r(e))
