"""How a command or a function is measured: several runs, the median, the largest memory."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple


class Measured(NamedTuple):
    """Median wall seconds over the runs, with the range, and peak resident megabytes."""

    seconds: float
    fastest: float
    slowest: float
    peak_mb: float

    def __str__(self) -> str:
        return (
            f"{self.seconds:.2f} s ({self.fastest:.2f} to {self.slowest:.2f}), "
            f"{self.peak_mb:.0f} MB"
        )


def run_command(command: Sequence[str], runs: int = 5, warm_up: int = 1) -> Measured:
    """Run a command several times as a process of its own."""
    seconds, peak = [], 0.0
    for turn in range(warm_up + runs):
        started = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        assert process.stderr is not None
        complaint = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        if os.waitstatus_to_exitcode(status) != 0:
            sys.exit(f"{' '.join(command)} failed:\n{complaint}")
        if turn >= warm_up:
            seconds.append(time.perf_counter() - started)
            peak = max(peak, usage.ru_maxrss / 1024)
    return Measured(statistics.median(seconds), min(seconds), max(seconds), peak)


def median_seconds(work: Callable[[], object], runs: int = 5) -> float:
    """Return the median wall time of a function, after one run that is not counted."""
    work()
    seconds = []
    for _ in range(runs):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)
