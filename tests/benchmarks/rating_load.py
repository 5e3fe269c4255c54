"""The rating pages under load: raters who save every few seconds, and the server is killed.

SQLite is served by `ccrs serve`, PostgreSQL by two processes of gunicorn, as the documentation has
it; all processes of a server die at one moment.

`python -m tests.benchmarks.rating_load` is what CI runs: 30 raters, a minute, one death. The full
run is 120 raters for 20 minutes with 20 deaths; rating_load.json beside this file has its figures:

    python -m tests.benchmarks.rating_load --raters 120 --seconds 1200 --kills 20 --out FILE
"""

import argparse
import asyncio
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from math import ceil
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

from rich.console import Console
from rich.table import Table
from sqlalchemy import create_engine, select, text
from sqlalchemy.engine import make_url

from annotate_ui.participants.invitation import invite
from study import Study
from study.schema.tables import assignments, ratings
from tests.annotate_ui.browser.marked_campaign import fill, give
from tests.annotate_ui.browser.server import Server, free_port
from tests.annotate_ui.http_rater import Confirmed, HttpRater
from tests.annotate_ui.server.gunicorn import OUTSIDE, PASSED_ON, Gunicorn

AIM = 0.15
"""Seconds that 95% of the saves may take."""
_PATIENCE = 60.0
"""Seconds that raters go on trying after the end."""
_VALUES_OF_A_QUERY = 10


@dataclass(frozen=True)
class Load:
    """What came of it. Seconds are those of the requests that were answered."""

    measured: str
    """When it ended, in UTC, as ISO 8601."""
    database: str
    raters: int
    seconds: float
    every: float
    confirmed: int
    changes: int
    """Of the confirmed ones, those that changed an earlier value."""
    sent_again: int
    """Of the confirmed ones, those that met the dead server and were sent again."""
    p50: float
    p95: float
    longest: float
    longest_with_outage: float
    """From the first attempt to the answer."""
    kills: int
    """Times the server was killed with SIGKILL, at random moments."""
    away: float
    """Seconds from a death until it listened again, the longest."""
    refused: int
    """Answers 429: a rater was told to slow down."""
    locked: int
    """Lines in the server's log that speak of a locked database."""
    stored: int
    lost: list[str]
    """Confirmed, and not in the database as confirmed."""
    doubled: list[str]
    """Stored more than once, or with revisions that do not follow each other."""
    unexplained: int
    """In the database, and neither confirmed nor given up."""

    @property
    def holds(self) -> bool:
        """Whether every confirmed rating is stored, once, and nobody was turned away."""
        return not (self.lost or self.doubled or self.unexplained or self.refused or self.locked)


