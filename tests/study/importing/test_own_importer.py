"""A format that another package adds: one module and one entry point, as CONTRIBUTING.md says."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from study import InputError, Study, import_file
from study.importing.importers import importers

MODULE = '''
"""Answers of a help desk: ticket, question and reply in each row."""

from study.importing.importers import FormatOptions
from study.importing.formats.responses import response_row
from study.importing.readers.column_layout import Fields, has
from study.importing.readers.records import Reader
from study.importing.readers.source import Head, RecordSource
from study.importing.rows import Rows

DESCRIPTION = "ticket, question and reply in each row"
FIELDS: Fields = {"query_id": ("ticket",), "query": ("question",), "response": ("reply",)}


def matches(head: Head) -> bool:
    """Whether rows are answers of the help desk."""
    return has(FIELDS, head.columns, "query_id", "query", "response")


def rows(source: RecordSource, options: FormatOptions) -> Rows:
    """Read the answers; the system is the one that --system names."""
    reader = Reader(source, FIELDS)
    reader.require("query_id", "query", "response")
    return reader.rows(lambda cells: response_row(cells, options))
'''
TABLE = "ticket,question,reply\n17,Is it open?,Until six.\n18,Is it far?,\n"


@pytest.fixture(autouse=True)
def _help_desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    folder = tmp_path / "site"
    (folder / "help_desk-1.0.dist-info").mkdir(parents=True)
    (folder / "help_desk.py").write_text(MODULE, encoding="utf-8")
    (folder / "help_desk-1.0.dist-info" / "METADATA").write_text("Name: help-desk\nVersion: 1.0\n")
    (folder / "help_desk-1.0.dist-info" / "entry_points.txt").write_text(
        "[ccrs.importers]\nhelp-desk = help_desk\n"
    )
    monkeypatch.syspath_prepend(folder)
    yield
    sys.modules.pop("help_desk", None)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tickets.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def test_the_format_is_recognized_from_the_content(study: Study, file: Path) -> None:
    summary = import_file(study, file, system="desk")
    assert summary.importer == "help-desk"
    assert summary.added == {"queries": 2, "responses": 2, "outputs": 2}
    assert summary.rules["empty responses (the system gave no answer)"] == 1


def test_the_format_is_listed_with_its_description() -> None:
    installed, _ = importers()
    descriptions = {importer.name: importer.description for importer in installed}
    assert descriptions["help-desk"] == "ticket, question and reply in each row"


def test_a_faulty_row_is_reported_with_its_place_and_the_file_is_refused(
    study: Study, file: Path
) -> None:
    file.write_text(TABLE + "19,,Yes.\n", encoding="utf-8")
    with pytest.raises(InputError, match="row 4: the query's text is blank"):
        import_file(study, file)


def test_a_file_without_one_of_its_columns_names_what_is_missing(study: Study, file: Path) -> None:
    file.write_text("ticket,question,rply\n17,Is it open?,Until six.\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"the column 'reply' is missing.*Did you mean 'rply'"):
        import_file(study, file, importer="help-desk")
