"""PostgreSQL's own programs, which copy a database whole and bring it back."""

import os
import shutil
import subprocess
from pathlib import Path

from sqlalchemy import Connection, inspect
from sqlalchemy.engine import make_url

from study.errors import StudyError


def dump(address: str, snapshot: str, target: Path) -> None:
    """Write a database, as a snapshot sees it, in pg_dump's custom format.

    Raises
    ------
    StudyError
        pg_dump is not installed, or failed.
    """
    _run(
        "pg_dump",
        "--format=custom",
        "--no-owner",
        "--no-privileges",
        f"--snapshot={snapshot}",
        f"--file={target}",
        address=address,
    )


def load(address: str, source: Path) -> None:
    """Bring a dump into an empty database, whole or not at all.

    Raises
    ------
    StudyError
        pg_restore is not installed, or failed.
    """
    _run(
        "pg_restore",
        "--no-owner",
        "--no-privileges",
        "--exit-on-error",
        "--single-transaction",
        str(source),
        address=address,
    )


def need(program: str) -> str:
    """Return where one of PostgreSQL's programs is.

    Raises
    ------
    StudyError
        It is not installed.
    """
    program_path = shutil.which(program)
    if program_path is None:
        raise StudyError(
            f"{program} is not installed, and a PostgreSQL study is copied by nothing else. "
            "Install PostgreSQL's client programs, of the server's version or later."
        )
    return program_path


def table_names(connection: Connection) -> list[str]:
    """Return the names of a database's tables."""
    return sorted(inspect(connection).get_table_names())


def _run(program: str, *words: str, address: str) -> None:
    url = make_url(address).set(drivername="postgresql")
    # A password, which only tests have in an address, stays out of the list of processes.
    environment = {**os.environ, **({"PGPASSWORD": str(url.password)} if url.password else {})}
    plain = url._replace(password=None).render_as_string(hide_password=False)
    done = subprocess.run(  # noqa: S603  (the program is PostgreSQL's, the words are ours)
        [need(program), "--no-password", f"--dbname={plain}", *words],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    if done.returncode:
        message = " ".join(done.stderr.split())[-500:]
        raise StudyError(f"{program} failed: {message}")
