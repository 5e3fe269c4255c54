"""The root command: `ccrs` and the commands that packages register under `ccrs.commands`."""

import os
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint, version
from importlib.util import find_spec
from io import TextIOWrapper
from pathlib import Path

import click

from study.entry_points import entry_points

GROUP = "ccrs.commands"
SECTIONS = {
    "Start": ("help", "demo", "fetch", "init", "import", "doctor", "plan"),
    "People": (
        *("assign", "invite", "enrol", "serve", "owner-password", "watch", "pause"),
        *("adjudicate", "label-studio"),
    ),
    "Judge": ("respond", "judge", "measure"),
    "Results": ("status", "report", "check", "export"),
    "Keeping": ("backup", "restore", "archive", "erase", "upgrade"),
}
"""Headings of the help and their commands; commands of other packages follow by name."""
_OTHER = "Other commands"


class RegisteredCommands(click.Group):
    """A group whose commands are entry points, loaded when they are needed."""

    def _entries(self) -> dict[str, EntryPoint]:
        return {entry.name: entry for entry in entry_points(group=GROUP)}

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return [name for names in self._sections().values() for name in names]

    def _sections(self) -> dict[str, list[str]]:
        names = self._entries()
        listed = {name for section in SECTIONS.values() for name in section}
        sections = {
            title: [name for name in section if name in names]
            for title, section in SECTIONS.items()
        }
        sections[_OTHER] = sorted(names.keys() - listed)
        return {title: section for title, section in sections.items() if section}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands under their headings, each with its whole summary."""
        widest = max(map(len, self.list_commands(ctx)))
        for title, names in self._sections().items():
            rows = [
                (name.ljust(widest), command.get_short_help_str(limit=200))
                for name in names
                if (command := self.get_command(ctx, name)) is not None
            ]
            with formatter.section(title):
                formatter.write_dl(rows)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        entry = self._entries().get(cmd_name)
        return None if entry is None else _load(entry)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from study.errors import nearest

            hint = nearest(args[0], self.list_commands(ctx))
            raise click.UsageError(f"{error.message} {hint}".rstrip(), ctx) from None


def _load(entry: EntryPoint) -> click.Command:
    try:
        command = entry.load()
        if not isinstance(command, click.Command):
            raise TypeError(f"{entry.value} is not a click command")
    except Exception as error:  # noqa: BLE001  (a plug-in may break in any way)
        problem = f"{type(error).__name__}: {error}".splitlines()[0]

        @click.command(
            entry.name,
            short_help=f"Broken plug-in ({problem})",
            context_settings={"ignore_unknown_options": True},
        )
        @click.argument("arguments", nargs=-1)
        def broken(arguments: tuple[str, ...]) -> None:
            del arguments
            raise click.ClickException(
                f"`ccrs {entry.name}` comes from {entry.value}, which can't be loaded "
                f"({problem}). Update or uninstall the package that brings it."
            )

        return broken
    return command


@click.group(cls=RegisteredCommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("ccrs-study"), prog_name="ccrs")
def cli() -> None:
    """Find out whether an LLM judge of RAG responses can be trusted.

    \b
    Try it:            ccrs demo
    Your own data:     ccrs init my-study
                       ccrs import my-study responses.jsonl scores.csv
                       ccrs report my-study
    Only a table:      ccrs report scores.csv --scale 0:100
    """


def main() -> None:
    """Run `ccrs`; exit 0 when done, 1 when a result falls short, 2 when it could not run."""
    from study.errors import StudyError

    for stream in (sys.stdout, sys.stderr):
        # Characters that the terminal's encoding lacks are escaped, so that they stop no command.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    for line in _shadowed():
        click.echo(line, err=True)
    try:
        sys.exit(cli.main(standalone_mode=False) or 0)
    except BrokenPipeError:
        # The reader of the output has closed it, as `head` does.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        click.echo(
            f"Error: {place}{error.strerror or error}. Check the path, its permissions and the "
            "free space, and run the command again.",
            err=True,
        )
        sys.exit(2)
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except click.Abort:
        click.echo("Interrupted. What was committed before is kept.", err=True)
        sys.exit(2)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except StudyError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)


def _shadowed() -> Iterator[str]:
    """Yield a warning for each folder of the user that hides one of our packages."""
    home = Path(__file__).resolve().parents[2]
    for package in ("analysis", "judge", "annotate_ui"):
        spec = find_spec(package)
        if spec is None:
            continue
        places = [Path(place).resolve() for place in spec.submodule_search_locations or []]
        if places and all(place.parent != home for place in places):
            yield (
                f"Warning: {places[0]} hides ccrs-study's own package {package!r}. "
                "Rename that folder, or run the command from another one."
            )
