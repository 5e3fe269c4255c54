"""The input of a report, from a study."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.cli.report_input import NoScores, Place, ReportInput
from study.text import shell_word

if TYPE_CHECKING:
    from analysis.core.analysis import LabeledTexts
    from analysis.core.context import Context


def from_study(folder: Path, chosen: dict[str, Any]) -> ReportInput:
    """The tables, options and runs of a study; `chosen` options replace those of study.toml."""
    from analysis.cli.study_options import study_options
    from analysis.cli.study_tables import study_tables, traits_of
    from judge.inspect.show import run_record
    from study import Study

    with Study.open(folder) as study:
        given = study.analysis_input(traits_of)
        runs = [{**run, "account": run_record(study, run["name"])} for run in given.runs]
    tables = study_tables(given)
    if tables.scores.frame.empty and tables.preferences is None:
        raise NoScores(
            f"{folder} has no scores yet; import them with `ccrs import {shell_word(folder)} FILE`"
        )
    return ReportInput(
        **tables._asdict(),
        options=study_options(given, tables.scores, runs, folder, chosen),
        name=given.config.name,
        judge_runs=runs,
        reasons=_reasons_of(folder, given.versions),
        labeled_texts=_labeled_texts_of(folder, runs),
    )


def _reasons_of(
    folder: Path, versions: Mapping[str, int]
) -> Callable[[Sequence[Place]], dict[Place, str]]:
    """A function that reads the judges' rationales of some scores."""

    def reasons(places: Sequence[Place]) -> dict[Place, str]:
        from study import Study
        from study.facts.judgments import judge_reasons

        with Study.open(folder) as opened, opened.read() as connection:
            return judge_reasons(connection, versions, places)

    return reasons


def _labeled_texts_of(
    folder: Path, runs: Sequence[Mapping[str, Any]]
) -> Callable[[Context], LabeledTexts]:
    """A function that reads the claims of metrics in steps for the responses to read."""
    from judge.protocol.conditions import METRIC

    scorers = {run["name"] for run in runs if METRIC in run["decoding"]}

    def read(context: Context) -> LabeledTexts:
        from analysis.core.analysis import LabeledText, LabeledTexts
        from analysis.topics.agreement.labeled_claims import responses_to_read
        from judge.inspect.labeled_texts import labeled_texts
        from study import Study

        chosen, number = responses_to_read(context, scorers)
        places = [(construct, key) for construct, keys in chosen.items() for key in keys]
        if not places:
            return LabeledTexts()
        with Study.open(folder) as study:
            found = labeled_texts(study, scorers, places)
        made = {of: tuple(LabeledText(*text) for text in texts) for of, texts in found.items()}
        return LabeledTexts(made, number)

    return read
