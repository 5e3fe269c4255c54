"""The first lines on two columns of 500 rows: `ccrs report --text` beside `judgekeeper check`."""

import csv
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

CCRS = str(Path(sys.executable).with_name("ccrs"))
JUDGEKEEPER = "judgekeeper==0.1.3"
RUNS = 9


def main() -> None:
    """Print the medians of the processor time in one run, and their quotient.

    judgekeeper is installed into an environment of its own, compiled as ours is.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = folder / "verdicts.csv"
        write_table(table)
        environment = folder / "environment"
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        installer = [environment / "bin" / "pip", "install", "-q", JUDGEKEEPER]
        subprocess.run(installer, check=True)
        ours = [CCRS, "report", str(table), "--text"]
        theirs = [
            str(environment / "bin" / "judgekeeper"), "check", str(table), "--id", "id",
            "--judge", "judge", "--human", "human", "--out", str(folder / "out"),
        ]  # fmt: skip
        times: dict[str, list[float]] = {"ours": [], "theirs": []}
        for turn in range(RUNS + 1):
            for whose, command in (("ours", ours), ("theirs", theirs)):
                seconds = processor_seconds(command)
                if turn:
                    times[whose].append(seconds)
        medians = {whose: statistics.median(seconds) for whose, seconds in times.items()}
        print(f"ccrs report --text: {medians['ours']:.3f} s of processor time")
        print(f"judgekeeper check: {medians['theirs']:.3f} s")
        print(f"quotient: {medians['ours'] / medians['theirs']:.2f} (at most 2 is wanted)")


def write_table(path: Path) -> None:
    """Verdicts of a judge that is right nine times of ten."""
    draw = random.Random(1)
    with path.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["id", "human", "judge"])
        for number in range(500):
            human = draw.random() < 0.6
            judge = human if draw.random() < 0.9 else not human
            words = ["pass" if verdict else "fail" for verdict in (human, judge)]
            rows.writerow([number, *words])


def processor_seconds(command: Sequence[str]) -> float:
    """User and system time of a command and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {key: v for key, v in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(command, check=True, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
