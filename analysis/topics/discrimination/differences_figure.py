"""Differences between systems, by the judge and by people, on one axis."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate, to_frame
from analysis.render.drawing import ACCENT, INK, MUTED, RULE, Drawing, as_svg, canvas, head
from analysis.render.figure import Figure
from analysis.render.formatting import digits, points
from analysis.render.labels import told_apart
from analysis.topics.discrimination.tables import name_of

#: Pairs of systems in one panel; of more than that the tables and estimates.csv speak.
PAIRS_DRAWN = 15

#: Characters of a system's name.
NAME_ROOM = 12


def system_differences(analysis: Analysis) -> Iterator[Figure]:
    """A panel a construct: the first judge's differences, with people's where they compare."""
    panels = []
    for construct, data in analysis.context.whole.items():
        judges = [name for name in data.scorers if data.kinds[name] == "judge"]
        judge = next(iter(judges or data.scorers), None)
        records = [
            e
            for e in analysis.estimates.select("system_difference", construct=construct)
            if e.has_interval
        ]
        own = [e for e in records if e.scorers == (judge,)]
        people = [e for e in records if e.n_raters or e.scorers[0] in data.adjudicated]
        if judge and own and analysis.context.differences_withheld(construct, judge):
            people = []
        pairs = list(dict.fromkeys(e.systems for e in own or people))
        if 0 < len(pairs) <= PAIRS_DRAWN:
            panels.append((construct, pairs, own, people))
    if not panels:
        return
    shown = [e for _, _, own, people in panels for e in (*own, *people)]
    names = list(dict.fromkeys(name_of(analysis, e) for e in shown))
    yield Figure(
        key="system-differences",
        title="How far do systems differ, by the judge and by people?",
        caption=(
            f"Mean of the first system minus that of the second, in points ({', '.join(names)}). "
            f"Filled: the judge on all its scores; open squares: people on what they rated. Bars: "
            f"{analysis.options.level:.0%} intervals that hold for all pairs of a panel at once, "
            "queries resampled. A bar that misses the line tells the two systems apart."
        ),
        drawings=tuple(
            _draw(analysis, *panel, f"system-differences-{number}")
            for number, panel in enumerate(panels)
        ),
        data=to_frame(shown),
    )


def _draw(
    analysis: Analysis,
    construct: str,
    pairs: list[tuple[str, ...]],
    own: list[Estimate],
    people: list[Estimate],
    key: str,
) -> Drawing:
    scale = analysis.scores.scale(construct, (own or people)[0].scorers[0])
    with canvas(2.9, 0.85 + 0.24 * len(pairs)) as (figure, axes):
        place = {pair: len(pairs) - 1 - number for number, pair in enumerate(pairs)}
        axes.axvline(0, color=MUTED, linewidth=0.8, dashes=(3, 2))
        for records, color, mark, fill, shift in (
            (own, ACCENT, "o", ACCENT, 0.14 if people else 0.0),
            (people, INK, "s", "none", -0.14 if own else 0.0),
        ):
            kept = [e for e in records if e.systems in place]
            at = np.array([place[e.systems] + shift for e in kept])
            axes.hlines(
                at, [e.ci_low for e in kept], [e.ci_high for e in kept], color=color, linewidth=1.2
            )
            axes.plot(
                [e.value for e in kept], at, mark, color=color, markerfacecolor=fill, markersize=3.8
            )
        ends = [abs(end) for e in (*own, *people) for end in (e.ci_low, e.ci_high)]
        reach = max(ends) * 1.06
        axes.set_xlim(-reach, reach)
        axes.set_ylim(-0.6, len(pairs) - 0.4)
        names = list(dict.fromkeys(name for pair in pairs for name in pair))
        short = dict(zip(names, told_apart(names, NAME_ROOM), strict=True))
        labels = ["−".join(short[name] for name in pair) for pair in pairs]
        axes.set_yticks([place[pair] for pair in pairs], labels)
        axes.tick_params(axis="y", length=0, labelcolor=INK, labelsize=7)
        axes.spines["left"].set_visible(False)
        axes.locator_params(axis="x", nbins=5)
        few = max(0, digits(scale) + (1 if reach < 1 else 0))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:.{few}f}".replace("-", "−"))
        axes.set_xlabel("difference in points")
        axes.grid(axis="x", color=RULE, linewidth=0.4)
        axes.set_axisbelow(True)
        head(figure, construct)
        said = "; ".join(
            f"{name_of(analysis, e)}, {' minus '.join(e.systems)}: {points(e.value, scale, 1)}"
            for e in (*own, *people)
        )
        return as_svg(figure, key, f"Differences between systems on {construct}", said)
