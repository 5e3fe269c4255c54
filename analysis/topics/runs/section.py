"""Section of the report: how the judge was run, with its figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis.core.analysis import Analysis
from analysis.render.drawing import ACCENT, MUTED, Drawing, Figure, as_svg, canvas, head, name_rows
from analysis.render.formatting import listed, percent
from analysis.render.labels import distinct_labels, shortened
from analysis.render.panels import WIDTH
from analysis.render.section import Section
from analysis.topics.runs import tables


def reading(analysis: Analysis) -> Iterator[str]:
    """A judge that changed, calls that were killed, what is missing for good."""
    for run in analysis.inputs.judge_runs:
        account = run.get("account")
        if not account:
            continue
        served = account["served"]
        if len(served) > 1:
            yield (
                f"{run['name']}: the server named {len(served)} models or settings in the course "
                f"of the run, the last from {tables.moment(served[-1]['first'])} UTC on. "
                "Scores before and after may be those of different judges."
            )
        missing, whole = account["missing"], account["judgments"]
        if missing:
            reasons = sorted(account["missing_by_reason"].items(), key=lambda item: -item[1])
            reasons_counted = [
                f"{number:,} {reason.replace('_', ' ')}" for reason, number in reasons
            ]
            yield (
                f"{run['name']}: {missing:,} of {whole:,} judgments ({percent(missing / whole)}) "
                f"have no value: {listed(reasons_counted)}."
            )
        if account["possible"] > whole:
            yield (
                f"{run['name']} is not finished: {account['possible'] - whole:,} of "
                f"{account['possible']:,} judgments are still to be made."
            )


#: Runs and constructs drawn; the CSV has all.
RUNS_DRAWN, CONSTRUCTS_DRAWN = 8, 12

# Characters of a construct's name, and of the reasons above its bar.
_NAME_ROOM, _ROOM = 14, 34


def judge_missing(analysis: Analysis) -> Iterator[Figure]:
    """A panel for each run that lacks a value."""
    runs = [
        (str(run["name"]), run["account"]["constructs"])
        for run in analysis.inputs.judge_runs
        if run.get("account") and run["account"]["missing"]
    ]
    if not runs:
        return
    shares = [
        1 - construct["values"] / construct["judgments"] for _, some in runs for construct in some
    ]
    reach = min(1.0, max(0.05, 1.1 * max(shares)))
    cut = len(runs) > RUNS_DRAWN or any(len(some) > CONSTRUCTS_DRAWN for _, some in runs)
    yield Figure(
        key="judge-missing",
        title="What the judge left without a value, and why",
        caption=(
            "Share of a run's judgments on a construct that have no value, with the reasons, the "
            "most frequent first. Missing scores are never 0, and are not asked again."
            + (" The first runs and constructs are drawn; the CSV has all." if cut else "")
        ),
        drawings=tuple(
            _draw(name, some[:CONSTRUCTS_DRAWN], reach, f"judge-missing-{number}")
            for number, (name, some) in enumerate(runs[:RUNS_DRAWN])
        ),
        data=pd.DataFrame(
            [
                {"run": name, "construct": construct["construct"], "reason": reason, "count": count,
                 "of": construct["judgments"]}
                for name, some in runs
                for construct in some
                for reason, count in construct["missing"].items()
            ]
        ),
    )  # fmt: skip


def _draw(name: str, constructs: Sequence[Mapping[str, Any]], reach: float, key: str) -> Drawing:
    with canvas(WIDTH, 0.8 + 0.3 * len(constructs)) as (figure, axes):
        place = np.arange(len(constructs))[::-1]
        shares = [1 - construct["values"] / construct["judgments"] for construct in constructs]
        axes.barh(place, shares, height=0.35, color=ACCENT)
        for at, construct in zip(place, constructs, strict=True):
            axes.text(0, at + 0.28, shortened(_reasons(construct), _ROOM), size=6.5, color=MUTED)
        axes.set_xlim(0, reach)
        name_rows(
            axes,
            place,
            distinct_labels([str(construct["construct"]) for construct in constructs], _NAME_ROOM),
            top=0.8,
            grid=False,
        )
        axes.locator_params(axis="x", nbins=4)
        axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g}%")
        head(figure, name)
        shares_stated = "; ".join(
            f"{construct['construct']} {percent(share)}: {_reasons(construct)}"
            for construct, share in zip(constructs, shares, strict=True)
        )
        return as_svg(figure, key, f"{name}: judgments without a value", f"{shares_stated}.")


def _reasons(construct: Mapping[str, Any]) -> str:
    parts = [f"{n:,} {reason.replace('_', ' ')}" for reason, n in construct["missing"].items()]
    return ", ".join(parts) or "none"


SECTION = Section(
    key="runs",
    title="How the judge was run",
    figures=(judge_missing,),
    tables=(tables.made_with, tables.worked, tables.scorers, tables.calls),
    reading=reading,
    on_categories=(
        reading,
        judge_missing,
        tables.made_with,
        tables.worked,
        tables.scorers,
        tables.calls,
    ),
)
