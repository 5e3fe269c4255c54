"""How much better, or worse, the mean of a judge's distribution follows people than its number."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate, to_frame
from analysis.render.drawing import ACCENT, INK, MUTED, RULE, Drawing, as_svg, canvas, head
from analysis.render.figure import Figure
from analysis.render.forest import zero_line
from analysis.render.formatting import between, correlation
from analysis.render.panels import JUDGES_DRAWN, WIDTH

#: Name, color and marker of each measure: told apart without color.
_MARKS = {
    "pearson": ("r", INK, "o"),
    "kendall_tau_b": ("tau-b", MUTED, "s"),
    "pairwise_accuracy": ("share of pairs", ACCENT, "D"),
}


def expected_gain(analysis: Analysis) -> Iterator[Figure]:
    """A panel a judge: the gains within a query, by construct, with their intervals."""
    gains = [
        e for e in analysis.estimates.select("expected_gain", scope="within_query") if e.defined
    ]
    judges = list(dict.fromkeys(e.scorers[1] for e in gains))
    if not judges:
        return
    shown = judges[:JUDGES_DRAWN]
    left = ", ".join(judges[JUDGES_DRAWN:])
    yield Figure(
        key="expected-gain",
        title="Does the mean of the distribution follow people better?",
        caption=(
            "Agreement with people within a query: of the mean of the judge's distribution, less "
            "that of the number it wrote, on the responses that have both. Right of the line the "
            "mean is better. Bars: intervals over queries."
            + (f" Not drawn, see the table: {left}." if left else "")
        ),
        drawings=tuple(
            _draw([e for e in gains if e.scorers[1] == judge], judge, f"expected-gain-{number}")
            for number, judge in enumerate(shown)
        ),
        data=to_frame(gains),
    )


def _draw(gains: list[Estimate], judge: str, key: str) -> Drawing:
    constructs = list(dict.fromkeys(e.constructs[0] for e in gains))
    said = []
    with canvas(WIDTH * 1.5, 0.9 + 0.42 * len(constructs)) as (figure, axes):
        zero_line(axes)
        for place, (measure, (name, color, marker)) in enumerate(_MARKS.items()):
            own = [e for e in gains if e.params["measure"] == measure]
            rows = [constructs.index(e.constructs[0]) + 0.22 * (place - 1) for e in own]
            for row, e in zip(rows, own, strict=True):
                if e.has_interval:
                    axes.plot([e.ci_low, e.ci_high], [row, row], color=color, linewidth=1)
                figures = f"{correlation(e.value)} {between(e)}".rstrip()
                said.append(f"{e.constructs[0]}, {name}: {figures}")
            axes.plot(
                [e.value for e in own], rows, color=color, marker=marker, markersize=3.5,
                linestyle="none", label=name,
            )  # fmt: skip
        axes.set_yticks(range(len(constructs)), constructs)
        axes.set_ylim(len(constructs) - 0.5, -0.5)
        axes.grid(axis="x", color=RULE, linewidth=0.4)
        axes.set_axisbelow(True)
        axes.set_xlabel("mean of the distribution less number written")
        axes.xaxis.set_major_formatter(lambda value, _: correlation(value).replace("-", "−"))
        head(figure, judge)
        figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=7)
        return as_svg(figure, key, f"Gain from the distribution of {judge}", "; ".join(said) + ".")
