"""Section of the report: how the judge was run, and what it took."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.render.formatting import listed, percent
from analysis.render.section import Section
from analysis.topics.runs import figures, tables


def reading(analysis: Analysis) -> Iterator[str]:
    """A judge that changed, calls that were killed, what is missing for good."""
    for run in analysis.inputs.judge_runs:
        told = run.get("account")
        if not told:
            continue
        served = told["served"]
        if len(served) > 1:
            yield (
                f"{run['name']}: the server named {len(served)} models or settings in the course "
                f"of the run, the last from {tables.moment(served[-1]['first'])} UTC on. "
                "Scores before and after may be those of different judges."
            )
        missing, whole = told["missing"], told["judgments"]
        if missing:
            reasons = sorted(told["missing_by_reason"].items(), key=lambda item: -item[1])
            said = [f"{number:,} {reason.replace('_', ' ')}" for reason, number in reasons]
            yield (
                f"{run['name']}: {missing:,} of {whole:,} judgments ({percent(missing / whole)}) "
                f"have no value: {listed(said)}."
            )
        if told["possible"] > whole:
            yield (
                f"{run['name']} is not finished: {told['possible'] - whole:,} of "
                f"{told['possible']:,} judgments are still to be made."
            )


SECTION = Section(
    key="runs",
    title="How the judge was run",
    figures=(figures.judge_missing,),
    tables=(tables.made_with, tables.worked, tables.calls),
    reading=reading,
)
