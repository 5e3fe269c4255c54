"""Fixtures that several packages' tests share."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from study import Study

ROOT = Path(__file__).resolve().parent.parent
SHARED_DATA = ROOT.parent / "shared" / "data"


def absent(what: str) -> None:
    """Skip for a person, fail for CI: there, every component must be present."""
    if os.environ.get("CI"):
        pytest.fail(f"{what} (required when CI is set)")
    pytest.skip(what)


@pytest.fixture(scope="session", autouse=True)
def _ctrl_c_reaches_programs() -> None:
    """Let programs that tests start hear Ctrl-C, also where the tests run in the background.

    A shell has its background jobs ignore the signal, and they hand that on to their children.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


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


@pytest.fixture(params=["sqlite", "postgresql"])
def any_study(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Study]:
    """Return an empty study on each database.

    PostgreSQL is a running server named by CCRS_TEST_POSTGRESQL, an address whose user may
    create databases; each test gets a database of its own.
    """
    if request.param == "sqlite":
        made = Study.create(tmp_path / "any-study")
        yield made
        made.close()
        return
    address = os.environ.get("CCRS_TEST_POSTGRESQL")
    if not address:
        absent("CCRS_TEST_POSTGRESQL names no PostgreSQL server")
        return
    from sqlalchemy import create_engine, text
    from sqlalchemy.engine import make_url

    name = f"ccrs_test_{uuid4().hex}"
    server = create_engine(address, isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    url = make_url(address).set(database=name).render_as_string(hide_password=False)
    made = Study.create(tmp_path / "any-study", f'database = "{url}"\n')
    yield made
    made.close()
    with server.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    server.dispose()
