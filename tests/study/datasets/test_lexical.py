import pytest
from hypothesis import given, strategies as st

from study.datasets.lexical import exact_match, normalized, token_f1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The  Beatles.", "beatles"),
        ("P-A-D", "pad"),
        ("an apple a day", "apple day"),
        ("Theatre", "theatre"),
        ("a-ha", "aha"),
        ("it's", "its"),
        ("Dáin’s", "dáin’s"),
        ("the", ""),
    ],
)
def test_normalization_is_that_of_squad(text: str, expected: str) -> None:
    assert normalized(text) == expected


def test_exact_match_takes_any_reference() -> None:
    assert exact_match("The December 1972.", ["14 December 1972", "december 1972"]) == 1.0
    assert exact_match("1972", ["14 December 1972", "december 1972"]) == 0.0
    assert exact_match("1972", []) == 0.0


def test_token_f1_is_the_largest_over_references() -> None:
    # Two of three tokens, and two of two, are common: 2 * 2 / (3 + 2).
    assert token_f1("united states america", ["france", "the United States"]) == 4 / 5
    # A token counts as often as both have it: 2 * 1 / (2 + 1).
    assert token_f1("one one", ["one"]) == 2 / 3
    assert token_f1("", ["one"]) == token_f1("one", []) == token_f1("the", ["the"]) == 0.0


@given(st.text(), st.lists(st.text(), max_size=4))
def test_a_match_is_a_full_f1_and_order_of_references_is_nothing(
    text: str, references: list[str]
) -> None:
    f1 = token_f1(text, references)
    assert 0 <= f1 <= 1
    assert f1 == token_f1(text, references[::-1])
    if exact_match(text, references) and normalized(text):
        assert f1 == 1.0


@given(st.text(alphabet="aAtTheE .,-'\n"))
def test_normalization_is_done_once_for_all(text: str) -> None:
    once = normalized(text)
    assert not set(once) & set(".,-'\nATE")
    assert "  " not in once
