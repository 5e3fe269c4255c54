"""Box plots of scores by system, of judge and people, by construct."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.core.analysis import Analysis
from analysis.core.arrays import FloatArray
from analysis.core.construct_data import ConstructData
from analysis.render.drawing import (
    ACCENT,
    INK,
    SOFT,
    Drawing,
    Figure,
    as_svg,
    canvas,
    head,
    name_rows,
)
from analysis.render.labels import distinct_labels
from analysis.render.panels import CONSTRUCTS_DRAWN, WIDTH

#: Systems and scorers drawn for a construct; the CSV has all.
SYSTEMS_DRAWN, SCORERS_DRAWN = 8, 3

PEOPLE = "people"

_QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)
_COLUMNS = ("minimum", "lower_quartile", "median", "upper_quartile", "maximum")

# Characters of the name of a box.
_NAME_ROOM = 24


def box_plots(analysis: Analysis) -> Iterator[Figure]:
    """A drawing for each construct, a box for each system and scorer."""
    boxes = pd.DataFrame([row for data in analysis.context.whole.values() for row in _boxes(data)])
    if boxes.empty:
        return
    drawings = []
    constructs = list(dict.fromkeys(boxes["construct"]))[:CONSTRUCTS_DRAWN]
    for number, construct in enumerate(constructs):
        construct_boxes = boxes[boxes["construct"] == construct]
        scorers = _on_one_scale(analysis, construct, list(dict.fromkeys(construct_boxes["scorer"])))
        systems = list(dict.fromkeys(construct_boxes["system"]))[:SYSTEMS_DRAWN]
        drawn = construct_boxes[
            construct_boxes["scorer"].isin(scorers) & construct_boxes["system"].isin(systems)
        ]
        drawings.append(_draw(analysis.scores.full_name(construct), drawn, f"boxes-{number}"))
    yield Figure(
        key="box-plots",
        title="Scores by system",
        caption=(
            "Median and quartiles of the scores on each system's responses; the whiskers end at "
            "the smallest and the largest score. Filled: judges and metrics, on all responses; "
            "open: single human ratings."
            f" At most {SYSTEMS_DRAWN} systems and {SCORERS_DRAWN} scorers on one scale are drawn; "
            "the CSV has all."
        ),
        drawings=tuple(drawings),
        data=boxes,
    )


def _on_one_scale(analysis: Analysis, construct: str, scorers: list[str]) -> list[str]:
    """The first scorers on the scale of the first of all, and people where theirs is the same."""

    def scale_range(scorer: str) -> tuple[float, float] | None:
        people = scorer == PEOPLE
        scale = (
            analysis.context.human_scale(construct)
            if people
            else analysis.scores.scale(construct, scorer)
        )
        return None if scale is None else (scale.min, scale.max)

    alike = [scorer for scorer in scorers if scale_range(scorer) == scale_range(scorers[0])]
    others = [scorer for scorer in alike if scorer != PEOPLE][:SCORERS_DRAWN]
    return [*others, *(scorer for scorer in alike if scorer == PEOPLE)]


def _boxes(data: ConstructData) -> Iterator[dict[str, object]]:
    for system in data.systems or ("all responses",):
        rows = (
            data.produced_by(system) if data.systems else np.ones(len(data.responses), dtype=bool)
        )
        scored = {name: values[rows] for name, values in data.scorers.items()}
        for scorer, values in (scored | {PEOPLE: data.ratings[rows].ravel()}).items():
            present: FloatArray = values[np.isfinite(values)]
            if present.size:
                yield {
                    "construct": data.construct,
                    "system": system,
                    "scorer": scorer,
                    "scores": present.size,
                    **dict(zip(_COLUMNS, np.quantile(present, _QUANTILES).tolist(), strict=True)),
                }


def _draw(construct: str, boxes: pd.DataFrame, key: str) -> Drawing:
    several = len(set(boxes["scorer"])) > 1
    names = [
        f"{box.system}, {box.scorer}" if several else str(box.system) for box in boxes.itertuples()
    ]
    with canvas(WIDTH * 1.5, 0.5 + 0.24 * len(boxes)) as (figure, axes):
        place = np.arange(len(boxes))[::-1]
        for at, box in zip(place, boxes.to_dict("records"), strict=True):
            color = INK if box["scorer"] == PEOPLE else ACCENT
            low, lower, middle, upper, high = (float(box[name]) for name in _COLUMNS)
            axes.plot([low, lower], [at, at], color=color, linewidth=0.8)
            axes.plot([upper, high], [at, at], color=color, linewidth=0.8)
            axes.barh(
                at, upper - lower, 0.55, lower, edgecolor=color, linewidth=0.9,
                color="none" if box["scorer"] == PEOPLE else SOFT,
            )  # fmt: skip
            axes.plot([middle, middle], [at - 0.27, at + 0.27], color=color, linewidth=1.8)
        name_rows(axes, place, distinct_labels(names, _NAME_ROOM), top=0.6, grid=False)
        axes.locator_params(axis="x", nbins=5)
        head(figure, construct)
        described = "; ".join(
            f"{name} median {box['median']:g}, quartiles {box['lower_quartile']:g} to "
            f"{box['upper_quartile']:g}"
            for name, box in zip(names, boxes.to_dict("records"), strict=True)
        )
        return as_svg(figure, key, f"{construct}: scores by system", f"{described}.")
