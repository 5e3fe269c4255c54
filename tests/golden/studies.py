"""Studies that the harness makes through the command line."""

import csv
import json
import re
from pathlib import Path

from tests.golden import normal
from tests.golden.product import ccrs

PASSWORD = "three plain random words"

PAGES = """\
name = "Pages"
seed = 5
[design]
training = 2
training_attempts = 2
calibration = 1
comparisons = 1
comparison_constructs = ["QR"]
[rating]
consent = "consent.md"
instructions = "instructions.md"
completion_code = "DONE-1"
"""
WIDE = """\
name = "Wide"
seed = 5
[[constructs]]
key = "Q"
name = "Quality"
question = "How good is it?"
sees = ["question", "response"]
scale = { min = 1, max = 5, step = 1, level = "ordinal" }
anchors = { "1" = "bad", "2" = "poor", "3" = "fair", "4" = "good", "5" = "excellent" }
flags = ["too long", "too thin"]
[[constructs]]
key = "S"
name = "Support"
question = "Is it supported?"
rules = ["Only the passages count."]
scale = { min = 0, max = 10, step = 0.5 }
[design]
layout = "side_by_side"
[rating]
interface_language = "de"
"""


def responses(queries: int = 3, systems: int = 2) -> str:
    """Return responses as JSON lines; the first two systems have the same passages."""
    rows = [
        {
            "query_id": f"q{q}",
            "response_id": f"q{q}-s{s}",
            "query": f"Question {q}?",
            "system": f"system-{s}",
            "response": f"Response {q} of {'both' if q == 1 and s > 0 else s}. *Bold* <b>&</b>",
            "passages": [f"Passage {p} for {q}, {s // 2}. Sentence." for p in range(2)],
            "references": [f"Reference {q}.", f"Another reference {q}."],
        }
        for q in range(queries)
        for s in range(systems)
    ]
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def training() -> str:
    """Return training and check responses with expected values."""
    rows = [
        {
            "query_id": f"t{n}",
            "response_id": f"t{n}",
            "query": f"Practice {n}?",
            "response": f"Practice answer {n}.",
            "passages": [f"Practice passage {n}."],
            "references": ["Known."],
            "purpose": "training" if n < 4 else "check",
            "expected": {
                "QR": {"low": 60, "high": 100, "why": f"Because {n}."},
                "AC": [0, 100],
            },
        }
        for n in range(6)
    ]
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def make_pages_study(work: Path, name: str, out: Path) -> dict[str, str]:
    """Make a campaign; return the links of its raters and of its enrolment, `panel`."""
    out.mkdir(parents=True, exist_ok=True)
    settings = work / f"{name}.toml"
    settings.write_text(PAGES if name == "pages" else WIDE, encoding="utf-8")
    (work / f"{name}.jsonl").write_text(responses(), encoding="utf-8")
    (work / "training.jsonl").write_text(training(), encoding="utf-8")
    (work / "consent.md").write_text("# Consent\n\nYou *agree* to [this](https://example.org).\n")
    (work / "instructions.md").write_text("Read slowly.\n\n- one\n- two\n")
    said = []

    def do(*words: str, feed: str = "") -> None:
        said.append(ccrs(*words, cwd=work, feed=feed))

    do("init", name, "--settings", settings.name)
    for text in ("consent.md", "instructions.md"):
        (work / name / text).write_text((work / text).read_text())
    do("import", name, f"{name}.jsonl")
    if name == "pages":
        do("import", name, "training.jsonl")
        (work / "judge.csv").write_text(_judge_scores(), encoding="utf-8")
        do("import", name, "judge.csv")
    do("status", name)
    do("assign", name, "--raters", "anna,ben,cara", "--per-item", "2", "--dry-run")
    do("assign", name, "--raters", "anna,ben,cara", "--per-item", "2", "--yes")
    if name == "pages":
        do("assign", name, "--open", "--per-item", "3", "--yes")
        do("enrol", name, "panel", "--quota", "3", "--json")
    do("invite", name, "--out", f"{name}-links.csv")
    do("owner-password", name, "--stdin", feed=f"{PASSWORD}\n")
    (out / f"{name}-made.txt").write_text(
        normal.text("\n".join(said), work, (r"/enrol/[\w-]+", "/enrol/TOKEN")), encoding="utf-8"
    )
    with (work / f"{name}-links.csv").open(encoding="utf-8") as file:
        links = {row[0]: row[-1] for row in csv.reader(file)}
    for text in said:
        if match := re.search(r'https?://[^"\s]*/enrol/[\w-]+', text):
            links["panel"] = match[0]
    return links


def _judge_scores() -> str:
    lines = ["query_id,system,construct,scorer,scorer_kind,value"]
    for q in range(3):
        for s in range(2):
            for n, key in enumerate(("QR", "CC", "ID", "AC", "IR")):
                value = "" if (q, s, n) == (1, 1, 3) else (37 * q + 11 * s + 23 * n) % 101
                lines.append(f"q{q},system-{s},{key},judge-x,judge,{value}")
    return "\n".join(lines) + "\n"
