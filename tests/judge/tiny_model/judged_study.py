"""A study, the command that judges it with the tiny model, and what is stored of it."""

import json
import sqlite3
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.judge.tiny_model.process import MODEL, TinyModel

CCRS = str(Path(sys.executable).with_name("ccrs"))
CONCURRENCY = 16

# Whatever proxies the environment names: these calls stay on this machine.
_open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open


def command(folder: Path, endpoint: TinyModel, *more: str) -> list[str]:
    """Return the command that judges a study with the model."""
    where = ["--base-url", endpoint.base_url, "--model", MODEL]
    return [CCRS, "judge", str(folder), *where, "--concurrency", str(CONCURRENCY), *more]


FIRST_REFERENCE = "Of several reference answers (10 queries), ccrs reads the first.\n"
"""What a call on the short example says on stderr."""
ANSWERS_ON_RESPONSES = "SELECT count(*) FROM judge_answer WHERE item = ''"


def judge(folder: Path, endpoint: TinyModel, *more: str) -> subprocess.CompletedProcess[str]:
    """Run that command to its end."""
    return subprocess.run(
        command(folder, endpoint, *more), check=False, capture_output=True, text=True, timeout=300
    )


def judgments(folder: Path) -> list[dict[str, Any]]:
    """Return the judgments of a study, with the keys of their responses, in a stable order."""
    with closing(sqlite3.connect(f"file:{folder}/study.db?mode=ro", uri=True)) as database:
        database.row_factory = sqlite3.Row
        rows = database.execute(
            "SELECT judge_answer.*, response.key AS response_key FROM judge_answer"
            " JOIN response ON response.id = judge_answer.response_id"
            " WHERE item = '' ORDER BY response_key, construct_key, repeat, attempt"
        )
        return [dict(row) for row in rows]


def count(folder: Path) -> int:
    """Return how many judgments of the study are on disk."""
    with closing(sqlite3.connect(f"file:{folder}/study.db?mode=ro", uri=True)) as database:
        return int(database.execute(ANSWERS_ON_RESPONSES).fetchone()[0])


def answers(folder: Path) -> list[tuple[Any, ...]]:
    """Return the content of each judgment, in a stable order."""
    names = (
        "response_key",
        "construct_key",
        "repeat",
        "value",
        "missing_reason",
        "rule",
        "raw_answer",
    )
    return [tuple(row[name] for name in names) for row in judgments(folder)]


def ask(url: str, body: Any = None) -> tuple[int, Any]:
    """Return the status and the body of an endpoint's answer."""
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, content, {"Content-Type": "application/json"})
    try:
        with _open(request, timeout=30) as response:
            return response.status, json.loads(response.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())
