"""Memory and time of `ccrs status`, `ccrs report` and other commands on millions of judgments."""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Connection, Table, insert

from study import Study
from study.schema.content import digest
from study.schema.tables import (
    assignments,
    judge_answers,
    judge_runs,
    outputs,
    queries,
    rater_answers,
    raters,
    responses,
)
from tests.benchmarks.measuring import run_command

SYSTEMS, RATERS, RATED = 6, 3, 120
WORDS = "the answer given here states a fact that one of the passages contains and adds more"
CCRS = str(Path(sys.executable).with_name("ccrs"))
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def main() -> None:
    """Print time and peak memory of each command at each size.

    The aims for status and report are 1 GB at a million judgments and at most 100 MB for each
    further million.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgments", type=int, nargs="+", default=[1_000_000, 2_000_000])
    parser.add_argument("--runs", type=int, nargs="+", default=[1, 10])
    parser.add_argument("--distributions", action="store_true", help="store one for each judgment")
    parser.add_argument("--database", help="URL of an empty PostgreSQL database, for one size")
    parser.add_argument("--commands", nargs="+", default=list(COMMANDS), choices=list(COMMANDS))
    arguments = parser.parse_args()
    for runs, number in product(arguments.runs, arguments.judgments):
        with tempfile.TemporaryDirectory() as folder:
            study = Path(folder) / "study"
            # A separate process: the memory of this one would count for its children.
            size = [str(study), str(number), str(runs), arguments.database or ""]
            make = [sys.executable, "-m", "tests.benchmarks.million_judgments", "make", *size]
            subprocess.run([*make, "x" if arguments.distributions else ""], check=True)
            for name in arguments.commands:
                if runs == 1 and name == "judge compare":
                    continue
                words = [word.format(study=study, folder=folder) for word in COMMANDS[name]]
                command = [CCRS, *words]
                measured = run_command(command, runs=1, warm_up=0)
                print(f"{number:,} judgments of {runs} runs: ccrs {name}: {measured}", flush=True)


COMMANDS = {
    "status": ["status", "{study}"],
    "report": ["report", "{study}", "--out", "{folder}/report"],
    "judge list": ["judge", "list", "{study}"],
    "judge show": ["judge", "show", "{study}", "judge-0"],
    "judge compare": ["judge", "compare", "{study}", "judge-0", "judge-1"],
    "judge export": ["judge", "export", "{study}", "judge-0", "--out", "{folder}/judge-0.jsonl"],
    "export": ["export", "{study}", "--out", "{folder}/export"],
}


def make_study(
    folder: Path,
    number: int,
    runs: int = 1,
    database: str | None = None,
    distributions: bool = False,
) -> None:
    """Create a study with so many judgments and 1,800 ratings, row by row as the models say."""
    with Study.create(folder) as study:
        constructs = [construct.key for construct in study.config.constructs]
    if database:
        (folder / "study.db").unlink()
        settings = folder / "study.toml"
        text = settings.read_text(encoding="utf-8")
        settings.unlink()
        Study.create(folder, f'database = "{database}"\n' + text).close()
    n_queries = -(-number // (runs * SYSTEMS * len(constructs)))
    rng = np.random.default_rng(0)
    of_query = 60 + 15 * rng.normal(size=n_queries)
    quality = np.repeat(of_query, SYSTEMS) + 12 * rng.normal(size=n_queries * SYSTEMS)

    def scores(bias: float, noise: float, rated: int) -> np.ndarray:
        values = quality[:rated] + bias + noise * rng.normal(size=rated)
        return np.clip(np.round(values), 0, 100)

    with Study.open(folder) as study, study.write() as connection:
        _store(connection, queries, _queries(n_queries))
        _store(connection, responses, _responses(n_queries))
        _store(connection, outputs, _outputs(n_queries))
        _store(connection, judge_runs, (_run(run) for run in range(1, runs + 1)))
        for run, construct in product(range(1, runs + 1), constructs):
            values = scores(10, 8, len(quality))
            _store(connection, judge_answers, _judgments(run, construct, values, distributions))
        given = [
            (rater, construct, scores(rater, 10, RATED))
            for rater, construct in product(range(RATERS), constructs)
        ]
        _store(connection, raters, ({"id": i + 1, "code": f"rater-{i}"} for i in range(RATERS)))
        _store(connection, assignments, _assignments(constructs))
        for rater, construct, values in given:
            _store(connection, rater_answers, _ratings(rater, construct, values))


def _store(connection: Connection, table: Table, rows: Iterator[dict[str, Any]]) -> None:
    while some := list(islice(rows, 10_000)):
        connection.execute(insert(table), some)


def _queries(n_queries: int) -> Iterator[dict[str, Any]]:
    for i in range(n_queries):
        attributes = {"domain": f"domain-{i % 7}"}
        references = [f"The answer is {i}."]
        yield {
            "id": i + 1, "key": f"query-{i:06d}", "text": f"What of {i}?",
            "references": references, "attributes": attributes,
        }  # fmt: skip


def _responses(n_queries: int) -> Iterator[dict[str, Any]]:
    for i in range(n_queries * SYSTEMS):
        text = f"{i}: {WORDS * (1 + i % 7)}"
        yield {
            "id": i + 1, "key": f"query-{i // SYSTEMS:06d}-system-{i % SYSTEMS}", "version": 1,
            "text": text, "role": "answer", "query_id": i // SYSTEMS + 1,
            "content_hash": digest(text.encode()), "context_hash": None,
        }  # fmt: skip


def _outputs(n_queries: int) -> Iterator[dict[str, Any]]:
    for i in range(n_queries * SYSTEMS):
        yield {
            "id": i + 1, "query_id": i // SYSTEMS + 1, "system": f"system-{i % SYSTEMS}",
            "revision": 1, "response_id": i + 1,
        }  # fmt: skip


def _run(run: int) -> dict[str, Any]:
    return {
        "id": run, "name": f"judge-{run - 1}", "engine": "openai", "model": f"model-{run % 3}",
        "prompt_version": "ccrs-paper-v1", "prompt_hash": "0", "decoding": {"temperature": 0},
        "seed": run, "repeats": 1, "identity": str(run), "observed": {}, "software": {},
        "config_hash": "0", "created_at": NOW,
    }  # fmt: skip


def _judgments(
    run: int, construct: str, values: np.ndarray, distributions: bool
) -> Iterator[dict[str, Any]]:
    for i, value in enumerate(values.tolist()):
        # One answer in a thousand can't be read.
        missing = i % 1000 == 7
        yield {
            "run_id": run, "response_id": i + 1, "construct_key": construct,
            "construct_version": 1, "repeat": 0, "attempt": 1, "round": 0,
            "value": None if missing else value,
            "missing_reason": "no_score" if missing else None,
            "rule": None if missing else "last_line", "parser_version": "1",
            "raw_answer": f"{WORDS}.\nScore: {'none' if missing else value}",
            "finish_reason": "stop", "flags": [], "parts": None,
            "distribution": _around(value) if distributions and not missing else None,
            "prompt_tokens": 500, "completion_tokens": 20, "created_at": NOW,
        }  # fmt: skip


def _around(value: float) -> dict[str, float]:
    points = {min(max(value + step, 0), 100): None for step in (0, 1, -1, 2, -2)}
    return {f"{point:g}": 0.98 / len(points) for point in points}


def _assignments(constructs: list[str]) -> Iterator[dict[str, Any]]:
    for rater, i in product(range(RATERS), range(RATED)):
        yield {
            "id": rater * RATED + i + 1, "construct_keys": constructs, "position": i,
            "rater_id": rater + 1, "response_id": i + 1, "config_hash": "0", "created_at": NOW,
            "purpose": "main", "layout": "single", "channel": "own", "round": 0, "repeat": 0,
            "inclusion_prob": 1.0,
        }  # fmt: skip


def _ratings(rater: int, construct: str, values: np.ndarray) -> Iterator[dict[str, Any]]:
    for i, value in enumerate(values.tolist()):
        yield {
            "assignment_id": rater * RATED + i + 1, "construct_key": construct,
            "construct_version": 1, "revision": 1, "value": value, "status": "rated",
            "revealed": [], "after_reveal": False, "seen_more": False, "late": False,
            "flags": [], "channel": "own", "config_hash": "0", "created_at": NOW,
        }  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1:2] == ["make"]:
        folder, number, runs, database, distributions = sys.argv[2:]
        make_study(Path(folder), int(number), int(runs), database, bool(distributions))
    else:
        main()
