"""What README.md and the manual show of the program, made by running it.

`python -m tests.documented_outputs` writes it: the block of text below a block with one command of
`ccrs` is what the command prints on a terminal, its messages first.
"""

import re
import shlex
import tempfile
from contextlib import chdir
from pathlib import Path

import click
from click.testing import CliRunner

from study.cli.root import cli

ROOT = Path(__file__).resolve().parent.parent
MANUAL = ROOT / "data" / "manual"

#: Pages with outputs, and the folder in which their commands are run.
PAGES = {
    ROOT / "README.md": ROOT,
    MANUAL / "csv.md": MANUAL / "tables",
    MANUAL / "reading_report.md": ROOT,
}
#: What `ccrs demo` is given so that it writes nothing here; its answers end at this line.
_DEMO = ["--no-verify", "--out"]
_END_OF_ANSWERS = "\n\nReport: "

#: Where a terminal breaks lines.
_WIDTH = 80
_BLOCKS = re.compile(r"^(```sh\n(ccrs [^\n]+)\n```\n\n```text\n)(.*?)^```$", re.M | re.S)


def shown(page: Path) -> list[tuple[str, str]]:
    """The commands of a page with the output below each."""
    return [(m[2], m[3]) for m in _BLOCKS.finditer(page.read_text(encoding="utf-8"))]


def output(command: str, folder: Path) -> str:
    """What a command prints in a folder, in lines of at most 80 characters.

    Raises
    ------
    RuntimeError
        The command fails; the message has its output.
    """
    words = shlex.split(command)[1:]
    with tempfile.TemporaryDirectory() as report, chdir(folder):
        if words == ["demo"]:
            words += [*_DEMO, report]
        result = CliRunner().invoke(cli, words)
    if result.exit_code:
        raise RuntimeError(f"{command} ended with {result.exit_code}: {result.output}")
    answers = result.output.partition(_END_OF_ANSWERS)[0].rstrip("\n")
    return "".join(f"{_broken(line)}\n" for line in answers.split("\n"))


def _broken(line: str) -> str:
    """A line as a terminal shows it, continued lines two characters further to the right."""
    indent = " " * (len(line) - len(line.lstrip()))
    if len(line) <= _WIDTH:
        return line
    return click.wrap_text(line.lstrip(), _WIDTH, indent, f"{indent}  ")


def with_outputs(page: Path) -> str:
    """The text of a page with the outputs of today."""

    def made(match: re.Match[str]) -> str:
        return f"{match[1]}{output(match[2], PAGES[page])}```"

    return _BLOCKS.sub(made, page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(with_outputs(path), encoding="utf-8")
