"""The command `ccrs judge probe`.

Only click is imported until a command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from judge.cli.inspect_commands import say

# Options of a run that mean nothing here: what it judges, reads from files, or counts as done.
_NOT_HERE = frozenset(
    {
        "ac_metrics",
        "retry_unparsed",
        "answers",
        "requests",
        "max_missing",
        "skip_too_long",
        "drift",
        "estimate",
    }
)

HELP = """Ask altered prompts of a run of STUDY: how far do its scores move that should not?

Give the options of the run: they say which one is meant, and probes are asked under its very
conditions. Instructions to the judge inside the text, longer and shorter texts, other layouts,
passages in another order, claims of authority, control tokens; and each prompt once more as it was.
Answers are kept apart from the run's scores; the report compares the two.

\b
Examples:
  ccrs judge probe my-study --base-url http://localhost:8000/v1 --model llama-3-70b --dry-run
  ccrs judge probe my-study --base-url http://localhost:8000/v1 --model llama-3-70b
  ccrs judge probe my-study --engine vllm --model llama-3-70b --kinds injection,length --sample 100
"""


def probe_command(run: click.Command) -> click.Command:
    """Return the command, with the options of `run` that say under which conditions it asks."""
    shared = [one for one in run.params if one.name not in _NOT_HERE]
    own: list[click.Parameter] = [
        click.Option(
            ["--kinds"],
            multiple=True,
            metavar="NAMES",
            help="Only these kinds of probes: injection,length. Repeatable.",
        ),
        click.Option(
            ["--sample"],
            type=click.IntRange(1),
            default=60,
            show_default=True,
            metavar="N",
            help="Responses to probe, of those that the run has scored.",
        ),
    ]
    return click.Command("probe", params=[*shared, *own], callback=_probe, help=HELP)


def _probe(
    folder: Path,
    no_temperature: bool,
    dry_run: bool,
    as_json: bool,
    kinds: tuple[str, ...],
    sample: int,
    **given: Any,
) -> None:
    from judge.cli.judge_command import parts, settings_from
    from judge.cli.progress_bar import run_progress
    from judge.running.probe_run import ProbingStoppedError, preview_probes, probe_study
    from study.study import Study

    settings = settings_from(given, no_temperature)
    names = tuple(part for text in kinds for part in parts(text))
    study = Study.open(folder)
    try:
        if dry_run:
            found = preview_probes(study, settings, names, sample)
            say(found.as_json(), found.lines(), as_json)
            return
        with run_progress(hidden=as_json) as reached:
            outcome = probe_study(study, settings, names, sample, reached)
    except ProbingStoppedError as stopped:
        say(stopped.outcome.as_json(), stopped.outcome.lines(), as_json)
        raise
    finally:
        study.close()
    lines = outcome.lines()
    if not outcome.left:
        lines.append(f"Next: ccrs report {folder}")
    say(outcome.as_json(), lines, as_json)
    if outcome.failed:
        raise click.exceptions.Exit(1)
