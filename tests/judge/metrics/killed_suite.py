"""Judges a study with a suite over HTTP in child processes, each of which is killed midway.

`python -m tests.judge.metrics.killed_suite STUDY BASE_URL KILLS` prints the number of answers on
disk at each kill. Children are forked, so that they need no start of Python.
"""

import os
import signal
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path
from random import Random

from judge import OpenAISettings, judge_metrics
from judge.engines.engine import load_engine
from judge.metrics.registry import load_metric
from study import Study

METRICS = "ragchecker-precision,ragchecker-recall"


def suite(base_url: str) -> OpenAISettings:
    """Return the settings: one prompt at a time, so that a kill loses at most one answer."""
    return OpenAISettings(base_url=base_url, model="stub-judge", metric=METRICS, concurrency=1)


def main() -> None:
    """Kill one call after the other with SIGKILL."""
    folder, base_url, kills = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    random = Random(13)
    # Imported once, before the children begin.
    load_engine("openai")
    load_metric("ragchecker-precision")
    for _ in range(kills):
        enough = _stored(folder) + random.randint(1, 3)
        child = os.fork()
        if not child:
            with Study.open(folder) as study:
                judge_metrics(study, suite(base_url))
            os._exit(0)
        until = time.monotonic() + 60
        while _stored(folder) < enough and time.monotonic() < until:
            time.sleep(0.002)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            sys.exit("a call ended before it was killed")
        print(_stored(folder))


def _stored(folder: Path) -> int:
    with closing(sqlite3.connect(f"file:{folder}/study.db?mode=ro", uri=True)) as database:
        return int(database.execute("SELECT count(*) FROM step_answer").fetchone()[0])


if __name__ == "__main__":
    main()
