"""Fixtures that several packages' tests share, and how deep property tests look."""

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any
from unittest.mock import patch

import hypothesis
import pytest

from study import Study
from study.schema import creation, database
from tests import sqlite_tables
from tests.postgresql_studies import PostgreSQLStudies

# No property depends on the machine's speed. `quick`, the default, tries the same examples at every
# run; `--hypothesis-profile ci` and `explore` try new ones and print how to repeat a failure.
for name, number in {"quick": 25, "ci": 50, "explore": 500}.items():
    hypothesis.settings.register_profile(
        name,
        max_examples=number,
        deadline=None,
        derandomize=name == "quick",
        database=None,
        print_blob=True,
    )
hypothesis.settings.load_profile("quick")

_prepare_sqlite = database._prepare_sqlite

ROOT = Path(__file__).resolve().parent.parent
SHARED_DATA = ROOT.parent / "shared" / "data"


# A test that takes one of these fixtures belongs to the tier; others are marked where they stand.
_TIERS = {"browser": "browser", "stub": "server", "sdk": "server"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need a browser, a process of a server, or PostgreSQL."""
    for item in items:
        for fixture in getattr(item, "fixturenames", ()):
            if fixture in _TIERS:
                item.add_marker(_TIERS[fixture])
        callspec = getattr(item, "callspec", None)
        if callspec is not None and callspec.params.get("any_study") == "postgresql":
            item.add_marker("postgres")


def pytest_collection_finish() -> None:
    """Have the garbage collector pass over what was imported: it would read all of it each time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(700, 10, 100)


def _files_alone(config: pytest.Config) -> bool:
    """Return whether the command line names nothing but files."""
    return all(Path(argument.partition("::")[0]).is_file() for argument in config.args)


def pytest_configure(config: pytest.Config) -> None:
    """Run a file that is named whole: tiers are for folders."""
    if _files_alone(config) and f"-m={config.option.markexpr}" in config.getini("addopts"):
        config.option.markexpr = ""


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return a worker for each core; none for named files, which are done before workers start."""
    return 0 if _files_alone(config) else os.cpu_count() or 1


def absent(what: str) -> None:
    """Skip for a person, fail for CI: there, every component must be present."""
    if os.environ.get("CI"):
        pytest.fail(f"{what} (required when CI is set)")
    pytest.skip(what)


def examples(number: int) -> int:
    """Return how many examples a property takes in this profile; `number` is its share of 100."""
    return max(min(number, 10), round(number * hypothesis.settings.default.max_examples / 100))


@pytest.fixture(scope="session", autouse=True)
def _no_wait_for_the_disk() -> Iterator[None]:
    """Leave out the wait of each commit for the disk; only a machine that fails would need it."""

    def prepare(connection: Any, record: Any) -> None:
        _prepare_sqlite(connection, record)
        connection.execute("PRAGMA synchronous=OFF")

    with patch.object(database, "_prepare_sqlite", prepare):
        yield


@pytest.fixture(scope="session", autouse=True)
def _composed_once() -> Iterator[None]:
    """Carry out the statements that create a study's tables without composing them each time."""
    with patch.object(creation, "create_schema", sqlite_tables.create_schema):
        yield


@pytest.fixture
def real_database(monkeypatch: pytest.MonkeyPatch) -> None:
    """Open databases as a user's are opened: a commit waits for the disk."""
    monkeypatch.setattr(database, "_prepare_sqlite", _prepare_sqlite)


@pytest.fixture(scope="session", autouse=True)
def _signals_reach_programs() -> None:
    """Let programs that tests start hear Ctrl-C and the end of a terminal, also in the background.

    A shell has its background jobs ignore the first, `nohup` the second, and they hand that on to
    their children.
    """
    usual: dict[int, Any] = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGHUP: signal.SIG_DFL,
    }
    for number, handler in usual.items():
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


@pytest.fixture
def shared_data() -> Path:
    """Return the folder of real data sets that lies beside the project, where there is one."""
    if not SHARED_DATA.is_dir():
        absent("the folder of real data sets is not beside the project")
    return SHARED_DATA


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    """Return an empty study on SQLite."""
    made = Study.create(tmp_path / "study")
    yield made
    made.close()


@pytest.fixture(scope="session")
def _postgresql_studies() -> Iterator[PostgreSQLStudies | None]:
    address = os.environ.get("CCRS_TEST_POSTGRESQL")
    studies = PostgreSQLStudies(address) if address else None
    yield studies
    if studies is not None:
        studies.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def any_study(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    _postgresql_studies: PostgreSQLStudies | None,
) -> Iterator[Study]:
    """Return an empty study on each database.

    PostgreSQL is a running server named by CCRS_TEST_POSTGRESQL, an address whose user may
    create databases; no two tests have the same one at a time.
    """
    if request.param == "sqlite":
        made = Study.create(tmp_path / "any-study")
        yield made
        made.close()
        return
    if _postgresql_studies is None:
        absent("CCRS_TEST_POSTGRESQL names no PostgreSQL server")
        return
    made = _postgresql_studies.open(tmp_path / "any-study")
    yield made
    _postgresql_studies.take_back(made)


@pytest.fixture
def without_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the drawings of reports empty, for tests that look at none."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    def print_svg(_canvas: FigureCanvasSVG, file: IO[str], **_options: Any) -> None:
        file.write('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>')

    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", lambda *_: None)
    monkeypatch.setattr(FigureCanvasSVG, "print_svg", print_svg)
