"""The commands `ccrs judge batch`: submit files of requests, ask how far they are, fetch results.

Only click is imported until a command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from judge.cli.inspect_commands import print_fields
from study.cli.options import AS_JSON

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = click.argument(
    "folder", metavar="FOLDER", type=click.Path(file_okay=False, path_type=Path)
)
KEY = click.option(
    "--api-key-env",
    metavar="VARIABLE",
    help="Environment variable with the key. Default: OPENAI_API_KEY, ANTHROPIC_API_KEY or "
    "GEMINI_API_KEY.",
)


@click.group()
def batch() -> None:
    """Submit files of the engine `files` to OpenAI, Anthropic or Gemini, and fetch the results.

    FOLDER is that of `ccrs judge STUDY --engine files --requests FOLDER`; its files name the
    provider. What was submitted is recorded in FOLDER/batches.json, without the key.

    \b
    Examples:
      ccrs judge batch submit requests --price 0.625 5 --dry-run
      ccrs judge batch submit requests
      ccrs judge batch status requests
      ccrs judge batch fetch requests
    """


@batch.command()
@FOLDER
@click.option("--model", metavar="NAME", help="Model, for Gemini, whose files name none.")
@click.option(
    "--base-url",
    metavar="URL",
    help="Address of another server with the same interface, such as http://localhost:8000/v1.",
)
@KEY
@click.option(
    "--price",
    type=(click.FloatRange(0), click.FloatRange(0)),
    metavar="IN OUT",
    help="The provider's prices for batches, of a million prompt tokens and of a million answer "
    "tokens.",
)
@click.option(
    "--again",
    is_flag=True,
    help="Submit once more what has failed as a whole, or was started without an answer.",
)
@click.option("--dry-run", is_flag=True, help="Report prompts, tokens and cost. Sends nothing.")
@AS_JSON
def submit(
    folder: Path,
    model: str | None,
    base_url: str | None,
    api_key_env: str | None,
    price: tuple[float, float] | None,
    again: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Upload the files of FOLDER that were not submitted, and start their batches.

    An interrupted call is continued by the same command: each step is recorded before and after,
    and a batch whose start got no answer is looked up at the provider, so none is started twice.

    \b
    Examples:
      ccrs judge batch submit requests --price 0.625 5 --dry-run
      ccrs judge batch submit requests
      ccrs judge batch submit requests --model gemini-2.5-pro
    """
    import asyncio

    from judge.engines.files.service.batch_folder import BatchFolder
    from judge.engines.files.service.submission_plan import submission_plan
    from judge.engines.files.service.submitting import submit as submit_files

    files = BatchFolder(folder, api_key_env)
    plan = submission_plan(files, base_url=base_url, model=model, price=price, again=again)
    if dry_run:
        print_fields(plan, as_json, "Nothing was sent and nothing was written.")
        return
    if not as_json:
        print_fields(plan, as_json)
    submitted = submit_files(files, plan, _printed(as_json), model=model, again=again)
    print_fields(asyncio.run(submitted), as_json)


@batch.command()
@FOLDER
@KEY
@AS_JSON
def status(folder: Path, api_key_env: str | None, as_json: bool) -> None:
    """Show how far each file of FOLDER is, and what is next.

    \b
    Example:
      ccrs judge batch status requests
    """
    import asyncio

    from judge.engines.files.service.batch_folder import BatchFolder
    from judge.engines.files.service.fetching import status as status_of

    print_fields(asyncio.run(status_of(BatchFolder(folder, api_key_env))), as_json)


@batch.command()
@FOLDER
@KEY
@AS_JSON
def fetch(folder: Path, api_key_env: str | None, as_json: bool) -> None:
    """Download the results of the batches that have ended into FOLDER.

    A file of results appears when it is complete; what is there is not downloaded again. The last
    line is the command that reads the results. Exits with 1 if a batch has ended without results.

    \b
    Example:
      ccrs judge batch fetch requests
    """
    import asyncio

    from judge.engines.files.service.batch_folder import BatchFolder
    from judge.engines.files.service.fetching import fetch as fetch_results

    state = asyncio.run(fetch_results(BatchFolder(folder, api_key_env), _printed(as_json)))
    print_fields(state, as_json)
    if state.has_failed:
        raise click.exceptions.Exit(1)


def _printed(as_json: bool) -> Callable[[str], None]:
    """Return what prints a sentence as soon as it is true, or nothing where JSON is printed."""
    return (lambda _: None) if as_json else click.echo
