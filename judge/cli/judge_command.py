"""The command `ccrs judge`: runs, probes and pairs, with their progress.

Only click is imported until a command runs.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judge.cli.batch_commands import batch
from judge.cli.default_group import DefaultCommandGroup
from judge.cli.engine_options import EngineOptionsCommand, settings_from
from judge.cli.inspect_commands import (
    compare,
    export,
    list_,
    print_fields,
    prompts,
    reparse,
    show,
)
from judge.cli.rank_command import rank
from judge.cli.rubric_settings import rubric_settings
from study.cli.options import AS_JSON, STUDY, comma_separated
from study.cli.unused_options import unused_if
from study.text import shell_word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from judge.run_settings import JudgeSettings
    from judge.running.answer_store import OnProgress, RunProgress
    from judge.running.preview import ItemPreview
    from judge.running.run_outcome import Outcome
    from study.study import Study

# Options of a run that do not apply to probes.
_NOT_FOR_PROBES = frozenset(
    {
        "text_metrics",
        "retry_unparsed",
        "for_reparse",
        "max_missing",
        "accept_low_scores",
        "skip_too_long",
        "drift",
        "estimate",
    }
)
_NOT_FOR_PAIRS = (_NOT_FOR_PROBES - {"retry_unparsed", "max_missing"}) | {
    "metric",
    "prompts",
    "encoder",
    "encoder_url",
}


@click.group(cls=DefaultCommandGroup, invoke_without_command=False)
def judge() -> None:
    """Score the responses of STUDY with a language model.

    Without one of the commands below, `run` is used; its options are listed last. A folder that
    has the name of a command is written with its place: ./show.
    Those with names of engines in brackets exist for these engines only.

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
    help="openai asks an endpoint; vllm runs the model on this machine; files writes requests into "
    "files and reads answers from files.",
)
DRY_RUN = click.option(
    "--dry-run",
    is_flag=True,
    help="Report the prompts to ask, their tokens, time and cost. Sends no prompt.",
)


_ASKS_NOTHING, _WITHOUT_DRY_RUN = "--dry-run asks no prompt", "leave --dry-run out"


@judge.command(cls=EngineOptionsCommand)
@STUDY
@ENGINE
@click.option(
    "--rubric",
    metavar="SENTENCE",
    help="Score by this sentence instead of the words of a prompt version: the study gets a "
    "version with it, whose name --prompts may choose. Needs --construct, if the study has "
    "several.",
)
@DRY_RUN
@AS_JSON
@unused_if(
    "rubric",
    lambda given: (given["metric"] or "ccrs") != "ccrs",
    "the metric has prompts of its own",
    "leave --metric out",
)
@unused_if(
    "prompts",
    lambda given: given["rubric"] is not None and given["prompts"] == "ccrs-paper-v1",
    "the words are those of --rubric",
    "name the new version",
)
@unused_if("estimate", lambda given: given["dry_run"], _ASKS_NOTHING, _WITHOUT_DRY_RUN)
@unused_if("drift", lambda given: given["dry_run"], _ASKS_NOTHING, _WITHOUT_DRY_RUN)
def run(folder: Path, rubric: str | None, dry_run: bool, as_json: bool, **values: Any) -> None:
    """Judge the responses of STUDY that have no judgment yet.

    An interrupted run is resumed. The API key is read from the environment or printed by a
    command. A run that was stopped or killed loses at most the prompts under way: the same command
    asks them again, and no others twice. Other conditions (model, prompts, temperature, ...) begin
    another run. Options with names of engines in brackets, such as [openai], exist for these
    engines only.

    \b
    Examples:
      ccrs judge my-study --base-url http://localhost:8000/v1 --model llama-3-70b
      ccrs judge run my-study --base-url https://api.openai.com/v1 --model gpt-5 --limit 20
      ccrs judge my-study --engine files --model llama-3-70b --answers answers.jsonl
      ccrs judge my-study --base-url http://localhost:8000/v1 --model llama --text-metrics EM,F1
      ccrs judge my-study --base-url http://localhost:8000/v1 --model llama --metric ragchecker
      ccrs judge my-study --base-url URL --model llama --rubric "It names a source." --construct AC
      ccrs judge my-study --engine files --model gpt-5 --requests requests
      ccrs judge my-study --engine files --model gpt-5 --answers results.jsonl
    """
    from study.study import Study

    settings = settings_from(values)
    with Study.open(folder) as study, rubric_settings(study, settings, rubric) as chosen:
        if dry_run:
            _preview(study, chosen, as_json)
        else:
            _judge(study, chosen, as_json)


