"""The distribution of a score from the token probabilities that come with an answer."""

import math
from typing import Any

import pytest
from hypothesis import given, strategies as st

from judge.protocol.logprob_distribution import ScoreTokens
from study.base.scales import Scale

POINTS = ScoreTokens(Scale(min=0, max=100))


def token(text: str, *others: tuple[str, float], share: float = 0.5) -> dict[str, Any]:
    """Return a token of an answer with its alternatives, given as probabilities."""
    offered = [(text, share), *others]
    entries = [{"token": name, "logprob": math.log(p)} for name, p in offered]
    return {**entries[0], "top_logprobs": entries}


def read(*tokens: Any, scores: ScoreTokens = POINTS) -> dict[str, float] | None:
    return scores.distribution({"content": list(tokens)})


def test_spellings_of_a_score_are_summed_and_others_left_out() -> None:
    others = (("80", 0.2), (" 85", 0.1), ("\u258180", 0.05), ("Score", 0.1), ("085", 0.02))
    distribution = read(token("85", *others, ("101", 0.01), ("8", 0.02)))
    assert distribution is not None
    assert distribution == pytest.approx({"8": 0.02, "80": 0.25, "85": 0.6})
    # The rest, 13% here, is on tokens that are not scores.
    assert sum(distribution.values()) == pytest.approx(0.87)


def test_white_space_before_the_answer_is_passed_over() -> None:
    distribution = read(token("\n"), token("7", ("9", 0.5)), token("."))
    assert distribution == pytest.approx({"7": 0.5, "9": 0.5})


def test_single_digits_of_an_unprobed_tokenizer_are_not_scores() -> None:
    unprobed = ScoreTokens(Scale(min=0, max=100), unprobed=True)
    # A tokenizer that writes digits: 8 also represents 80 to 89.
    digits = token("0", ("8", 0.3), ("9", 0.2))
    assert read(digits) == pytest.approx({"0": 0.5, "8": 0.3, "9": 0.2})
    assert read(digits, scores=unprobed) is None
    assert read(token("0", ("80", 0.3), ("9", 0.2)), scores=unprobed) is not None
    assert read(token("3", ("2", 0.5)), scores=ScoreTokens(Scale(min=1, max=5), unprobed=True))


@pytest.mark.parametrize(
    ("following", "there"),
    [(".", True), ("%", True), ("/", True), (" points", True), ("5", False), ("5.", False)],
    ids=["stop", "percent", "slash", "word", "digit", "digit-and-stop"],
)
def test_a_number_that_goes_on_is_of_a_tokenizer_that_writes_digits(
    following: str, there: bool
) -> None:
    assert (read(token("8"), token(following)) is not None) == there


@pytest.mark.parametrize(
    "tokens",
    [
        (token("Score"), token(":"), token("85")),
        (token("**"), token("85")),
        (token("101"),),
        (token("-"), token("5")),
        (),
    ],
    ids=["label", "mark", "beyond-the-scale", "sign", "nothing"],
)
def test_an_answer_that_begins_with_no_score_has_no_distribution(tokens: Any) -> None:
    assert read(*tokens) is None


def test_invalid_probabilities_are_refused() -> None:
    assert read(token("85", ("80", 0.6))) is None
    assert read({"token": "85", "logprob": 0.0, "top_logprobs": []}) is None
    assert read({"token": "85", "top_logprobs": [{"token": "85", "logprob": "0"}]}) is None
    assert read({"token": "85", "top_logprobs": [{"token": "85", "logprob": 3.0}]}) is None


def test_tokens_can_be_identified_by_number() -> None:
    scores = ScoreTokens(Scale(min=0, max=100), {"token_id:11": 1, "token_id:12": 2})
    blank = {**token("token_id:9"), "bytes": list(b" ")}
    answer = token("token_id:12", ("token_id:11", 0.25), ("token_id:3", 0.1))
    assert read(blank, answer, scores=scores) == pytest.approx({"1": 0.25, "2": 0.5})
    assert read(answer, token("token_id:11"), scores=scores) is None
    assert read({**token("token_id:9"), "bytes": list(b"A")}, answer, scores=scores) is None


def test_a_repeated_token_counts_once_and_one_below_a_millionth_not_at_all() -> None:
    twice = token("85", ("85", 0.5), ("1", 5e-7))
    assert read(twice) == pytest.approx({"85": 0.5})


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["content", "token", "logprob", "top_logprobs", "bytes"]), inner
            )
        ),
    )
)
def test_whatever_a_server_sends_is_a_distribution_or_none(entries: Any) -> None:
    distribution = POINTS.distribution(entries)
    assert distribution is None or 0 < sum(distribution.values()) <= 1.001
