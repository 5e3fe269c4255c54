"""The command `ccrs doctor`: what a file or a study contains, and what can be computed."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analysis.cli.column_options import NamedColumns, named_columns_options
from analysis.cli.report_input import CannotRun, kind_option, scale_option
from analysis.cli.second_file import SecondFile, second_file_options
from study.cli.options import AS_JSON

if TYPE_CHECKING:
    from analysis.cli.source_contents import SourceContents
    from analysis.doctor.diagnosis import Diagnosis


@click.command()
@click.argument("source", type=click.Path(path_type=Path), metavar="STUDY_OR_FILE")
@second_file_options
@named_columns_options
@scale_option
@kind_option
@AS_JSON
def doctor(
    source: Path,
    second: SecondFile,
    columns: NamedColumns,
    scales: tuple[str, ...],
    kinds: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show what a file or study contains and what can be computed.

    STUDY_OR_FILE is a study's folder, or a file: a table of scores or preferences, long, wide or
    with a column for each judge and rater, or responses or results to import. Nothing is changed
    or written. Exit status: 0 something can be computed, 1 nothing, 2 the file can't be read.

    \b
    Examples:
      ccrs doctor scores.csv
      ccrs doctor ratings.csv --kind anna=human --kind gpt=judge
      ccrs doctor my-study
    """
    from analysis.cli.doctor_output import say, say_json
    from analysis.cli.given_options import Facts, check_given
    from analysis.cli.source_contents import file_contents, joined_contents, study_contents
    from analysis.core.errors import AnalysisError
    from analysis.doctor.diagnosis import diagnose
    from study.errors import StudyError

    if not source.exists():
        raise CannotRun(f"{source} does not exist; name a table of scores or a study's folder")
    try:
        contents = (
            study_contents(source, scales, kinds, columns)
            if source.is_dir()
            else joined_contents(source, second, scales, kinds, columns)
            if second.path is not None
            else file_contents(source, scales, kinds, columns)
        )
        diagnosis = None if contents.scores is None else diagnose(contents.scores)
    except (AnalysisError, StudyError) as error:
        raise CannotRun(str(error)) from None
    if not contents.unclear:
        check_given(Facts(contents.scores, compares=contents.form == "preferences"))
    command = _command(contents, scales, kinds, diagnosis)
    if as_json:
        say_json(contents, diagnosis, command)
    else:
        say(source, contents, diagnosis, command)
    if contents.unclear or contents.refused or (diagnosis is not None and not diagnosis.usable):
        raise click.exceptions.Exit(1)


def _command(
    contents: SourceContents,
    scales: tuple[str, ...],
    kinds: tuple[str, ...],
    diagnosis: Diagnosis | None,
) -> str:
    words = [contents.command]
    if diagnosis is not None:
        declared = (*scales, *diagnosis.scales)
        all_kinds = (*kinds, *(f"{scorer}={kind}" for scorer, kind in contents.kinds.items()))
        words += [f"--scale {shlex.quote(scale)}" for scale in declared]
        words += [f"--kind {shlex.quote(kind)}" for kind in all_kinds]
    return " ".join(words)
