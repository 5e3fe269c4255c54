"""Threads and connections for the raters of a study."""

import resource
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from annotate_ui.server.application import THREADS, Size, fitted, size_for
from study import Study


@pytest.mark.parametrize(
    ("raters", "connections"),
    # 6 x raters + 100, 200 at least.
    [(0, 200), (16, 200), (17, 202), (40, 340), (1000, 6100)],
)
def test_the_size_follows_the_raters(raters: int, connections: int) -> None:
    assert size_for(raters) == Size(THREADS, connections)


def test_every_thread_can_hold_a_connection_to_the_database_at_once(any_study: Study) -> None:
    together = Barrier(THREADS, timeout=10)

    def hold() -> None:
        with any_study.read():
            together.wait()

    with ThreadPoolExecutor(THREADS) as pool:
        for connection in [pool.submit(hold) for _ in range(THREADS)]:
            connection.result()


class Limits:
    """Replaces the system's limit on open files."""

    RLIMIT_NOFILE = resource.RLIMIT_NOFILE
    RLIM_INFINITY = resource.RLIM_INFINITY

    def __init__(self, soft: int, hard: int, refuses: bool = False) -> None:
        self.limits = (soft, hard)
        self.refuses = refuses

    def getrlimit(self, _: int) -> tuple[int, int]:
        return self.limits

    def setrlimit(self, _: int, limits: tuple[int, int]) -> None:
        if self.refuses:
            raise ValueError("not allowed to raise maximum limit")
        self.limits = limits


@pytest.mark.parametrize(
    ("limits", "raised", "connections"),
    # 340 connections and 128 other descriptors: 468.
    [
        (Limits(1024, 4096), 1024, 340),
        (Limits(256, 4096), 468, 340),
        (Limits(256, resource.RLIM_INFINITY), 468, 340),
        (Limits(resource.RLIM_INFINITY, resource.RLIM_INFINITY), resource.RLIM_INFINITY, 340),
        (Limits(256, 300), 300, 172),
        (Limits(256, 4096, refuses=True), 256, 128),
        (Limits(64, 64), 64, 16),
    ],
)
def test_the_limit_on_open_files_is_raised_or_reported(
    limits: Limits, raised: int, connections: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "resource", limits)
    size = fitted(size_for(40))
    assert limits.limits[0] == raised
    assert size.connections == connections
    if connections == 340:
        assert size.warning is None
    else:
        assert size.warning is not None
        assert "ulimit -n 468" in size.warning
        assert f"{connections} connections" in size.warning
