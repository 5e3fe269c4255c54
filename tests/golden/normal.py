"""Replace what must vary between two runs: times, paths, ports, random ids."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.golden.product import ROOT, SHARED_DATA

_TIMES = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?( ?(Z|UTC|\+00:00))?"), "TIME"),
    (re.compile(r"\b20[23]\d-\d\d-\d\d\b"), "DATE"),
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:PORT"),
    (re.compile(r"localhost:\d+"), "localhost:PORT"),
)
_ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")


def text(raw: str, work: Path, *more: tuple[str, str]) -> str:
    """Return a text without times, paths, ports and the patterns named by `more`."""
    for path, name in ((work, "WORK"), (SHARED_DATA, "DATA"), (ROOT, "ROOT")):
        raw = raw.replace(str(path.resolve()), name).replace(str(path), name)
    for pattern, name in _TIMES:
        raw = pattern.sub(name, raw)
    for words, name in more:
        raw = re.sub(words, name, raw)
    names: dict[str, str] = {}
    return _ID.sub(lambda m: names.setdefault(m[0], f"ID-{len(names) + 1}"), raw)


def pretty(document: Any) -> str:
    """Return a document as JSON with a line for each value."""
    return json.dumps(document, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def without(document: Any, keys: Sequence[str]) -> Any:
    """Return a document with the values of some keys replaced by their names."""
    if isinstance(document, dict):
        return {
            k: (k.upper() if k in keys and v is not None else without(v, keys))
            for k, v in document.items()
        }
    if isinstance(document, list):
        return [without(each, keys) for each in document]
    return document


def taken(path: Path) -> str:
    """Return what a file holds, or that there is none."""
    return path.read_text(encoding="utf-8") if path.exists() else "(there is no such file)\n"
