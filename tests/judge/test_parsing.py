"""The parser against the table of answers that ships with it, and against anything at all."""

import json
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

import judge
from judge.answers import REASONS
from judge.parsing import parse_answer
from study import Scale

TABLE = Path(judge.__file__).parent / "answer_forms.jsonl"
FORMS = [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines()]
SCALE = Scale()


@pytest.mark.parametrize("form", FORMS, ids=lambda form: ascii(form["answer"])[:40])
def test_each_form_has_the_outcome_that_the_table_says(form: dict[str, Any]) -> None:
    low, high = form.get("scale", [0, 100])
    scale = Scale(min=low, max=high)
    parsed = parse_answer(form["answer"], scale, form.get("finish_reason"))
    expected = (form.get("value"), form.get("reason"), form.get("rule"))
    assert (parsed.value, parsed.reason, parsed.rule) == expected


def test_the_table_covers_every_rule_and_reason_of_the_parser() -> None:
    rules = {form["rule"] for form in FORMS if "rule" in form}
    assert rules == {"bare", "decorated", "labelled", "json", "first_line"}
    reasons = {form["reason"] for form in FORMS if "reason" in form}
    assert reasons == {
        "no_score",
        "several_scores",
        "out_of_range",
        "refusal",
        "empty_answer",
        "truncated",
    }
    assert reasons <= set(REASONS)


def test_no_answer_is_an_empty_one() -> None:
    assert parse_answer(None, SCALE).reason == "empty_answer"


WRAPPINGS = sorted(
    {
        form["answer"]
        for form in FORMS
        if form.get("value") == 85 and "scale" not in form and "finish_reason" not in form
        if form["answer"].count("85") == 1
    }
)


@given(
    st.sampled_from(WRAPPINGS),
    st.integers(0, 100) | st.integers(0, 1000).map(lambda n: n / 10),
)
@example("85", 0)
@example("85", 100)
def test_every_score_is_read_from_every_accepted_form(form: str, score: float) -> None:
    if "." in form:
        form = form.replace("85.0", "85")
    parsed = parse_answer(form.replace("85", f"{score:g}"), SCALE)
    assert parsed.value == score


@given(st.text(max_size=300), st.sampled_from([None, "stop", "length"]))
def test_any_text_gives_a_score_that_stands_in_it_or_a_reason(
    text: str, finish_reason: str | None
) -> None:
    parsed = parse_answer(text, SCALE, finish_reason)
    assert (parsed.value is None) == (parsed.reason is not None)
    assert (parsed.value is None) == (parsed.rule is None)
    if parsed.value is not None:
        assert 0 <= parsed.value <= 100
        assert f"{parsed.value:g}" in text


_PIECES = st.lists(
    st.sampled_from(
        ["85", "9", "0", "-", "/100", " out of ", "Score", ": ", "**", "`", "```", "\n", " ", "{",
         "}", '"', ".", "%", "<think>", "</think>", "(", ")", "is ", "the ", "[", "]", "points"]
    ),
    max_size=25,
).map("".join)  # fmt: skip


@given(_PIECES, st.sampled_from([None, "length"]))
def test_any_mixture_of_what_answers_are_made_of_is_read_or_refused(
    text: str, finish_reason: str | None
) -> None:
    parsed = parse_answer(text, SCALE, finish_reason)
    assert (parsed.value is None) == (parsed.reason is not None)
    if parsed.rule == "bare":
        assert float(text.strip()) == parsed.value


@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000,
        "8" * 1_000_000,
        "85 " * 300_000,
        "*" * 1_000_000,
        "<think>" * 150_000,
        "<think></think>" * 60_000,
        "{" * 1_000_000,
        "[" * 100_000 + "85" + "]" * 100_000,
        "85\n\n" + "the " * 250_000,
        "85\n\n" + "score is " * 100_000,
        "85\n\n" + "1" * 1_000_000,
        "the final my " * 80_000 + "score: 85",
        "```" * 300_000,
        "\n" * 1_000_000 + "85",
        '{"score": ' + "1" * 900_000 + "}",
    ],
    ids=lambda text: ascii(text[:12]),
)
def test_a_long_answer_is_read_in_no_time(text: str) -> None:
    started = perf_counter()
    parse_answer(text, SCALE)
    # A runaway regular expression takes minutes; a slow machine, a second.
    assert perf_counter() - started < 2
