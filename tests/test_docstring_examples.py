"""Every example of a docstring runs, and every public function has one."""

import doctest
import importlib
import inspect
import json
from pathlib import Path
from types import ModuleType

import pytest

import analysis
import ccrs_study

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("analysis", "judge", "study", "annotate_ui")
#: Results, and errors: they are made by functions that have examples.
RESULTS = {"Analysis", "AnalysisError", "Estimate", "TableError"}


def _module(path: Path) -> str:
    below = path.relative_to(ROOT).with_suffix("")
    if "python_api" in below.parts:
        below = below.relative_to("analysis/python_api")
    return ".".join(below.parts).removesuffix(".__init__")


MODULES = [
    _module(path)
    for package in PACKAGES
    for path in sorted((ROOT / package).rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files that examples name: a table of scores, two responses, and the scores of both."""
    monkeypatch.chdir(tmp_path)
    lines = ["response_id,query_id,construct,scorer,scorer_kind,value"]
    for n in range(40):
        value = (37 * n) % 90
        people = {"anna": value, "ben": value + n % 3}
        lines.append(f"r{n},q{n // 2},QR,llm,judge,{value + 8}")
        lines += [f"r{n},q{n // 2},QR,{name},human,{v}" for name, v in people.items()]
    Path("scores.csv").write_text("\n".join(lines) + "\n")
    rows = [
        {"response_id": f"r{n}", "query_id": "q0", "query": "When?", "system": name,
         "response": f"In {n} days.", "passages": ["It takes days."], "references": ["Days."]}
        for n, name in enumerate(("a", "b"))
    ]  # fmt: skip
    Path("responses.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    Path("wide.csv").write_text("response_id,scorer,QR\nr0,anna,80\nr1,anna,20\n")
    return tmp_path


@pytest.mark.usefixtures("folder", "without_drawing")
@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(name: str) -> None:
    module = importlib.import_module(name)
    failed = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed.failed == 0


@pytest.mark.parametrize("module", [analysis, ccrs_study], ids=lambda m: m.__name__)
def test_every_public_function_has_an_example(module: ModuleType) -> None:
    without = [
        name
        for name in module.__all__
        if name not in RESULTS and ">>> " not in (inspect.getdoc(getattr(module, name)) or "")
    ]
    assert without == []
