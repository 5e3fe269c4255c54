"""The verdict on the terminal, then the report: what `ccrs report` and `ccrs demo` share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from analysis.cli.source import AnalysisInput


def write(source: AnalysisInput, title: str, folder: Path, verify: bool, as_json: bool) -> None:
    from analysis.pipeline.estimation import completed, headline
    from analysis.render import terminal
    from analysis.render.verdict.verdicts import verdicts

    # The verdict first: what it needs takes a fraction of the whole.
    first = headline(
        source.scores, source.preferences, source.options, title, source.edited, source.probes
    )
    found = verdicts(first)
    if not as_json:
        terminal.say_verdicts(first, found)

    from analysis.pipeline.report_files import as_document, write_document
    from analysis.topics.agreement.largest_disagreements import furthest_apart

    with terminal.working("Computing every figure"):
        analysis = completed(first)
    with terminal.working("Drawing and writing"):
        apart = [(a.scorer, a.response_id, a.construct) for a in furthest_apart(analysis.context)]
        reasons = source.reasons(apart)
        content = as_document(analysis, command_line(), found, source.judge_runs, reasons)
        page = write_document(content, folder)
    checks: list[Any] = []
    if verify:
        from analysis.verify import verify as verified

        with terminal.working("Checking against krippendorff, pingouin and scipy"):
            checks = [check.as_json() for check in verified(analysis.scores)]
            write_document(content.with_checks(checks), folder)
    differing = [check for check in checks if check["agrees"] is False]
    if as_json:
        terminal.say_json(page, content, checks if verify else None)
    else:
        terminal.say_contradictions(content.verdicts)
        terminal.say_written(page, analysis, checks if verify else None)
    if differing:
        raise click.exceptions.Exit(1)


def command_line() -> str:
    """The command as given, with files by name only: a report is passed on."""
    import shlex

    context = click.get_current_context()
    words = [f"ccrs {context.info_name}"]
    for parameter in context.command.params:
        name = parameter.name or ""
        if context.get_parameter_source(name) is not click.core.ParameterSource.COMMANDLINE:
            continue
        value = context.params[name]
        for item in value if isinstance(value, tuple) else (value,):
            text = item.name if isinstance(item, Path) else str(item)
            if isinstance(parameter, click.Argument):
                words.append(shlex.quote(text))
            elif isinstance(item, bool):
                options = parameter.opts if item else parameter.secondary_opts
                words.append(options[0])
            else:
                words.append(f"{parameter.opts[0]} {shlex.quote(text)}")
    return " ".join(words)
