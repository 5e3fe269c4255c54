"""`ccrs help`: the documentation in the terminal, from the installed files."""

import sys
from importlib import import_module
from importlib.resources import files
from importlib.resources.abc import Traversable

import click

from study.errors import nearest

MANUAL = "study._manual"
#: Titles of the pages that functions of `made_pages` make from the declarations.
MADE = {
    "commands": "Commands",
    "settings": "Settings",
    "report-ids": "Figures of report.json",
}


def topics() -> dict[str, Traversable]:
    """The written pages of the manual by topic."""
    manual = files(MANUAL)
    pages = {
        _topic(page.name.removesuffix(".md")): page
        for folder in (manual, manual / "reference")
        for page in sorted(folder.iterdir(), key=lambda page: page.name)
        if page.name.endswith(".md") and page.name != "index.md"
    }
    return pages | {"example": files("study._example") / "README.md"}


def _topic(name: str) -> str:
    return name.replace("_", "-")


@click.command("help")
@click.argument("topic", required=False)
@click.pass_context
def help_(context: click.Context, topic: str | None) -> None:
    """Show a page of the documentation, or the help of a command.

    Without TOPIC, list the pages.

    \b
    Examples:
      ccrs help
      ccrs help csv
      ccrs help decisions
      ccrs help report
    """
    pages = topics()
    if topic is None:
        click.echo("Pages of the documentation, shown by `ccrs help TOPIC`:\n")
        titles = {name: _title(page) for name, page in pages.items()}
        titles |= MADE
        widest = max(map(len, titles))
        for name, title in titles.items():
            click.echo(f"  {name.ljust(widest)}  {title}")
        return
    if topic in pages:
        _show(pages[topic].read_text(encoding="utf-8"))
        return
    if topic in MADE:
        _show(getattr(import_module(f"{MANUAL}.made_pages"), topic.replace("-", "_"))())
        return
    root = context.find_root().command
    commands = root.list_commands(context) if isinstance(root, click.Group) else []
    command = root.get_command(context, topic) if isinstance(root, click.Group) else None
    if command is None:
        hint = nearest(topic, [*pages, *MADE, *commands])
        raise click.UsageError(
            f"No page and no command is called {topic!r}. {hint}".rstrip()
            + " `ccrs help` lists the pages."
        )
    inner = click.Context(command, info_name=f"ccrs {topic}")
    click.echo(command.get_help(inner))


def _title(page: Traversable) -> str:
    with page.open(encoding="utf-8") as text:
        first = next((line for line in text if line.startswith("# ")), "")
    return first.removeprefix("# ").strip()


def _show(text: str) -> None:
    """Print Markdown; in a terminal through the user's pager, elsewhere as it is written."""
    if not sys.stdout.isatty():
        click.echo(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    with console.pager(styles=True):
        console.print(Markdown(text))
