"""The command `ccrs judge`: a run, and what is known of runs.

Only click is imported until a command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judge.cli.inspect_commands import AS_JSON, FOLDER, export, list_, prompts, reparse, say, show
from judge.cli.probe_command import probe_command

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
    """Score the responses of STUDY with a language model, or look at such runs.

    Without one of the commands below, `run` is meant; `ccrs judge run --help` lists its options.

    \b
    Examples:
      ccrs judge my-study --base-url http://localhost:8000/v1 --model llama-3-70b
      ccrs judge my-study --base-url https://api.openai.com/v1 --model gpt-5 --dry-run
      ccrs judge list my-study
      ccrs judge show my-study llama-3-70b
    """


@judge.command()
@FOLDER
@click.option(
    "--engine",
    default="openai",
    show_default=True,
    metavar="NAME",
    help="openai asks an endpoint; vllm runs the model here; recorded reads answers obtained "
    "elsewhere; batch writes and reads the files of a provider's batch service.",
)
@click.option(
    "--base-url",
    multiple=True,
    envvar="OPENAI_BASE_URL",
    metavar="URL",
    help="Address of the endpoint, up to /v1. Repeatable, for several that serve one model. "
    " [env: OPENAI_BASE_URL]",
)
@click.option("--model", metavar="NAME", help="Model, as the endpoint names it.")
@click.option(
    "--revision", metavar="NAME", help="vllm: revision of the model on the hub, a tag or commit."
)
@click.option(
    "--logprobs",
    type=click.Choice(["auto", "on", "off"]),
    help="Ask for the probabilities of scores. Default: auto, where the endpoint tells them.",
)
@click.option("--structured", is_flag=True, help="vllm: let the model write nothing but a number.")
@click.option(
    "--processes",
    type=click.IntRange(1, 64),
    metavar="N",
    help="vllm: processes with a model each, on GPUs of their own. Default: 1.",
)
@click.option(
    "--name",
    metavar="RUN",
    help="Name of the run, and of the scorer in tables. Default: the model.",
)
@click.option("--prompts", metavar="VERSION", help="Prompt version. Default: ccrs-paper-v1.")
@click.option(
    "--constructs", multiple=True, metavar="KEYS", help="Only these constructs: QR,CC. Repeatable."
)
@click.option(
    "--systems", multiple=True, metavar="NAMES", help="Only responses of these systems. Repeatable."
)
@click.option(
    "--ac-metrics",
    multiple=True,
    metavar="NAMES",
    help="Metrics stored with AC: EM,EM-normalized,F1. Repeatable. Default: EM.",
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Ask at most N prompts.")
@click.option(
    "--drift",
    type=click.IntRange(0),
    metavar="N",
    help="Ask N prompts of the run once more before and after, to see whether the judge changed. "
    "Default: 0.",
)
@click.option(
    "--repeats",
    type=click.IntRange(1, 100),
    metavar="N",
    help="Ask each prompt N times. Default: 1.",
)
@click.option(
    "--temperature",
    type=click.FloatRange(0, 2),
    metavar="T",
    help="Default: the prompt version's, 0.",
)
@click.option("--no-temperature", is_flag=True, help="Send no temperature.")
@click.option("--seed", type=click.IntRange(0), metavar="N", help="Seed sent with each prompt.")
@click.option(
    "--shuffle-passages",
    type=click.IntRange(0),
    metavar="SEED",
    help="Show the passages of each context in the order that SEED gives. Default: as ranked.",
)
@click.option(
    "--max-tokens",
    type=click.IntRange(1),
    metavar="N",
    help="Tokens of an answer. Default: the prompt version's, 16.",
)
@click.option(
    "--reasoning-tokens",
    type=click.IntRange(0),
    metavar="N",
    help="Tokens added for a model that reasons first. Default: 4096.",
)
@click.option(
    "--length-parameter",
    type=click.Choice(["auto", "max_tokens", "max_completion_tokens"]),
    help="The endpoint's name for the limit of tokens. Default: auto, which asks it.",
)
@click.option(
    "--api-key-env",
    metavar="VARIABLE",
    help="Environment variable that holds the key. Default: OPENAI_API_KEY.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 4096),
    metavar="N",
    help="Most prompts under way at once at each endpoint; fewer where it complains. Default: 64.",
)
@click.option(
    "--leader",
    type=click.Choice(["auto", "on", "off"]),
    help="Of prompts that begin alike, have one answered first. Default: auto, where a hosted "
    "cache profits.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Until an answer is given up and asked for again. Default: 120.",
)
@click.option(
    "--tries",
    type=click.IntRange(1),
    metavar="N",
    help="How often a prompt is tried when server or network fail. Default: 6.",
)
@click.option(
    "--first-wait",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Before the second try; doubles with each. Default: 0.5.",
)
@click.option(
    "--patience",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Without any answer, until the run stops. Default: 300.",
)
@click.option(
    "--window",
    type=click.IntRange(1),
    metavar="TOKENS",
    help="Tokens that fit the model. Default: as the endpoint says.",
)
@click.option(
    "--skip-too-long",
    is_flag=True,
    help="Judge the rest where prompts exceed the window; store those as missing.",
)
@click.option(
    "--retry-unparsed",
    is_flag=True,
    help="Ask again where an answer held no score. The first answer stays the score.",
)
@click.option(
    "--answers",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    metavar="FILE",
    help="Answers for recorded; results of a batch for batch. Repeatable.",
)
@click.option(
    "--requests",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Write a batch's files into this folder, for batch.",
)
@click.option(
    "--max-missing",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="Exit 1 where a larger share is missing. Default: 0.05.",
)
@click.option(
    "--price",
    type=(float, float),
    metavar="IN OUT",
    help="Prices of a million prompt tokens and of a million answer tokens.",
)
@click.option(
    "--price-cached",
    type=click.FloatRange(0),
    metavar="PRICE",
    help="Price of a million prompt tokens found in the server's cache. Default: as the others.",
)
@click.option(
    "--estimate",
    type=click.IntRange(2, 10_000),
    metavar="N",
    help="Ask only N prompts of the run, spread over it, and say what the rest takes.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Say what would be asked: prompts, tokens, time, cost. Makes no call.",
)
@AS_JSON
def run(folder: Path, no_temperature: bool, dry_run: bool, as_json: bool, **given: Any) -> None:
    """Judge what the responses of STUDY still lack; go on where an earlier run stopped.

    The key is read from the environment only. A run that was stopped or killed loses at most
    the calls under way: the same command does what is missing. Nothing is ever asked twice but
    these. Other conditions (model, prompts, temperature, ...) begin another run.

    \b
    Examples:
      ccrs judge my-study --base-url http://localhost:8000/v1 --model llama-3-70b
      ccrs judge run list --base-url https://api.openai.com/v1 --model gpt-5 --limit 20
      ccrs judge my-study --engine recorded --model llama-3-70b --answers answers.jsonl
      ccrs judge my-study --model llama-3-70b --ac-metrics EM,EM-normalized,F1
      ccrs judge my-study --engine batch --model gpt-5 --requests batch
      ccrs judge my-study --engine batch --model gpt-5 --answers batch_output.jsonl
    """
    from study.study import Study

    settings = settings_from(given, no_temperature)
    study = Study.open(folder)
    try:
        if dry_run:
            _preview(study, settings, as_json)
        else:
            _judge(study, settings, as_json)
    finally:
        study.close()


def settings_from(given: dict[str, Any], no_temperature: bool) -> JudgeSettings:
    """Return the settings that the options of a command give."""
    from judge.settings import JudgeSettings

    # 0 equals False, and is a seed, a price or a share like any other.
    chosen = {n: v for n, v in given.items() if v is not None and v is not False and v != ()}
    for name in ("constructs", "systems", "ac_metrics"):
        if name in chosen:
            chosen[name] = tuple(part for text in chosen[name] for part in parts(text))
    if no_temperature:
        chosen["send_temperature"] = False
    return JudgeSettings.checked(**chosen)


def parts(text: str) -> list[str]:
    """Return the names in a text, which commas separate."""
    return [part.strip() for part in text.split(",") if part.strip()]


def _preview(study: Any, settings: JudgeSettings, as_json: bool) -> None:
    from judge.running.preview import preview

    found = preview(study, settings)
    say(found.as_json(), found.lines(), as_json)
    if found.too_long and not settings.skip_too_long:
        raise click.exceptions.Exit(2)


def _judge(study: Any, settings: JudgeSettings, as_json: bool) -> None:
    from judge.cli.progress_bar import run_progress
    from judge.running.runner import RunStoppedError, judge_study

    try:
        with run_progress(hidden=as_json) as reached:
            outcome = judge_study(study, settings, reached)
    except RunStoppedError as stopped:
        say(stopped.outcome.as_json(), stopped.outcome.lines(), as_json)
        raise
    steps = [f"Next: ccrs judge show {study.folder} {_quoted(outcome.run)}"]
    if not outcome.left:
        steps.append(f"      ccrs report {study.folder}")
    say(outcome.as_json(), [*outcome.lines(), *steps], as_json)
    if outcome.falls_short:
        raise click.exceptions.Exit(1)


def _quoted(text: str) -> str:
    import shlex

    return shlex.quote(text)


@judge.command()
@FOLDER
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

    study = Study.open(folder)
    try:
        made = compare_runs(study, first, second)
        scores = study.score_table()
        apart = [c for c in study.config.constructs if _scales_differ(study, c.key, first, second)]
        if len(apart) == len(study.config.constructs):
            raise StudyError(
                f"{first!r} and {second!r} are on other scales; points can't be compared."
            )
        scores = scores[~scores["construct"].isin([c.key for c in apart])]
        moved = two_scorers(scores, first, second, seed=study.config.seed)
    except AnalysisError as error:
        raise StudyError(str(error)) from error
    finally:
        study.close()
    lines = [
        *made.lines(),
        *(f"{c.key}: on other scales, and not compared." for c in apart),
        *(printable(line) for line in shift_lines(moved)),
    ]
    found = {"on_other_scales": [c.key for c in apart], "scores": [one.as_json() for one in moved]}
    say({**made.as_json(), **found}, lines, as_json)


def _scales_differ(study: Any, construct: str, first: str, second: str) -> bool:
    ends = {
        (scale.min, scale.max)
        for scale in (study.config.scale(construct, name) for name in (first, second))
    }
    return len(ends) > 1


for _command in (probe_command(run), prompts, list_, show, export, reparse):
    judge.add_command(_command)
