"""What the commands of this package share. Only click is imported."""

from pathlib import Path
from typing import Any

import click

FOLDER = click.argument("folder", metavar="STUDY", type=click.Path(path_type=Path))
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON for a program to read.")


def say(data: Any, lines: list[str], as_json: bool) -> None:
    """Print the lines, or the data as JSON."""
    if as_json:
        import json

        click.echo(json.dumps(data, ensure_ascii=False, indent=1))
    else:
        click.echo("\n".join(lines))
