"""What README.md and the manual quote is what the program prints, on tables that are made."""

from pathlib import Path

import pytest
from PIL import Image

from study._manual import make_tables, take_pictures
from tests.documented_outputs import MANUAL, PAGES, ROOT, output, shown

QUOTES = [
    pytest.param(folder, command, text, id=f"{page.name}: {command}")
    for page, folder in PAGES.items()
    for command, text in shown(page)
]
README = (ROOT / "README.md").read_text(encoding="utf-8")
AGAIN = "write the pages anew: python -m tests.documented_outputs"


@pytest.mark.usefixtures("without_drawing")
@pytest.mark.parametrize(("folder", "command", "text"), QUOTES)
def test_a_quoted_output_is_what_the_command_prints(folder: Path, command: str, text: str) -> None:
    assert text == output(command, folder), AGAIN


def test_readme_has_the_first_lines_on_a_table_and_the_manual_on_seven() -> None:
    counts = {page.name: len(shown(page)) for page in PAGES}
    assert counts["README.md"] == 1
    assert counts["csv.md"] >= 7
    assert counts["reading_report.md"] == 1


def test_the_tables_are_those_that_the_script_makes() -> None:
    made = make_tables.tables()
    assert {path.name for path in make_tables.FOLDER.glob("*.csv")} == set(made)
    for name, content in made.items():
        assert (make_tables.FOLDER / name).read_text(encoding="utf-8") == content, name


def test_every_table_is_on_a_page() -> None:
    commands = " ".join(command for page in PAGES for command, _ in shown(page))
    assert [name for name in make_tables.tables() if name not in commands] == []


def test_the_picture_in_the_readme_is_of_the_table_that_it_quotes() -> None:
    path = take_pictures.OF_TABLE
    ((command, _),) = shown(ROOT / "README.md")
    assert f"]({path.relative_to(MANUAL.resolve().parents[1]).as_posix()})" in README
    assert take_pictures.TABLE.relative_to(ROOT).as_posix() in command
    assert take_pictures.TABLE.exists()
    assert path.stat().st_size < 150_000
    with Image.open(path) as picture:
        assert picture.size == take_pictures.TABLE_WINDOW


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 150