def _preview(study: Any, settings: JudgeSettings, as_json: bool) -> None:
    from judge.metrics.registry import expanded, load_metric
    from judge.running.preview import preview, preview_metrics

    keys = expanded(settings.metric)
    if len(keys) == 1 and load_metric(keys[0], settings.prompts, study.folder).single_prompt:
        one = preview(study, settings.model_copy(update={"metric": keys[0]}))
        print_fields(one, as_json)
        too_long = one.too_long
    else:
        several = preview_metrics(study, settings)
        print_fields(several, as_json)
        too_long = next((p.too_long for p in several.metrics.values() if p.too_long), None)
    if too_long and not settings.skip_too_long:
        raise click.exceptions.Exit(2)


def _note_first_reference(study: Any, settings: JudgeSettings) -> None:
    """State which metrics read one of several reference answers."""
    from sqlalchemy import select

    from judge.metrics.registry import expanded, load_metric
    from study.schema.tables import queries

    metrics = [
        load_metric(key, settings.prompts, study.folder) for key in expanded(settings.metric)
    ]
    first = [
        metric.key
        for metric in metrics
        if not metric.reference_reasons
        and any("reference" in metric.reads(key) for key in metric.constructs)
    ]
    with study.read() as connection:
        several = sum(
            len(row) > 1 for row in connection.execute(select(queries.c.references)).scalars()
        )
    if first and several:
        click.echo(
            f"Of several reference answers ({several:,} queries), {', '.join(first)} "
            f"{'reads' if len(first) == 1 else 'read'} the first.",
            err=True,
        )


def _judge(study: Any, settings: JudgeSettings, as_json: bool) -> None:
    import shlex

    from judge.running.run_outcome import SuiteOutcome
    from judge.running.runner import judge_metrics

    if not as_json:
        _note_first_reference(study, settings)
    with _printing_progress(as_json) as on_progress:
        outcomes = judge_metrics(study, settings, on_progress)
    several = len(outcomes) > 1
    result = SuiteOutcome(outcomes) if several else outcomes[0]
    place, run = shell_word(study.folder), shlex.quote(outcomes[0].run)
    steps = [
        f"Next: ccrs measure show {place} RESPONSE"
        if several
        else f"Next: ccrs judge show {place} {run}"
    ]
    if not any(each.remaining for each in outcomes):
        steps.append(f"      ccrs report {place}")
    print_fields(result, as_json, *steps)
    if any(outcome.falls_short for outcome in outcomes):
        raise click.exceptions.Exit(1)


@judge.command(cls=EngineOptionsCommand, without=_NOT_FOR_PROBES | {"metric"})
@STUDY
@click.option(
    "--engine", default="openai", show_default=True, metavar="NAME", help="Engine of the run."
)
@click.option(
    "--metric",
    metavar="NAME",
    help="Metric of the run: one name, or a Python file that defines it. Default: ccrs.",
)
@click.option(
    "--kinds",
    multiple=True,
    metavar="NAMES",
    help="Only these kinds of probes: injection,length. Repeatable.",
)
@click.option(
    "--sample",
    type=click.IntRange(1),
    default=60,
    show_default=True,
    metavar="N",
    help="Responses to probe, drawn from those that the run has scored.",
)
@DRY_RUN
@AS_JSON
def probe(
    folder: Path,
    dry_run: bool,
    as_json: bool,
    kinds: tuple[str, ...],
    sample: int,
    **values: Any,
) -> None:
    """Judge altered texts of STUDY to see whether scores change.

    Use the options of the run: they identify it, and the altered prompts are asked under the same
    conditions. Texts are altered by instructions to the judge, length, layout, the order of the
    passages, claims of authority and control tokens; each prompt is also asked unchanged. The
    answers are stored separately from the scores of the run, and the report compares the two.

    \b
    Examples:
      ccrs judge probe my-study --base-url http://localhost:8000/v1 --model llama-3-70b --dry-run
      ccrs judge probe my-study --base-url http://localhost:8000/v1 --model llama-3-70b
      ccrs judge probe my-study --engine vllm --model MODEL --kinds injection,length --sample 100
    """
    from judge.running.item_runs import preview_probes, probe_study

    settings = settings_from(values)
    names = tuple(part for text in kinds for part in comma_separated(text))
    _ask_about(
        folder,
        lambda study: preview_probes(study, settings, names, sample),
        lambda study, on_progress: probe_study(study, settings, names, sample, on_progress),
        dry_run=dry_run,
        as_json=as_json,
    )


