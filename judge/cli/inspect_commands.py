"""The commands on prompts and stored runs: prompts, list, show, compare, export, reparse.

Only click is imported until a command runs.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from study.cli.options import AS_JSON, STUDY, print_result
from study.cli.unused_options import unused_if
from study.text import shell_word

RUN = click.argument("name", metavar="RUN")
_OF_ONE_RESPONSE = "it is for one response", "name one with --response ID"


def print_fields(result: Any, as_json: bool, *more: str) -> None:
    """Print a `judge.text.Result` as JSON, or as lines of text followed by further lines."""
    print_result(result.as_json(), [*result.lines(), *more], as_json)


@click.command()
@STUDY
@click.option("--new", metavar="NAME", help="Create a prompt version of the study as a copy.")
@click.option(
    "--of",
    "original",
    metavar="VERSION",
    help="With --new: the version to copy. Default: ccrs-paper-v1.",
)
@AS_JSON
@unused_if("original", lambda given: not given["new"], "nothing is copied", "add --new NAME")
def prompts(folder: Path, new: str | None, original: str | None, as_json: bool) -> None:
    """List the prompt versions for STUDY, or create a new one.

    The versions of a study are folders in its folder `prompts`, with a file for each construct
    and version.toml. Once a run has used a version, changed words need another name.

    \b
    Examples:
      ccrs judge prompts my-study
      ccrs judge prompts my-study --new ccrs-german-v1
    """
    from judge.prompts.prompt_versions import copy_version, list_versions
    from judge.prompts.template import PAPER
    from study.study import Study

    Study.open(folder).close()
    if new is not None:
        path = copy_version(folder, new, original or PAPER)
        print_result(
            {"name": new, "folder": str(path)},
            [
                f"Created {path} as a copy of {original or PAPER}; edit its words.",
                f"Next: ccrs judge {shell_word(folder)} --prompts {new} --dry-run",
            ],
            as_json,
        )
        return
    versions = list_versions(folder)
    lines = [
        f"{version.name}  ({', '.join(version.constructs)}; {version.hash[:12]}"
        f"{'; of this study' if version.in_study else ''})"
        for version in versions
    ]
    print_result([asdict(version) for version in versions], lines, as_json)


@click.command("list")
@STUDY
@AS_JSON
def list_(folder: Path, as_json: bool) -> None:
    """List the runs of STUDY with their progress.

    "judged" is the number of judgments in the score table, out of all responses on the constructs
    that the run has judged.

    \b
    Example:
      ccrs judge list my-study
    """
    from judge.inspect.list import list_runs, print_runs
    from study.study import Study

    with Study.open(folder) as study:
        runs = list_runs(study)
    if runs and not as_json:
        print_runs(runs)
        return
    start = f"ccrs judge {folder} --base-url URL --model NAME"
    lines = ["The study has no run yet.", f"Next: {start}"]
    print_result([summary.as_json() for summary in runs], lines, as_json)


@click.command()
@STUDY
@RUN
@click.option(
    "--response",
    metavar="ID",
    help="One response: prompts, raw answers, and how they were read.",
)
@click.option("--construct", metavar="KEY", help="With --response: only this construct.")
@click.option(
    "--metric",
    "metric_file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="With --response: the Python file of the run's metric, if it is not installed.",
)
@click.option(
    "--suspects",
    is_flag=True,
    help="List responses and passages that may contain an instruction to the judge.",
)
@AS_JSON
@unused_if("construct", lambda given: not given["response"], *_OF_ONE_RESPONSE)
@unused_if("metric_file", lambda given: not given["response"], *_OF_ONE_RESPONSE)
@unused_if("suspects", lambda given: given["response"], "it lists all responses")
def show(
    folder: Path,
    name: str,
    response: str | None,
    construct: str | None,
    metric_file: str | None,
    suspects: bool,
    as_json: bool,
) -> None:
    """Show a RUN of STUDY, or one response in it.

    Control characters in texts of models and servers are escaped; --json prints the exact texts.

    \b
    Examples:
      ccrs judge show my-study llama-3-70b
      ccrs judge show my-study llama-3-70b --response q1-A --construct CC
      ccrs judge show my-study llama-3-70b --suspects
    """
    from judge.inspect.response_details import show_response
    from judge.inspect.show import show_run
    from study.study import Study

    with Study.open(folder) as study:
        if suspects:
            from judge.inspect.suspects import list_suspects, suspect_lines

            detections = list_suspects(study, name)
            data = [suspect.as_json() for suspect in detections]
            print_result(data, suspect_lines(detections), as_json)
        elif response is None:
            print_fields(show_run(study, name), as_json)
        else:
            print_fields(show_response(study, name, response, construct, metric_file), as_json)


@click.command()
@STUDY
@click.argument("first", metavar="RUN")
@click.argument("second", metavar="RUN")
@AS_JSON
def compare(folder: Path, first: str, second: str, as_json: bool) -> None:
    """Compare two runs of STUDY.

    The command shows differences in conditions, shifts of scores, and changes in the order of
    systems. Shifts are the second run's scores minus the first's, in points, with 95% intervals
    over queries. Of repeated prompts, the first answers are compared. `ccrs judge rank` compares
    how well runs agree with people.

    \b
    Example:
      ccrs judge compare my-study llama-3-70b llama-3-70b-fenced
    """
    from analysis.core.errors import AnalysisError
    from analysis.statistics.agreement.scorer_comparison import shift_lines, two_scorers
    from judge.inspect.compare import compare_runs
    from judge.text import printable
    from study.errors import StudyError
    from study.study import Study

    try:
        with Study.open(folder) as study:
            comparison = compare_runs(study, first, second)
            scores = study.score_table()
            keys = [construct.key for construct in study.config.constructs]
            not_comparable = [key for key in keys if _scales_differ(study, key, first, second)]
            if len(not_comparable) == len(keys):
                raise StudyError(
                    f"{first!r} and {second!r} have different scales; points can't be compared."
                )
            scores = scores[~scores["construct"].isin(not_comparable)]
            shifts = two_scorers(scores, first, second, seed=study.config.seed)
    except AnalysisError as error:
        raise StudyError(str(error)) from error
    lines = [
        *comparison.lines(),
        *(f"{key}: not compared, because the scales differ." for key in not_comparable),
        *(printable(line) for line in shift_lines(shifts)),
    ]
    data = {
        **comparison.as_json(),
        "on_other_scales": not_comparable,
        "scores": [shift.as_json() for shift in shifts],
    }
    print_result(data, lines, as_json)


def _scales_differ(study: Any, construct: str, first: str, second: str) -> bool:
    ends = {
        (scale.min, scale.max)
        for scale in (study.config.scale(construct, name) for name in (first, second))
    }
    return len(ends) > 1


@click.command()
@STUDY
@RUN
@click.option(
    "--out",
    required=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="File to write: .csv, .parquet or .jsonl.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "parquet", "jsonl"]),
    help="Default: by the ending of the file name.",
)
@click.option("--overwrite", is_flag=True, help="Replace an existing file.")
@AS_JSON
def export(
    folder: Path, name: str, out: Path, form: str | None, overwrite: bool, as_json: bool
) -> None:
    """Write the judgments of a RUN of STUDY with their raw answers.

    The file has a row for each judgment, further attempts included. In CSV, text that a spreadsheet
    would run as a formula is escaped. The engine `files` reads such files.

    \b
    Examples:
      ccrs judge export my-study llama-3-70b --out judgments.csv
      ccrs judge export my-study llama-3-70b --out judgments.parquet --overwrite
    """
    from judge.inspect.export import export_run
    from study.study import Study

    with Study.open(folder) as study:
        print_fields(export_run(study, name, out, form, overwrite=overwrite), as_json)


@click.command()
@STUDY
@RUN
@click.option("--dry-run", is_flag=True, help="Only report what would change.")
@click.option(
    "--accept-low-scores",
    is_flag=True,
    help="Store readings although all scores are in the lowest tenth of the scale.",
)
@click.option(
    "--metric",
    "metric_file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="The Python file of the run's metric, if it is not installed.",
)
@AS_JSON
def reparse(
    folder: Path,
    name: str,
    dry_run: bool,
    accept_low_scores: bool,
    metric_file: str | None,
    as_json: bool,
) -> None:
    """Read the raw answers of a RUN of STUDY again.

    They are read by the current parser, or by the current version of a metric in steps. A
    different reading is stored next to the first one, and the score table uses the newest. No
    prompt is asked, and no judgment changes.

    \b
    Examples:
      ccrs judge reparse my-study llama-3-70b --dry-run
      ccrs judge reparse my-study llama-3-70b
      ccrs judge reparse my-study "llama-3-70b ragas-faithfulness"
    """
    from judge.inspect.reparse import reparse_run
    from study.study import Study

    with Study.open(folder) as study:
        result = reparse_run(
            study,
            name,
            dry_run=dry_run,
            accept_low_scores=accept_low_scores,
            metric_file=metric_file,
        )
        print_fields(result, as_json)
