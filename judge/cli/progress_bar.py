"""The progress of a run: prompts, tokens, rate and time left; nothing where no terminal is."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from judge.running.delivery import Reached, RunProgress


@contextmanager
def run_progress(*, hidden: bool = False) -> Iterator[Reached | None]:
    """Show how far a run has come, on standard error."""
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

        def reached(reach: RunProgress) -> None:
            bar.update(task, completed=reach.answered + reach.failed, total=reach.total)
            speed = bar.tasks[0].speed or 0.0
            failed = f", {reach.failed} failed" if reach.failed else ""
            bar.update(task, pace=f"{speed:.1f}/s, {_short(reach.tokens)} tokens{failed}")

        yield reached


def _short(count: int) -> str:
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if count >= size:
            return f"{count / size:.1f}{unit}"
    return str(count)