@judge.command(cls=EngineOptionsCommand, without=_NOT_FOR_PAIRS)
@STUDY
@click.option(
    "--engine", default="openai", show_default=True, metavar="NAME", help="Engine of the run."
)
@click.option(
    "--pairs",
    "which",
    type=click.Choice(("all", "compared")),
    default="all",
    show_default=True,
    help="all: all responses to a query with each other; compared: only the pairs that people "
    "compared, on the same constructs.",
)
@DRY_RUN
@AS_JSON
def pairs(folder: Path, dry_run: bool, as_json: bool, which: Any, **values: Any) -> None:
    """Ask which of two responses to a query of STUDY is better.

    Each pair is asked in both orders, on each construct of the study: the same choice in both
    orders is a preference, two different ones are a tie. The report compares the preferences with
    those of people, shows how often the order decided, and ranks the systems. An interrupted call
    is continued by the same command.

    \b
    Examples:
      ccrs judge pairs my-study --base-url http://localhost:8000/v1 --model llama-3-70b --dry-run
      ccrs judge pairs my-study --base-url http://localhost:8000/v1 --model llama-3-70b
      ccrs judge pairs my-study --engine vllm --model MODEL --pairs compared --constructs QR,AC
    """
    from judge.running.item_runs import compare_pairs, preview_pairs

    settings = settings_from(values)
    _ask_about(
        folder,
        lambda study: preview_pairs(study, settings, which),
        lambda study, on_progress: compare_pairs(study, settings, which, on_progress),
        dry_run=dry_run,
        as_json=as_json,
    )


def _ask_about(
    folder: Path,
    preview: Callable[[Study], ItemPreview],
    ask: Callable[[Study, OnProgress | None], Outcome],
    *,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Ask about probes or pairs, or preview it; print the result."""
    from study.study import Study

    with Study.open(folder) as study:
        if dry_run:
            print_fields(preview(study), as_json)
            return
        with _printing_progress(as_json) as on_progress:
            outcome = ask(study, on_progress)
    next_step = [] if outcome.remaining else [f"Next: ccrs report {shell_word(folder)}"]
    print_fields(outcome, as_json, *next_step)
    if outcome.failed or outcome.falls_short:
        raise click.exceptions.Exit(1)


@contextmanager
def _printing_progress(as_json: bool) -> Iterator[OnProgress | None]:
    """Show the progress of a call; print its outcome so far where it was stopped."""
    from judge.running.runner import RunStoppedError

    try:
        with _progress_bar(hidden=as_json) as on_progress:
            yield on_progress
    except RunStoppedError as stopped:
        print_fields(stopped.outcome, as_json)
        raise


@contextmanager
def _progress_bar(*, hidden: bool) -> Iterator[OnProgress | None]:
    """Show the progress of a call on standard error, if that is a terminal."""
    import sys

    if hidden or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("Judging"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[pace]}", markup=False),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, pace="starting")

        def on_progress(progress: RunProgress) -> None:
            completed = progress.answered + progress.failed
            bar.update(task, completed=completed, total=progress.total)
            speed = bar.tasks[0].speed or 0.0
            failed = f", {progress.failed} failed" if progress.failed else ""
            bar.update(task, pace=f"{speed:.1f}/s, {_short(progress.tokens)} tokens{failed}")

        yield on_progress


def _short(count: int) -> str:
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if count >= size:
            return f"{count / size:.1f}{unit}"
    return str(count)


for _command in (batch, prompts, list_, show, compare, rank, export, reparse):
    judge.add_command(_command)
