"""What a run of the judge on the stub stores and says, and the hashes of the prompts."""

import sqlite3
from pathlib import Path
from typing import Any

from tests.golden import normal
from tests.golden.database import dump
from tests.golden.product import ccrs, stub
from tests.golden.studies import responses

RULES: tuple[dict[str, Any], ...] = ()
_NOISE = (
    (r'("config_hash": ")[0-9a-f]{64}', r"\1CONFIG"),
    (r" \([\d.,]+ a second\)", ""),
    (r"[\d,]+ tokens a second", "RATE tokens a second"),
    (r'("tokens_a_second": )[\d.]+', r"\1RATE"),
    (r"time: [\d.]+ to", "time: FROM to"),
    (r"\b\d\d:\d\d\b", "CLOCK"),
    (r",\d+\.\d{6,},TIME", ",MILLISECONDS,TIME"),
    (r'("?(milli)?seconds"?: )[\d.]+', r"\1SECONDS"),
    (r"\b\d+(\.\d+)? (s|seconds?|ms|minutes?)\b", "SECONDS"),
    (r"pid \d+", "pid PID"),
)


def record(work: Path, out: Path) -> None:
    """Record two runs, a probe, what the commands say of them, and all that is stored."""
    out.mkdir(parents=True, exist_ok=True)
    (work / "responses.jsonl").write_text(responses(3, 3), encoding="utf-8")
    made = ccrs("init", "judged", cwd=work) + ccrs("import", "judged", "responses.jsonl", cwd=work)
    (out / "made.txt").write_text(normal.text(made, work, *_NOISE), encoding="utf-8")
    with stub(*RULES) as endpoint:
        at = ("--base-url", endpoint.base_url, "--model", "stub-judge", "--concurrency", "1")
        runs: dict[str, tuple[str, ...]] = {
            "dry-run": ("run", "judged", *at, "--dry-run"),
            "estimate": ("run", "judged", *at, "--estimate", "4"),
            "first": ("run", "judged", *at, "--limit", "20"),
            "resumed": ("run", "judged", *at, "--text-metrics", "EM,F1", "--drift", "3"),
            "nothing-left": ("run", "judged", *at),
            "second": (
                "run", "judged", *at, "--name", "second", "--prompts", "ccrs-context-first-v1",
                "--repeats", "2", "--temperature", "0.5", "--seed", "3", "--json",
                "--shuffle-passages", "4", "--constructs", "QR,AC",
            ),
            "probe": ("probe", "judged", *at, "--sample", "4"),
        }  # fmt: skip
        for name, words in runs.items():
            if name == "second":
                endpoint.behave("answers", text="It is hard to say.", when={"share": 0.3})
            _say(work, out, name, "judge", *words)
    for name, words in {
        "list": ("judge", "list", "judged"),
        "show": ("judge", "show", "judged", "second"),
        "show-response": ("judge", "show", "judged", "stub-judge", "--response", "q0-s0"),
        "show-json": ("judge", "show", "judged", "stub-judge", "--json"),
        "suspects": ("judge", "show", "judged", "stub-judge", "--suspects"),
        "compare": ("judge", "compare", "judged", "stub-judge", "second"),
        "reparse": ("judge", "reparse", "judged", "second", "--dry-run"),
        "prompts": ("judge", "prompts", "judged"),
        "prompts-json": ("judge", "prompts", "judged", "--json"),
        "export": ("judge", "export", "judged", "second", "--out", "second.csv"),
        "status": ("status", "judged"),
        "status-json": ("status", "judged", "--json"),
    }.items():
        _say(work, out, name, *words)
    shown = normal.text(normal.taken(work / "second.csv"), work, *_NOISE)
    (out / "second.csv").write_text(shown, encoding="utf-8")
    with sqlite3.connect(work / "judged" / "study.db") as connection:
        rows = normal.text(dump(connection), work, *_NOISE)
    connection.close()
    (out / "rows.txt").write_text(rows, encoding="utf-8")


def _say(work: Path, out: Path, name: str, *words: str) -> None:
    said = normal.text(ccrs(*words, cwd=work), work, *_NOISE)
    (out / f"{name}.txt").write_text(said, encoding="utf-8")
