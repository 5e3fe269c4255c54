import pytest
from hypothesis import given, strategies as st

from judge.responding.chunks import text_chunks, tokens_of

COUNT = tokens_of("words").count
TEXT = st.text(alphabet="ab .!?\n", max_size=120)


@given(TEXT, st.integers(1, 12), st.integers(0, 8))
def test_chunks_cover_the_text_within_their_limits(text: str, size: int, overlap: int) -> None:
    ranges = text_chunks(text, COUNT, size, overlap)
    if not text.strip():
        assert ranges == []
        return
    whole, end = "", 0
    for start, stop in ranges:
        # Joined without the overlaps they give the text back.
        whole += text[end:stop]
        assert COUNT(text[start:end]) <= overlap
        # A chunk beyond the limit is one sentence alone: nothing of the chunk before is in it.
        assert COUNT(text[start:stop]) <= size or start == end
        assert stop > end
        end = stop
    assert whole == text


def test_a_sentence_beyond_the_limit_is_a_chunk_of_its_own() -> None:
    text = "One two. Three four five six seven eight. Nine."
    ranges = text_chunks(text, COUNT, 4, 3)
    assert [text[start:stop].strip() for start, stop in ranges] == [
        "One two.",
        "Three four five six seven eight.",
        "Nine.",
    ]


def test_an_overlap_gives_way_to_the_next_sentence() -> None:
    text = "One. Two. Three four five."
    ranges = text_chunks(text, COUNT, 4, 4)
    assert [text[start:stop].strip() for start, stop in ranges] == [
        "One. Two.",
        "Three four five.",
    ]


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("It's 3.5 °C.", 9), ("東京", 2)])
def test_words_and_other_signs_are_tokens(text: str, tokens: int) -> None:
    assert COUNT(text) == tokens
