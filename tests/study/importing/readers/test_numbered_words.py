"""Words that bring their number along."""

import pytest

from study.importing.readers.known_words import numbers_in
from study.importing.readers.value_words import vocabulary_of


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        (("1 - poor", "3 - ok", "5 - excellent"), (1, 3, 5)),
        (("1: poor", "2: fair"), (1, 2)),
        (("1) poor", "2) fair"), (1, 2)),
        (("(1) poor", "(2) fair"), (1, 2)),
        (("4 (good)", "5 (very good)"), (4, 5)),
        (("4 – good", "5 – Very Good"), (4, 5)),
        (("good (4)", "very good (5)"), (4, 5)),
        (("Poor - 1", "Good - 2"), (1, 2)),
        (("-1 - worse", "0 - same", "1 - better"), (-1, 0, 1)),
        (("5 - Excellent", "5 - excellent", "4 - good"), (5, 5, 4)),
        (("1 star", "5 stars", "3-star"), (1, 5, 3)),
        (("★", "★★★", "★★★★★"), (1, 3, 5)),
        (("⭐⭐", "⭐️⭐️⭐️"), (2, 3)),
        (("★★★★☆", "☆☆☆☆☆"), (4, 0)),
    ],
)
def test_the_number_is_read(words: tuple[str, ...], numbers: tuple[float, ...]) -> None:
    found = numbers_in(words)
    assert found is not None
    assert tuple(found[word] for word in words) == numbers
    vocabulary = vocabulary_of(words)
    assert vocabulary is not None
    assert tuple(vocabulary.value(word) for word in words) == numbers
    assert vocabulary.range is None  # the scale may have more points


@pytest.mark.parametrize(
    "words",
    [
        ("1 - poor", "1 - good"),
        ("1 - poor", "2 - poor"),
        ("3-point", "4-point"),
        ("1 - poor", "good"),
        ("10:30", "11:30"),
        ("A", "B", "C"),
        (),
        tuple(f"{n}) remark {chr(97 + n)}" for n in range(12)),
    ],
)
def test_words_without_a_number_have_none(words: tuple[str, ...]) -> None:
    assert numbers_in(words) is None
