"""Curves of a plan: half width by number of queries, a line for each number of raters."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from pathlib import Path

from analysis.core.errors import AnalysisError
from analysis.planning.simulated_study import STATISTICS
from analysis.planning.simulation import StudyPlan
from analysis.render.drawing import ACCENT, INK, MUTED, Drawing, as_svg, canvas, head

_DASHES = ("-", "--", ":", "-.")
_MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")

#: Colors of a drawing in its own file; on the page of a report its style sheet sets them.
_TOKENS = (
    "--ink:#21201c;--muted:#67645b;--rule:#d9d5ca;--accent:#1d5f8a;--soft:#bcd3e2;--page:#fff;"
    "--sans:system-ui,sans-serif"
)


#: Words are at the left, numbers at the right.
_COLUMNS = (
    "th:first-child,td:first-child,th:last-child,td:last-child{text-align:left}"
    "figure{margin:2.5rem 0;max-width:36rem}"
)


def write_curves(plan: StudyPlan, path: Path) -> None:
    """Write the curves to NAME.svg (one wanted figure) or NAME.html (any number, with answers).

    Raises
    ------
    AnalysisError
        The name has another ending, or an SVG would have several figures.
    """
    drawings = [drawn(plan, name) for name in plan.wanted]
    if path.suffix == ".svg":
        if len(drawings) != 1:
            raise AnalysisError(
                f"{path} can have one curve, not {len(drawings)}; name one with --wanted, or "
                "write an .html file"
            )
        svg = drawings[0].svg.replace("<svg ", f'<svg style="{_TOKENS}" ', 1)
        text = f'<?xml version="1.0" encoding="utf-8"?>\n{svg}\n'
    elif path.suffix == ".html":
        text = _page(plan, drawings)
    else:
        raise AnalysisError(f"{path}: a curve is written to .svg or .html")
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise AnalysisError(f"{path} can't be written: {error.strerror}") from None


def drawn(plan: StudyPlan, name: str) -> Drawing:
    """The curve of one figure."""
    cells = [c for c in plan.cells if c.statistic == name and c.reason is None]
    unit = "points" if STATISTICS[name].points else "half width"
    with canvas(5.2, 3.2) as (figure, axes):
        counts = sorted({cell.raters for cell in cells})
        for place, raters in enumerate(counts):
            of_raters = [cell for cell in cells if cell.raters == raters]
            axes.plot(
                [cell.queries for cell in of_raters],
                [cell.assured for cell in of_raters],
                linestyle=_DASHES[place % len(_DASHES)],
                marker=_MARKS[place % len(_MARKS)],
                markersize=3.5,
                linewidth=1.1,
                color=INK,
                label=f"{raters} rater{'s' if raters > 1 else ''}",
            )
        target = plan.wanted[name]
        axes.axhline(target, color=ACCENT, linewidth=1)
        axes.annotate(
            f"wanted {target:g}", (1, target), xycoords=("axes fraction", "data"),
            xytext=(4, 0), textcoords="offset points", va="center", color=ACCENT, size=7,
        )  # fmt: skip
        axes.set_xlabel("queries")
        axes.set_ylabel(f"half width of the interval ({unit})" if unit == "points" else unit)
        highest = max((cell.assured for cell in cells), default=target)
        axes.set_ylim(0, 1.15 * max(highest, target))
        if counts:
            axes.legend(
                frameon=False,
                labelcolor=MUTED,
                fontsize=7,
                loc="upper left",
                bbox_to_anchor=(1, 1),
            )
        head(figure, f"Width of {name}", STATISTICS[name].description)
        described = f"Half width of {name} by number of queries, a line for each number of raters"
        return as_svg(figure, f"plan-{name}", f"Width of {name}", described)


def caption(plan: StudyPlan) -> str:
    """How the curves were computed."""
    parts = ", ".join(
        f"{name} {value:g}"
        for name, value in (
            (field, round(getattr(plan.components, field), 2))
            for field in ("query", "response", "rater", "error", "judge", "slope")
        )
    )
    return (
        f"{plan.runs} simulated studies for each design, {plan.responses_per_query} responses to a "
        f"query, every rater rates all; standard deviations in points: {parts}. Shown is the half "
        f"width of the {plan.level:.0%} interval that {plan.assurance:.0%} of the studies keep to."
    )


def _page(plan: StudyPlan, drawings: list[Drawing]) -> str:
    css = files("analysis.render").joinpath("report.css").read_text(encoding="utf-8")
    rows = []
    for answer in plan.answers:
        numbers = [answer.queries, answer.responses, answer.ratings]
        cells = [f"{number:,}" if number is not None else "" for number in numbers]
        hours = f"{answer.hours:,.0f}" if answer.hours is not None else ""
        texts = [answer.statistic, f"{answer.wanted:g}", str(answer.raters), *cells, hours]
        texts.append(answer.reason or "")
        rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in texts) + "</tr>")
    names = (
        "figure", "half width", "raters", "queries", "responses", "ratings", "hours", "remark",
    )  # fmt: skip
    header = "".join(f"<th>{name}</th>" for name in names)
    figures = "".join(f"<figure>{drawing.svg}</figure>" for drawing in drawings)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><title>Sample sizes</title>'
        f"<style>{css}{_COLUMNS}</style></head><body>"
        f"<h1>Sample sizes</h1><p>{escape(caption(plan))}</p>"
        f"<table><thead><tr>{header}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        f"{figures}</body></html>\n"
    )
