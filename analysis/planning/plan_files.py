"""A plan as a file: curves as a drawing or a page, all designs as CSV or JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from analysis.core.errors import AnalysisError
from analysis.planning import curve, power_curve
from analysis.planning.designs import QueriesNeeded
from analysis.planning.power import PowerPlan
from analysis.planning.simulation import WidthPlan
from analysis.render.drawing import Drawing

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


def as_document(
    widths: WidthPlan | None, power: PowerPlan | None, notes: Sequence[str]
) -> dict[str, Any]:
    """The plan as values for JSON; null where no width, or no claim, was planned for."""
    return {
        "widths": None if widths is None else widths.as_json(),
        "power": None if power is None else power.as_json(),
        "notes": list(notes),
    }


def write_plan(
    widths: WidthPlan | None, power: PowerPlan | None, notes: Sequence[str], path: Path
) -> None:
    """Write NAME.svg (one curve), NAME.html (all, with answers), NAME.csv or NAME.json (designs).

    Raises
    ------
    AnalysisError
        The name has another ending, an SVG would have several curves, or the file can't be written.
    """
    if path.suffix == ".json":
        text = json.dumps(as_document(widths, power, notes), ensure_ascii=False, indent=1) + "\n"
    elif path.suffix == ".csv":
        text = _designs(widths, power)
    elif path.suffix in {".svg", ".html"}:
        drawings = _drawings(widths, power)
        if path.suffix == ".html":
            text = _page(widths, power, drawings)
        elif len(drawings) == 1:
            svg = drawings[0].svg.replace("<svg ", f'<svg style="{_TOKENS}" ', 1)
            text = f'<?xml version="1.0" encoding="utf-8"?>\n{svg}\n'
        else:
            raise AnalysisError(
                f"{path} can have one curve, not {len(drawings)}; name one with --wanted or "
                "--claim, or write an .html file"
            )
    else:
        raise AnalysisError(f"{path}: a plan is written to .svg, .html, .csv or .json")
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise AnalysisError(f"{path} can't be written: {error.strerror}") from None


def _drawings(widths: WidthPlan | None, power: PowerPlan | None) -> list[Drawing]:
    return [
        *([] if widths is None else [curve.drawn(widths, name) for name in widths.wanted]),
        *([] if power is None else [power_curve.drawn(power, name) for name in power.claims]),
    ]


def _designs(widths: WidthPlan | None, power: PowerPlan | None) -> str:
    """A row for each simulated design and half width or claim."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    if widths is not None:
        rows += [{"wanted": widths.wanted[c.statistic], **asdict(c)} for c in widths.cells]
    if power is not None:
        rows += [asdict(cell) for cell in power.cells]
    first = [
        "statistic",
        "wanted",
        "claim",
        "effect",
        "target",
        "queries",
        "raters",
        "responses",
        "ratings",
    ]
    frame = pd.DataFrame(rows)
    order = [name for name in first if name in frame] + [n for n in frame if n not in first]
    return frame[order].to_csv(index=False)


def _page(widths: WidthPlan | None, power: PowerPlan | None, drawings: Sequence[Drawing]) -> str:
    css = files("analysis.render").joinpath("report.css").read_text(encoding="utf-8")
    parts = []
    if widths is not None:
        rows = [_row(a, a.statistic, a.wanted) for a in widths.answers]
        parts += [f"<p>{escape(curve.caption(widths))}</p>", _table("figure", "half width", rows)]
    if power is not None:
        rows = [_row(a, a.claim, a.effect) for a in power.answers]
        parts += [f"<p>{escape(power_curve.caption(power))}</p>", _table("claim", "effect", rows)]
    figures = "".join(f"<figure>{drawing.svg}</figure>" for drawing in drawings)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><title>Sample sizes</title>'
        f"<style>{css}{_COLUMNS}</style></head><body>"
        f"<h1>Sample sizes</h1>{''.join(parts)}{figures}</body></html>\n"
    )


def _row(answer: QueriesNeeded, name: str, wanted: float | None) -> str:
    numbers = [answer.queries, answer.responses, answer.ratings]
    cells = [f"{number:,}" if number is not None else "" for number in numbers]
    hours = f"{answer.hours:,.0f}" if answer.hours is not None else ""
    texts = [
        name,
        "" if wanted is None else f"{wanted:g}",
        str(answer.raters),
        *cells,
        hours,
        answer.reason or "",
    ]
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in texts) + "</tr>"


def _table(name: str, wanted: str, rows: Sequence[str]) -> str:
    names = (name, wanted, "raters", "queries", "responses", "ratings", "hours", "remark")
    header = "".join(f"<th>{heading}</th>" for heading in names)
    return f"<table><thead><tr>{header}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
