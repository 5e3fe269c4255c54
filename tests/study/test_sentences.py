"""Sentences are ranges that hold all of a text but white space, in any language."""

import pytest
from hypothesis import given, settings, strategies as st

from study.sentences import marked_sentences, range_problem, sentence_ranges, sentences
from tests.conftest import examples

_PARTS = st.sampled_from(
    [
        "A b",
        "c.",
        "D! ",
        "e? ",
        " ",
        "\n",
        "\r\n",
        "\n\n",
        "一。",
        "ف؟ ",
        "👍🏽",
        "1. ",
        "- ",
        "```\n",
        ")",
        "“",
    ]
)


@settings(max_examples=examples(200))
@given(st.one_of(st.text(), st.lists(_PARTS).map("".join)))
def test_ranges_are_ordered_and_leave_out_white_space_alone(text: str) -> None:
    ranges = sentence_ranges(text)
    assert range_problem(text, ranges) is None
    ends = [0, *(end for _, end in ranges)]
    starts = [*(start for start, _ in ranges), len(text)]
    between = [text[end:start] for end, start in zip(ends, starts, strict=True)]
    assert all(not gap.strip() for gap in between)
    joined = "".join(
        gap + text[start:end] for gap, (start, end) in zip(between, ranges, strict=False)
    )
    assert joined + between[-1] == text
    assert all(part.strip() == part for part in sentences(text))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two? Three! ", ["One.", "Two?", "Three!"]),
        ("Version 3.5 is out.", ["Version 3.5 is out."]),
        ("一つ。「二つ。」三つ！", ["一つ。", "「二つ。」", "三つ！"]),
        ("ما هذا؟ هذا كتاب. نعم", ["ما هذا؟", "هذا كتاب.", "نعم"]),
        ("יש כאן. ועוד!", ["יש כאן.", "ועוד!"]),
        ("यह है। वह था।", ["यह है।", "वह था।"]),
        (
            "Dr. Smith met J. R. Hill, e.g. in Oslo. He left.",
            ["Dr. Smith met J. R. Hill, e.g. in Oslo.", "He left."],
        ),
        ('She said "No." He left.', ['She said "No."', "He left."]),
        ("Am 3. Oktober kam er. Gut.", ["Am 3. Oktober kam er.", "Gut."]),
        ("In 1990. See Fig. 3. The end.", ["In 1990.", "See Fig. 3.", "The end."]),
        (
            "1. First. More\n2. second\n- third\n* Fourth",
            ["1. First.", "More", "2. second", "- third", "* Fourth"],
        ),
        (
            "# Title\ntext that\ngoes on. Yes\n\nnew",
            ["# Title", "text that\ngoes on.", "Yes", "new"],
        ),
        ("```py\nx = 1. Y\n\ny\n```\nAfter.", ["```py\nx = 1. Y\n\ny\n```", "After."]),
        ("Good! 👍\n---\nBad.", ["Good! 👍\n---", "Bad."]),
        ("👍", ["👍"]),
        (" \n", []),
    ],
)
def test_sentences_of_a_text(text: str, parts: list[str]) -> None:
    assert sentences(text) == parts


def test_a_mark_on_a_part_of_a_sentence_marks_it() -> None:
    text = "One. Two. Three."
    ranges = sentence_ranges(text)
    assert marked_sentences(text, ranges, [(6, 7)]) == [False, True, False]
    # White space at the ends of a mark belongs to no sentence.
    assert marked_sentences(text, ranges, [(4, 10)]) == [False, True, False]
    assert marked_sentences(text, ranges, [(0, 11)]) == [True, True, True]
    assert marked_sentences(text, ranges, []) == [False] * 3


@pytest.mark.parametrize(
    ("ranges", "words"),
    [([(0, 5)], "4 characters"), ([(2, 2)], "not a part"), ([(0, 2), (1, 3)], "overlaps")],
)
def test_ranges_that_no_text_has(ranges: list[tuple[int, int]], words: str) -> None:
    assert words in str(range_problem("abcd", ranges))
