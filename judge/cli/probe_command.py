"""The command `ccrs judge probe`.

Only click is imported until a command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from judge.cli.engine_options import EngineOptionsCommand, settings_from
from study.cli.options import AS_JSON, STUDY, print_result
from study.cli.settings_options import comma_separated

# Options of a run that mean nothing here: what it judges, reads from files, or counts as done.
_NOT_HERE = frozenset(
    {
        "text_metrics",
        "retry_unparsed",
        "answers",
        "requests",
        "max_missing",
        "skip_too_long",
        "drift",
        "estimate",
    }
)


@click.command(cls=EngineOptionsCommand, without=_NOT_HERE)
@STUDY
@click.option(
    "--engine", default="openai", show_default=True, metavar="NAME", help="Engine of the run."
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
    help="Responses to probe, of those that the run has scored.",
)
@click.option("--dry-run", is_flag=True, help="Report what would be asked. Makes no call.")
@AS_JSON
def probe(
    folder: Path,
    dry_run: bool,
    as_json: bool,
    kinds: tuple[str, ...],
    sample: int,
    **values: Any,
) -> None:
    """Judge altered texts of a run of STUDY, to see whether its scores change.

    Give the options of the run: they identify it, and the altered prompts are asked under the same
    conditions. Texts are altered by instructions to the judge, length, layout, the order of the
    passages, claims of authority and control tokens; each prompt is also asked unchanged. The
    answers are stored apart from the scores of the run, and the report compares the two.

    \b
    Examples:
      ccrs judge probe my-study --base-url http://localhost:8000/v1 --model llama-3-70b --dry-run
      ccrs judge probe my-study --base-url http://localhost:8000/v1 --model llama-3-70b
      ccrs judge probe my-study --engine vllm --model MODEL --kinds injection,length --sample 100
    """
    from judge.cli.progress_bar import run_progress
    from judge.running.probe_run import ProbingStoppedError, preview_probes, probe_study
    from study.study import Study

    settings = settings_from(values)
    names = tuple(part for text in kinds for part in comma_separated(text))
    try:
        with Study.open(folder) as study:
            if dry_run:
                found = preview_probes(study, settings, names, sample)
                print_result(found.as_json(), found.lines(), as_json)
                return
            with run_progress(hidden=as_json) as reached:
                outcome = probe_study(study, settings, names, sample, reached)
    except ProbingStoppedError as stopped:
        print_result(stopped.outcome.as_json(), stopped.outcome.lines(), as_json)
        raise
    lines = outcome.lines()
    if not outcome.left:
        lines.append(f"Next: ccrs report {folder}")
    print_result(outcome.as_json(), lines, as_json)
    if outcome.failed:
        raise click.exceptions.Exit(1)
