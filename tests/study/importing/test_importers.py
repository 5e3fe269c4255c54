"""Importers are plug-ins: others can add some, and a broken one harms nobody."""

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from study import Study, import_file
from study.errors import InputError
from study.importing import importers as module
from tests.study.importing.conftest import Write, response

BUILT_IN = {
    "responses",
    "scores",
    "scores-wide",
    "preferences",
    "ragas",
    "ragchecker",
    "ccrs-results",
    "promptfoo",
    "deepeval",
    "inspect-log",
    "langfuse-traces",
    "langfuse-scores",
    "phoenix-spans",
    "phoenix-annotations",
}

FOREIGN = """
from study.importing.rows import LocatedRow, ResponseRow
WANTS = "lines of question | answer"

def matches(head):
    return head.columns == ("question | answer",)

def rows(source, options):
    for number, line in enumerate(source.path.read_text().splitlines()[1:], start=2):
        query, _, text = line.partition(" | ")
        yield LocatedRow(number, ResponseRow(query=query, response=text, system=options.system))
"""


def test_the_formats_of_the_house_are_installed() -> None:
    installed, broken = module.importers()
    assert {importer.name for importer in installed} >= BUILT_IN
    assert broken == []


REFUSING = """
from study.errors import Fault

def matches(head):
    return False

def reject_reason(head):
    if "anger" in head.columns:
        raise OSError("no disk")
    return Fault("tells too little.", "Ask for more.") if "fury" in head.columns else None

rows = None
"""


@pytest.fixture
def foreign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "foreign_format.py").write_text(FOREIGN)
    (tmp_path / "failing_format.py").write_text(
        "def matches(head):\n    raise OSError('no disk')\nrows = None\n"
    )
    (tmp_path / "refusing_format.py").write_text(REFUSING)
    monkeypatch.syspath_prepend(tmp_path)
    points = [
        *module.entry_points(group=module.GROUP),
        EntryPoint("lines", "foreign_format", module.GROUP),
        EntryPoint("shiny", "no_such_package.importer", module.GROUP),
        EntryPoint("failing", "failing_format", module.GROUP),
        EntryPoint("empty", "email", module.GROUP),
        EntryPoint("refusing", "refusing_format", module.GROUP),
    ]
    monkeypatch.setattr(module, "entry_points", lambda group: points)  # noqa: ARG005


@pytest.mark.usefixtures("foreign")
def test_a_plug_in_is_used_and_broken_ones_are_a_line_each(study: Study, write: Write) -> None:
    summary = import_file(study, write("x.txt", "question | answer\nQ? | A\n"), system="S")
    assert summary.importer == "lines"
    assert summary.added["outputs"] == 1
    assert len(summary.warnings) >= 3
    for name in ("shiny", "failing", "empty"):
        assert any(f"importer '{name}'" in line for line in summary.warnings)


@pytest.mark.usefixtures("foreign")
def test_the_house_still_works_beside_broken_plug_ins(study: Study, write: Write) -> None:
    assert import_file(study, write("r.jsonl", [response(1, "A")])).added["responses"] == 1


@pytest.mark.usefixtures("foreign")
def test_a_plug_in_may_refuse_a_file_before_others_take_it(study: Study, write: Write) -> None:
    path = write("r.jsonl", [response(1, "A", fury=1)])
    with pytest.raises(InputError, match=r"tells too little\. Ask for more\."):
        import_file(study, path)
    with pytest.raises(InputError, match="tells too little"):
        import_file(study, path, importer="refusing")
    assert import_file(study, path, importer="responses").added["responses"] == 1
    done = import_file(study, write("s.jsonl", [response(2, "A", anger=1)]))
    assert "importer 'refusing' failed on this file: no disk" in done.warnings
