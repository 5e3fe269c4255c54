"""Shifts by probe: how far a judge's scores move where nothing should move them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate, to_frame
from analysis.render.drawing import (
    ACCENT,
    INK,
    MUTED,
    Drawing,
    Figure,
    as_svg,
    canvas,
    head,
    interval_bar,
    name_rows,
    zero_line,
)
from analysis.render.formatting import points
from analysis.render.labels import shortened
from analysis.render.panels import WIDTH

#: Scorers and constructs drawn; the table has more. Each scorer has a color and a mark.
_SIGNS = ((ACCENT, "o", "●"), (INK, "s", "■"), (MUTED, "^", "▲"), (INK, "D", "◆"))
CONSTRUCTS_DRAWN = 8
_NAME = 24

_Pair = tuple[Estimate, Estimate]


def probe_shifts(analysis: Analysis) -> Iterator[Figure]:
    """A panel a construct, a row a probe, a mark a scorer."""
    single, joint = (
        analysis.estimates.select("probe_shift", interval=kind)
        for kind in ("single", "simultaneous")
    )
    pairs = [(a, b) for a, b in zip(single, joint, strict=True) if a.defined]
    scorers = list(dict.fromkeys(a.scorers[0] for a, _ in pairs))
    drawn = scorers[: len(_SIGNS)]
    by_construct: dict[str, list[_Pair]] = {}
    for pair in pairs:
        if pair[0].scorers[0] in drawn:
            by_construct.setdefault(pair[0].constructs[0], []).append(pair)
    by_construct = dict(list(by_construct.items())[:CONSTRUCTS_DRAWN])
    if not by_construct:
        return
    prompts = {a.scorers[0]: str(a.params["prompts"]) for a, _ in pairs}
    key = ", ".join(
        f"{sign} {name} ({prompts[name]})"
        for (_, _, sign), name in zip(_SIGNS, drawn, strict=False)
    )
    rest = scorers[len(_SIGNS) :]
    reach = _reach([e for found in by_construct.values() for pair in found for e in pair])
    level = f"{analysis.options.level:.0%}"
    yield Figure(
        key="probe-shifts",
        title="Do scores move where they should not?",
        caption=(
            f"{key}. Score of the altered prompt minus the score of the prompt as it was, mean "
            f"over responses. Thick bars: {level} interval of each; thin bars: intervals of which "
            f"all of a scorer hold at once with {level}; queries resampled. 'again' is the same "
            "prompt once more."
            + (f" Not drawn, see the tables: {', '.join(rest)}." if rest else "")
        ),
        drawings=tuple(
            _draw(analysis, construct, found, drawn, reach, f"probes-{number}")
            for number, (construct, found) in enumerate(by_construct.items())
        ),
        data=to_frame(e for found in by_construct.values() for pair in found for e in pair),
    )


def _reach(rows: list[Estimate]) -> tuple[float, float]:
    ends = [v for e in rows for v in (e.value, e.ci_low, e.ci_high, 0.0) if not np.isnan(v)]
    room = 0.06 * ((max(ends) - min(ends)) or 1.0)
    return min(ends) - room, max(ends) + room


def _draw(
    analysis: Analysis,
    construct: str,
    pairs: list[_Pair],
    scorers: list[str],
    reach: tuple[float, float],
    key: str,
) -> Drawing:
    probes = list(dict.fromkeys(str(a.params["probe"]) for a, _ in pairs))
    step = 1 + 0.5 * (len(scorers) - 1)
    with canvas(WIDTH, 0.8 + 0.17 * step * len(probes)) as (figure, axes):
        place = {probe: -step * number for number, probe in enumerate(probes)}
        zero_line(axes)
        for single, joint in pairs:
            turn = scorers.index(single.scorers[0])
            color, mark, _ = _SIGNS[turn]
            at = place[str(single.params["probe"])] - 0.45 * (turn - (len(scorers) - 1) / 2)
            interval_bar(axes, at, joint, color, 0.7)
            interval_bar(axes, at, single, color, 2)
            axes.plot([single.value], [at], mark, color=color, markersize=3)
        axes.set_xlim(*reach)
        name_rows(
            axes,
            list(place.values()),
            [shortened(name.replace("-", " "), _NAME) for name in place],
            limits=(-step * (len(probes) - 0.4), 0.6 * step),
        )
        axes.locator_params(axis="x", nbins=5)
        axes.set_xlabel("points moved", loc="right")
        head(figure, construct)
        said = "; ".join(_stated(analysis, single) for single, _ in pairs)
        return as_svg(figure, key, f"{construct}: shift by probe", f"Points moved: {said}.")


def _stated(analysis: Analysis, e: Estimate) -> str:
    scale = analysis.scores.scale(e.constructs[0], e.scorers[0])
    name = str(e.params["probe"]).replace("-", " ")
    return f"{e.scorers[0]}, {name} {points(e.value, scale, 1)}".replace("-", "−")
