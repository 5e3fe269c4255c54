"""The command that a table with the scores of one side lacks: the file of the other side."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from analysis.cli.column_options import columns_of_options
from analysis.cli.typed_command import typed_command

OTHER_FILE = "OTHER_FILE"
"""Stands in a command for the file of the other side."""


def with_other_file(path: Path) -> str:
    """The command with OTHER_FILE in place of the file of the other side, and the ids' column."""
    from study.importing.readers.source import table_source
    from study.importing.score_columns.named_columns import PLACEHOLDER
    from study.importing.score_columns.names import named_for

    ids = named_for("id", table_source(path).head.columns)
    context = click.get_current_context(silent=True)
    typed = f"ccrs report {shlex.quote(str(path))}"
    if context is not None and "on_column" in context.params:
        without = {*columns_of_options(), "on_column", "allow_unmatched", "kinds"}
        typed = typed_command(whole_paths=True, without=without)
    return f"{typed} {OTHER_FILE} --on {shlex.quote(ids[0]) if ids else PLACEHOLDER}"
