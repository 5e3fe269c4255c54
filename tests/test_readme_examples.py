"""Every example in Python of a README runs, in a folder that has the files it names."""

import json
import re
from contextlib import nullcontext
from pathlib import Path

import pytest

from study import Study, import_file
from study._manual.made_pages import WRITTEN
from tests.judge.stub.process import running_stub

ROOT = Path(__file__).resolve().parent.parent
# What a user writes has its own tests: metrics, and a test with the fixture `ccrs_check`.
ELSEWHERE = (
    *("class Faithfulness", "class Friendly", "class Promises", "def test_judge"),
    *('CONTROL = Control("stars"', 'assert "stars" in controls()'),
)
ENDPOINT = "http://localhost:8000/v1"
PAGES = [
    *(ROOT / "README.md", *WRITTEN),
    *(page for package in ("study", "judge", "annotate_ui", "analysis")
      for page in sorted((ROOT / package).rglob("README.md"))),
]  # fmt: skip
EXAMPLES = [
    pytest.param(block, id=f"{page.resolve().relative_to(ROOT).as_posix()}-{number}")
    for page in PAGES
    for number, block in enumerate(
        re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    )
    if not any(words in block for words in ELSEWHERE)
]
QUERIES = 210


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    responses = (
        {
            "query_id": f"q{n}",
            "query": f"Question {n}?",
            "system": "bm25",
            "response": f"Answer {n}.",
            "passages": ["A passage."],
            "references": ["An answer."],
            "attributes": {"domain": "ab"[n % 2]},
        }
        for n in range(QUERIES)
    )
    Path("responses.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in responses))
    values = [(n, (37 * n) % 90, (37 * n + 11 * (n % 3)) % 90) for n in range(40)]
    Path("results.csv").write_text(
        "question,llm,anna,ben\n"
        + "".join(f"q{n // 2},{judge + 8},{human},{human + 2}\n" for n, judge, human in values)
    )
    Path("scores.csv").write_text(
        "response_id,query_id,construct,scorer,scorer_kind,value\n"
        + "".join(
            f"r{n},q{n // 2},QR,llm,judge,{judge}\nr{n},q{n // 2},QR,anna,human,{human}\n"
            for n, judge, human in values
        )
    )
    return tmp_path


@pytest.mark.usefixtures("without_drawing")
@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_runs(example: str, folder: Path) -> None:
    if "Study.open" in example:
        import_file(Study.create(folder / "my-study"), folder / "responses.jsonl")
    with running_stub() if ENDPOINT in example else nullcontext() as stub:
        if stub is not None:
            example = example.replace(ENDPOINT, stub.base_url)
        exec(compile(example, "example", "exec"), {"__name__": "example"})