def main(words: Sequence[str] = ()) -> None:
    """Print what was measured; the aim is 95% of saves within 150 ms, and nothing lost."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--raters", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--every", type=float, default=3)
    parser.add_argument("--kills", type=int, default=1)
    parser.add_argument("--out", type=Path, help="write the figures to this file")
    parser.add_argument("--database", choices=["sqlite", "postgresql"], action="append")
    chosen = parser.parse_args(words)
    loads = []
    for kind in chosen.database or ["sqlite", "postgresql"]:
        with tempfile.TemporaryDirectory() as folder, empty_study(kind, Path(folder)) as study:
            loads.append(
                under_load(study, chosen.raters, chosen.seconds, chosen.every, chosen.kills)
            )
    _print(loads)
    if chosen.out is not None:
        measured = {
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "loads": [asdict(load) for load in loads],
        }
        chosen.out.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    if not all(load.holds for load in loads):
        sys.exit(1)


def under_load(study: Study, raters: int, seconds: float, every: float, kills: int = 1) -> Load:
    """Serve a study to raters who rate for some seconds; kill the server at random moments.

    Parameters
    ----------
    study
        An empty study. It is filled with more than the raters can rate in this time.
    raters
        How many work at once, each with a session of their own.
    seconds, every
        How long they work, and how often each saves.
    kills
        Deaths of the server, by SIGKILL.

    Raises
    ------
    AssertionError
        The server refused what it should have taken.
    """
    fill(study, queries=ceil(seconds / every / _VALUES_OF_A_QUERY) + 1, passages=5)
    codes = [f"rater-{number}" for number in range(raters)]
    for code in codes:
        give(study, code)
    links = {made.rater: made.link for made in invite(study, codes)}
    server = _server(study)
    server.start()
    try:
        clients, away = asyncio.run(_rate(server, links, seconds, every, _moments(seconds, kills)))
    finally:
        server.stop()
    locked = sum("locked" in line for line in server.complaints.splitlines())
    return _checked(study, clients, seconds, every, away, locked)


def _server(study: Study) -> Server | Gunicorn:
    """Return what the documentation serves such a database with."""
    beside = study.folder.parent
    if study.engine.dialect.name == "sqlite":
        return Server(study.folder, beside / "state", free_port())
    secret = beside / "secret"
    secret.write_bytes(os.urandom(32))
    secret.chmod(0o600)
    settings = study.folder / "study.toml"
    settings.write_text(f"{settings.read_text()}\n{OUTSIDE}")
    return Gunicorn(study.folder, secret, beside / "gunicorn.txt", free_port())


def _moments(seconds: float, kills: int) -> list[float]:
    """Return when the server dies: one moment at random in each of as many equal parts."""
    draw, part = Random(kills), seconds / max(kills, 1)
    # Not in the last tenth of a part: the server is back before the raters stop.
    return [part * (number + 0.1 + 0.8 * draw.random()) for number in range(kills)]


async def _rate(
    server: Server | Gunicorn,
    links: dict[str, str],
    seconds: float,
    every: float,
    moments: Sequence[float],
) -> tuple[list[HttpRater], list[float]]:
    began = time.monotonic()
    until = began + seconds
    address = f"http://127.0.0.1:{server.port}"
    passed_on = PASSED_ON if isinstance(server, Gunicorn) else {}
    clients = [
        HttpRater(address, link, Random(number), until + _PATIENCE, passed_on)
        for number, link in enumerate(links.values())
    ]
    async with asyncio.TaskGroup() as tasks:
        for client in clients:
            tasks.create_task(client.work(every, until))
        away = []
        for moment in moments:
            await asyncio.sleep(max(0.0, began + moment - time.monotonic()))
            # On a slow machine nobody may be in yet, and a death then interrupts no save.
            while not all(client.confirmed for client in clients) and time.monotonic() < until:
                await asyncio.sleep(0.01)
            died = time.monotonic()
            server.kill()
            await asyncio.to_thread(server.start)
            away.append(time.monotonic() - died)
    return clients, away


def _checked(
    study: Study,
    clients: Sequence[HttpRater],
    seconds: float,
    every: float,
    away: Sequence[float],
    locked: int,
) -> Load:
    stored = _stored(study)
    by_key = {row.idempotency_key: row for row in stored}
    confirmed = [save for client in clients for save in client.confirmed]
    given_up = {key for client in clients for key in client.given_up}
    times = [save.seconds for save in confirmed]
    return Load(
        measured=datetime.now(UTC).isoformat(timespec="seconds"),
        database=study.engine.dialect.name,
        raters=len(clients),
        seconds=seconds,
        every=every,
        confirmed=len(confirmed),
        changes=sum(save.revision > 1 for save in confirmed),
        sent_again=sum(save.attempts > 1 for save in confirmed),
        p50=statistics.median(times),
        p95=statistics.quantiles(times, n=20)[-1],
        longest=max(times),
        longest_with_outage=max(save.waited for save in confirmed),
        kills=len(away),
        away=max(away, default=0.0),
        refused=sum(client.refused for client in clients),
        locked=locked,
        stored=len(stored),
        lost=[save.key for save in confirmed if not _is(by_key.get(save.key), save)],
        doubled=_doubled(stored),
        unexplained=len(by_key.keys() - {save.key for save in confirmed} - given_up),
    )


def _stored(study: Study) -> list[Any]:
    with study.read() as connection:
        rows = connection.execute(
            select(
                assignments.c.public_id,
                ratings.c.construct_key,
                ratings.c.revision,
                ratings.c.value,
                ratings.c.idempotency_key,
            )
            .join_from(ratings, assignments, ratings.c.assignment_id == assignments.c.id)
            .order_by(ratings.c.id)
        )
        return list(rows)


def _is(row: Any, save: Confirmed) -> bool:
    return row is not None and tuple(row)[:4] == (
        save.place,
        save.construct,
        save.revision,
        save.value,
    )


def _doubled(stored: Sequence[Any]) -> list[str]:
    keys = Counter(row.idempotency_key for row in stored)
    result = [f"key {key}" for key, times in keys.items() if times > 1]
    revisions: dict[tuple[str, str], list[int]] = {}
    for row in stored:
        revisions.setdefault((row.public_id, row.construct_key), []).append(row.revision)
    return result + [
        f"{construct} of {place}: revisions {numbers}"
        for (place, construct), numbers in revisions.items()
        if numbers != list(range(1, len(numbers) + 1))
    ]


def _print(loads: Sequence[Load]) -> None:
    shown = Table(box=None, pad_edge=False)
    headings = ("saves", "changes", "sent again", "p50 ms", "p95 ms", "max ms", "lost", "doubled")
    for heading in ("database", *headings):
        shown.add_column(heading, justify="left" if heading == "database" else "right")
    for load in loads:
        times = (f"{1000 * seconds:.0f}" for seconds in (load.p50, load.p95, load.longest))
        counts = map(str, (load.confirmed, load.changes, load.sent_again))
        faults = map(str, (len(load.lost) + load.unexplained, len(load.doubled)))
        shown.add_row(load.database, *counts, *times, *faults)
    Console().print(shown)
    for load in loads:
        print(
            f"{load.database}: {load.raters} raters for {load.seconds:.0f} s, a save each every "
            f"{load.every:g} s; the server was killed {load.kills} times and away for "
            f"{load.away:.1f} s at most; nobody waited longer than "
            f"{load.longest_with_outage:.1f} s; refused {load.refused}, locked {load.locked}; p95 "
            f"{'within' if load.p95 <= AIM else 'BEYOND'} {1000 * AIM:.0f} ms."
        )


@contextmanager
def empty_study(kind: str, folder: Path) -> Iterator[Study]:
    """Make a study on SQLite, or on the PostgreSQL server that CCRS_TEST_POSTGRESQL names."""
    if kind == "sqlite":
        study = Study.create(folder / "study")
        yield study
        study.close()
        return
    address = os.environ.get("CCRS_TEST_POSTGRESQL")
    if not address:
        sys.exit("CCRS_TEST_POSTGRESQL names no PostgreSQL server")
    name = f"ccrs_load_{uuid4().hex}"
    server = create_engine(address, isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    url = make_url(address).set(database=name).render_as_string(hide_password=False)
    study = Study.create(folder / "study", f'database = "{url}"\n')
    try:
        yield study
    finally:
        study.close()
        with server.connect() as connection:
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
        server.dispose()


if __name__ == "__main__":
    main(sys.argv[1:])
