"""The page on coverage is that of the tables, and the report is silent on no cell below .935."""

from tests.coverage.shortfalls import PAGE, TABLES, page_with, simulated, tables


def test_the_page_is_that_of_the_tables() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert page_with(text, tables()) == text, "run python -m tests.coverage.shortfalls"


def test_every_table_is_read() -> None:
    rows = list(simulated())
    assert list(dict.fromkeys(row.table for row in rows)) == list(TABLES)
    assert all(0 < row.coverage <= 1 for row in rows)


def test_the_report_states_what_falls_short() -> None:
    silent = [row for row in simulated() if row.beyond_error and row.report is None]
    assert not silent
