"""From the command to what a person sees: `ccrs --help`, and `ccrs demo` to its verdict."""

import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

from tests.benchmarks.measuring import run_command

CCRS = str(Path(sys.executable).with_name("ccrs"))


def main() -> None:
    """Print the medians; the aims are 0.3 s and 5 s on 2 cores."""
    print(f"ccrs --help: {run_command([CCRS, '--help'])}")
    to_verdict = [seconds_to_verdict() for _ in range(5)]
    spread = f"{min(to_verdict):.2f} to {max(to_verdict):.2f}"
    print(f"ccrs demo, to the verdict: {statistics.median(to_verdict):.2f} s ({spread})")
    print(f"ccrs demo, whole: {run_command([CCRS, 'demo'])}")


def seconds_to_verdict() -> float:
    """Return the time until the demo's first sentence on a construct is printed."""
    started = time.perf_counter()
    process = subprocess.Popen([CCRS, "demo"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    seen = None
    for line in process.stdout:
        if seen is None and re.search(r"\bQR\b.*:", line):
            seen = time.perf_counter() - started
    process.wait()
    if seen is None:
        sys.exit("the demo printed no verdict")
    return seen
