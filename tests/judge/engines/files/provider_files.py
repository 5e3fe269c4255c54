"""Files of a batch service in tests: what was sent, and results in the provider's form."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.judge.small_studies import score


def sent(folder: Path) -> list[dict[str, Any]]:
    """Return the requests in all JSON lines of a folder."""
    return [
        json.loads(line)
        for path in sorted(folder.glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]


def result(line: dict[str, Any], content: str | None = None) -> dict[str, Any]:
    """Answer a line as a provider does."""
    text = score(line["body"]["messages"][0]["content"]) if content is None else content
    body = {
        "model": "gpt-0",
        "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 1},
    }
    response = {"status_code": 200, "request_id": "r", "body": body}
    return {"id": "b", "custom_id": line["custom_id"], "response": response, "error": None}


def failed(line: dict[str, Any], code: str = "batch_expired") -> dict[str, Any]:
    """Return the result of a prompt that was not processed."""
    error = {"code": code, "message": "This request could not be executed."}
    return {"id": "b", "custom_id": line["custom_id"], "response": None, "error": error}


def results(path: Path, lines: Iterable[dict[str, Any]]) -> Path:
    """Write results into a file."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path
