"""Curves of achieved significance: how many pairs of systems each construct tells apart."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate, to_frame
from analysis.render.drawing import ACCENT, INK, MUTED, RULE, Drawing, as_svg, canvas, head
from analysis.render.figure import Figure
from analysis.render.labels import shortened
from analysis.render.panels import JUDGES_DRAWN
from analysis.topics.discrimination.tables import name_of

#: Curves told apart in one panel, by line, mark and tone.
_LINES = (
    (INK, "-", "o"), (ACCENT, "--", "s"), (MUTED, "-.", "^"), (INK, ":", "D"), (ACCENT, "-", "v"),
    (MUTED, "--", "P"), (INK, "-.", "X"), (ACCENT, ":", "*"),
)  # fmt: skip

#: Pairs from which points are joined without marks.
_MARKED = 40


def asl_curves(analysis: Analysis) -> Iterator[Figure]:
    """A panel a judge, and one of people's own scores; a curve a construct."""
    found: dict[str, dict[str, list[Estimate]]] = {}
    for e in analysis.estimates.select("randomised_tukey_hsd_p"):
        if e.defined:
            own = found.setdefault(name_of(analysis, e), {})
            own.setdefault(e.constructs[0], []).append(e)
    kinds = analysis.scorer_kinds
    judges = [name for name in found if kinds.get(name) == "judge"]
    metrics = [name for name in found if kinds.get(name) == "metric"]
    people = [name for name in found if kinds.get(name) not in {"judge", "metric"}]
    drawn = [*(judges or metrics)[:JUDGES_DRAWN], *people]
    # With a single pair there is no curve.
    shown = {
        name: dict(list(found[name].items())[: len(_LINES)])
        for name in drawn
        if any(len(pairs) > 2 for pairs in found[name].values())
    }
    if not shown:
        return
    more = any(len(found[name]) > len(_LINES) for name in shown)
    yield Figure(
        key="asl-curves",
        title="How many pairs of systems are told apart?",
        caption=(
            "p of every pair of systems by the randomized Tukey HSD test, the largest first. A "
            "curve that falls early tells more pairs apart; below the dashed line, p < .05. "
            "People's scores rest on the responses that they rated."
            + (f" The first {len(_LINES)} constructs are drawn." if more else "")
        ),
        drawings=tuple(
            _draw(name, curves, f"asl-{number}")
            for number, (name, curves) in enumerate(shown.items())
        ),
        data=to_frame(e for curves in shown.values() for pairs in curves.values() for e in pairs),
    )


def _draw(name: str, curves: dict[str, list[Estimate]], key: str) -> Drawing:
    with canvas(2.9, 2.7) as (figure, axes):
        axes.axhline(0.05, color=MUTED, linewidth=0.8, dashes=(4, 2))
        said = []
        longest = 1
        for (construct, pairs), (color, line, mark) in zip(curves.items(), _LINES, strict=False):
            p = np.sort([e.value for e in pairs])[::-1]
            longest = max(longest, p.size)
            axes.plot(
                np.arange(1, p.size + 1), p, color=color, linestyle=line, linewidth=1.1,
                marker=mark if p.size <= _MARKED else "", markersize=3.2,
                label=shortened(construct, 14),
            )  # fmt: skip
            said.append(f"{construct}: {np.count_nonzero(p < 0.05)} of {p.size} below .05")
        axes.set_ylim(-0.03, 1.03)
        axes.set_xlim(0.5, longest + 0.5)
        axes.set_yticks([0, 0.05, 0.5, 1], ["0", ".05", ".5", "1"])
        axes.locator_params(axis="x", integer=True)
        axes.set_xlabel("pairs of systems, largest p first")
        axes.set_ylabel("p")
        axes.grid(axis="y", color=RULE, linewidth=0.4)
        axes.set_axisbelow(True)
        axes.legend(frameon=False, fontsize=7, handlelength=3.2, loc="upper right")
        head(figure, name)
        return as_svg(figure, key, f"p of all pairs of systems, {name}", "; ".join(said))
