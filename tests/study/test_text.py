"""Texts of messages."""

from pathlib import Path

from study.text import shell_word


def test_a_path_is_quoted_where_a_shell_needs_it() -> None:
    assert shell_word(Path("studies/first")) == "studies/first"
    assert shell_word("my study") == "'my study'"
