"""The only places where the harness meets the product: commands, the application, the stub."""

import os
import random
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from typing import IO, Any

import click
from filelock import FileLock
from flask import Flask

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "data" / "example"
SHARED_DATA = ROOT.parent / "shared" / "data"
_PRELOADED = (
    "aiohttp", "alembic", "flask", "flask_wtf", "krippendorff", "matplotlib.figure", "numba",
    "numpy", "pandas", "pingouin", "pyarrow.parquet", "rich.table", "scipy.optimize", "scipy.stats",
    "sqlalchemy", "sqlmodel",
)  # fmt: skip


def make_app(folder: Path) -> tuple[Flask, Any]:
    """Return the application of a study, and the study, which is closed afterwards."""
    from annotate_ui.web.app import create_app
    from study import Study

    study = Study.open(folder)
    return create_app(study, b"k" * 32), study


@contextmanager
def stub(*rules: Any) -> Iterator[Any]:
    """Run the stub endpoint; it has `base_url` and `behave`.

    Its address is a condition of a run, on which draws depend, so it is always the same.
    """
    from tests.judge.stub.process import running_stub

    lock = FileLock(Path(gettempdir()) / "golden-stub.lock")
    with lock, running_stub(*rules, port=18431) as running:
        yield running


def commands() -> dict[str, click.Command]:
    """Return every command by its words, subcommands included."""
    known: dict[str, click.Command] = {}

    def add(words: str, command: click.Command) -> None:
        known[words] = command
        if isinstance(command, click.Group):
            context = click.Context(command, info_name=words)
            for name in command.list_commands(context):
                below = command.get_command(context, name)
                assert below is not None
                add(f"{words} {name}", below)

    for entry in entry_points(group="ccrs.commands"):
        add(f"ccrs {entry.name}", entry.load())
    return dict(sorted(known.items()))


def seed_random_ids(label: str) -> None:
    """Let ids and tokens of this process be the same in every recording."""
    source = random.Random(label)
    os.urandom = random._urandom = source.randbytes  # type: ignore[attr-defined]


def ccrs(*words: str | Path, cwd: Path, feed: str = "") -> str:
    """Run a command; return its words, code and outputs as one text.

    It runs in a fork of this process, which has third parties' libraries loaded: that saves most
    of the time, and nothing of the product is shared.
    """
    for name in _PRELOADED:
        import_module(name)
    sys.stdout.flush()
    sys.stderr.flush()
    with TemporaryFile("w+") as stdin, TemporaryFile("w+") as stdout, TemporaryFile("w+") as stderr:
        stdin.write(feed)
        stdin.seek(0)
        child = os.fork()
        if child == 0:
            _become(list(map(str, words)), cwd, (stdin, stdout, stderr))
        _, status = os.waitpid(child, 0)
        stdout.seek(0)
        stderr.seek(0)
        shown = (
            " ".join(map(str, words)).replace(str(SHARED_DATA), "DATA").replace(str(ROOT), "ROOT")
        )
        return (
            f"$ ccrs {shown}\ncode {os.waitstatus_to_exitcode(status)}\n"
            f"--- stdout\n{stdout.read()}--- stderr\n{stderr.read()}"
        )


def _become(words: list[str], cwd: Path, files: tuple[IO[str], ...]) -> None:
    """Be the command, in a fork; does not return."""
    code = 70
    try:
        for number, file in enumerate(files):
            os.dup2(file.fileno(), number)
        sys.stdin, sys.stdout, sys.stderr = (
            open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
            for number, mode in enumerate("rww")
        )
        os.chdir(cwd)
        for name in list(os.environ):
            if name.startswith(("CCRS_", "OPENAI_")):
                del os.environ[name]
        os.environ.update(COLUMNS="100", NO_COLOR="1", TZ="UTC", OPENAI_API_KEY="x")
        seed_random_ids(" ".join(words))
        sys.argv = ["ccrs", *words]
        (script,) = entry_points(group="console_scripts", name="ccrs")
        script.load()()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
        code = 1
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
