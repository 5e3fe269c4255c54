"""Arguments, options and output that the commands share. Only click is imported until they run."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from study.progress import Advance

STUDY = click.argument("folder", metavar="STUDY", type=click.Path(file_okay=False, path_type=Path))
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON for a program to read.")
DRY_RUN = click.option("--dry-run", is_flag=True, help="Show the plan and store nothing.")


def print_result(data: Any, lines: Sequence[str], as_json: bool) -> None:
    """Print `lines` for people, or `data` as JSON for programs."""
    if as_json:
        import json

        click.echo(json.dumps(data, ensure_ascii=False, indent=1))
    else:
        click.echo("\n".join(lines))


def progress(title: str, hidden: bool) -> "AbstractContextManager[Advance]":
    """Return a context that yields `advance(done, total)`; a bar where there is a terminal."""
    from study.progress import progress_bar

    return progress_bar(title, hidden=hidden)


def split_names(text: str | None) -> list[str] | None:
    """Return the names of a list separated by commas."""
    return None if text is None else [part.strip() for part in text.split(",")]


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
