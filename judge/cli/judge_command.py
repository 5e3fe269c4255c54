"""The command `ccrs judge`: a run, and what is known of runs.

Only click is imported until a command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judge.cli.engine_options import EngineOptionsCommand, settings_from
from judge.cli.inspect_commands import export, list_, prompts, reparse, show
from judge.cli.probe_command import probe
from study.cli.options import AS_JSON, STUDY, print_result

if TYPE_CHECKING:
    from judge.settings import JudgeSettings


class WithDefault(click.Group):
    """A group whose first command is meant where none is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        asks_for_help = bool(args) and args[0] in self.get_help_option_names(ctx)
        if args and args[0] not in self.commands and not asks_for_help:
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group(cls=WithDefault, invoke_without_command=False)
def judge() -> None:
    """Score the responses of STUDY with a language model.

    Without one of the commands below, `run` is meant; `ccrs judge run --help` lists its options.

    \b
    Examples:
      ccrs judge my-study --base-url http://localhost:8000/v1 --model llama-3-70b
      ccrs judge my-study --base-url https://api.openai.com/v1 --model gpt-5 --dry-run
      ccrs judge list my-study
      ccrs judge show my-study llama-3-70b
    """


ENGINE = click.option(
    "--engine",
    default="openai",
    show_default=True,
    metavar="NAME",
    help="openai asks an endpoint; vllm runs the model here; recorded reads answers obtained "
    "elsewhere; batch writes and reads the files of a provider's batch service.",
)
DRY_RUN = click.option(
    "--dry-run",
    is_flag=True,
    help="Report what would be asked: prompts, tokens, time, cost. Makes no call.",
)


@judge.command(cls=EngineOptionsCommand)
@STUDY
@ENGINE
@DRY_RUN
@AS_JSON
def run(folder: Path, dry_run: bool, as_json: bool, **values: Any) -> None:
    """Judge what the responses of STUDY still lack; go on where an earlier run stopped.

    The key is read from the environment only. A run that was stopped or killed loses at most
    the calls under way: the same command does what is missing. Nothing is ever asked twice but
    these. Other conditions (model, prompts, temperature, ...) begin another run.

    \b
    Examples:
      ccrs judge my-study --base-url http://localhost:8000/v1 --model llama-3-70b
      ccrs judge run list --base-url https://api.openai.com/v1 --model gpt-5 --limit 20
      ccrs judge my-study --engine recorded --model llama-3-70b --answers answers.jsonl
      ccrs judge my-study --model llama-3-70b --text-metrics EM,EM-normalized,F1
      ccrs judge my-study --engine batch --model gpt-5 --requests batch
      ccrs judge my-study --engine batch --model gpt-5 --answers batch_output.jsonl
    """
    from study.study import Study

    settings = settings_from(values)
    with Study.open(folder) as study:
        if dry_run:
            _preview(study, settings, as_json)
        else:
            _judge(study, settings, as_json)


def _preview(study: Any, settings: JudgeSettings, as_json: bool) -> None:
    from judge.running.preview import preview

    found = preview(study, settings)
    print_result(found.as_json(), found.lines(), as_json)
    if found.too_long and not settings.skip_too_long:
        raise click.exceptions.Exit(2)


def _judge(study: Any, settings: JudgeSettings, as_json: bool) -> None:
    from judge.cli.progress_bar import run_progress
    from judge.running.runner import RunStoppedError, judge_study

    try:
        with run_progress(hidden=as_json) as reached:
            outcome = judge_study(study, settings, reached)
    except RunStoppedError as stopped:
        print_result(stopped.outcome.as_json(), stopped.outcome.lines(), as_json)
        raise
    steps = [f"Next: ccrs judge show {study.folder} {_quoted(outcome.run)}"]
    if not outcome.left:
        steps.append(f"      ccrs report {study.folder}")
    print_result(outcome.as_json(), [*outcome.lines(), *steps], as_json)
    if outcome.falls_short:
        raise click.exceptions.Exit(1)


def _quoted(text: str) -> str:
    import shlex

    return shlex.quote(text)


@judge.command()
@STUDY
@click.argument("first", metavar="RUN")
@click.argument("second", metavar="RUN")
@AS_JSON
def compare(folder: Path, first: str, second: str, as_json: bool) -> None:
    """Compare two runs of STUDY: how they were made, how scores moved, which order changed.

    Shifts are the second run's scores minus the first's, in points, with 95% intervals over
    queries. Where prompts were asked several times, the first answers are compared.

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
            made = compare_runs(study, first, second)
            scores = study.score_table()
            apart = [
                c for c in study.config.constructs if _scales_differ(study, c.key, first, second)
            ]
            if len(apart) == len(study.config.constructs):
                raise StudyError(
                    f"{first!r} and {second!r} are on other scales; points can't be compared."
                )
            scores = scores[~scores["construct"].isin([c.key for c in apart])]
            moved = two_scorers(scores, first, second, seed=study.config.seed)
    except AnalysisError as error:
        raise StudyError(str(error)) from error
    lines = [
        *made.lines(),
        *(f"{c.key}: on other scales, and not compared." for c in apart),
        *(printable(line) for line in shift_lines(moved)),
    ]
    found = {"on_other_scales": [c.key for c in apart], "scores": [one.as_json() for one in moved]}
    print_result({**made.as_json(), **found}, lines, as_json)


def _scales_differ(study: Any, construct: str, first: str, second: str) -> bool:
    ends = {
        (scale.min, scale.max)
        for scale in (study.config.scale(construct, name) for name in (first, second))
    }
    return len(ends) > 1


for _command in (probe, prompts, list_, show, export, reparse):
    judge.add_command(_command)
