"""The parser of answers: the shipped table, every number in every wrapping, and hostile texts."""

import json
import re
import time
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any
from unicodedata import decimal

import pytest
from hypothesis import example, given, settings, strategies as st

from judge.parsing.parse_answer import LONGEST, MOST_REPETITIONS, Form, Parsed, parse_answer
from judge.protocol.exchange import REASONS
from study.base.scales import Scale
from tests.conftest import examples

POINTS = Scale()


def rows_of(name: str) -> list[dict[str, Any]]:
    lines = Path(__file__).with_name(f"{name}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


FORMS = rows_of("answer_forms")
BY_FAMILY = rows_of("answers_by_model_family")
FURTHER = rows_of("further_answers")
CURRENT = rows_of("answers_of_current_models")
WITH_FIELDS = rows_of("answers_with_fields_and_labels")
UNSEEN = rows_of("answers_written_unseen")
IN_LANGUAGES = rows_of("answers_in_many_languages")
RULES = {"bare", "decorated", "labelled", "json", "first_line", "last_line"}
STRICT = re.compile(r"\s*(?:Score: )?[0-9]+(?:\.[0-9]+)?\s*", re.ASCII)
"""What the usual tools read: a bare number or "Score: N"."""


def scale_of(form: dict[str, Any]) -> Scale:
    low, high = form.get("scale", (0, 100))
    return Scale(min=low, max=high)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: repr(form["answer"])[:60])
def test_each_form_has_its_outcome(form: dict[str, Any]) -> None:
    requested = form.get("form", "score")
    parsed = parse_answer(form["answer"], scale_of(form), form.get("finish_reason"), form=requested)
    assert parsed == (form["value"], form["reason"], form["rule"])


def outcome(row: dict[str, Any]) -> Parsed:
    form = row.get("form", "score")
    return parse_answer(row["answer"], scale_of(row), row.get("finish_reason"), form=form)


def test_answers_in_the_styles_of_ten_model_families_have_no_wrong_value() -> None:
    assert len(BY_FAMILY) == 300
    for row in BY_FAMILY:
        parsed = outcome(row)
        assert parsed.value in (None, row["value"]), row
        if row["value"] is None and row["reason"] in {"other_scale", "refusal"}:
            assert parsed.reason == row["reason"], row


@pytest.mark.parametrize("family", sorted({row["family"] for row in BY_FAMILY}))
def test_of_each_family_nearly_all_is_read_that_a_careful_reader_reads(family: str) -> None:
    valued = [row for row in BY_FAMILY if row["family"] == family and row["value"] is not None]
    read = [row for row in valued if outcome(row).value == row["value"]]
    assert len(read) / len(valued) >= 0.95


def test_answers_in_many_languages_are_read_and_denials_are_not() -> None:
    assert len({row["language"] for row in IN_LANGUAGES}) > 25
    assert [row for row in IN_LANGUAGES if outcome(row).value != row["value"]] == []


def test_each_word_of_the_tables_stands_in_an_answer() -> None:
    # A word that no answer has is read by nobody: it would be a guess.
    rows = (*FORMS, *BY_FAMILY, *FURTHER, *CURRENT, *WITH_FIELDS, *UNSEEN, *IN_LANGUAGES)
    answers = "\n".join(row["answer"] or "" for row in rows)
    answers = re.sub("['’]", " ", answers)
    tables = tomllib.loads((files("judge.parsing") / "words.toml").read_text("utf-8"))
    for name, words in {**tables["labels"], **tables["sentences"]}.items():
        for word in words.split():
            spaced = "unspaced" in name
            whole = word if spaced else rf"(?<![^\W\d_])(?:{word})(?![^\W\d_])"
            assert re.search(whole.replace("'", " "), answers, re.IGNORECASE), (name, word)


def test_further_answers_are_read_as_a_reader_reads_them_or_not_at_all() -> None:
    # `accepted` has null where a reader may call the answer unclear.
    for row in FURTHER:
        assert outcome(row).value in row["accepted"], row


def test_reasons_fields_tables_and_labels_are_read_without_a_wrong_value() -> None:
    # Written before the parser was tried on them; null where a reader may call the answer unclear.
    for row in WITH_FIELDS:
        reading = parse_answer(
            row["answer"],
            scale_of(row),
            row.get("finish_reason"),
            form=row.get("form", "score"),
            labels=row.get("labels"),
        )
        assert reading.value in row["accepted"], row


def test_answers_of_current_models_are_read_without_a_wrong_value_and_nearly_all() -> None:
    # Written before the parser was tried on them; null where a reader may call the answer unclear.
    clear = [row for row in CURRENT if None not in row["accepted"]]
    missed = [row["answer"] for row in clear if outcome(row).value is None]
    assert [row for row in CURRENT if outcome(row).value not in (None, *row["accepted"])] == []
    assert len(missed) / len(clear) <= 0.05, missed


@pytest.mark.parametrize(
    ("which", "number", "most_missed"),
    [
        ("first", 300, 0.01),
        ("second", 200, 0.05),
        ("third", 63, 0.11),
        ("fourth", 129, 0.0),
        ("fifth", 129, 0.02),
        ("sixth", 200, 0.01),
        ("seventh", 200, 0.04),
        ("eighth", 200, 0.02),
        ("ninth", 200, 0.02),
        ("tenth", 200, 0.02),
        ("eleventh", 200, 0.01),
        ("twelfth", 200, 0.03),
        ("thirteenth", 200, 0.0),
        ("fourteenth", 200, 0.0),
        ("fifteenth", 200, 0.05),
        ("sixteenth", 200, 0.08),
    ],
)
def test_answers_written_without_a_look_at_the_parser_have_no_wrong_value(
    which: str, number: int, most_missed: float
) -> None:
    # The manual's page on answers says how many were read when the parser first met them.
    rows = [row for row in UNSEEN if row["set"] == which]
    assert len(rows) == number
    assert [row for row in rows if outcome(row).value not in (None, row["value"])] == []
    valued = [row for row in rows if row["value"] is not None]
    missed = [row["answer"] for row in valued if outcome(row).value is None]
    assert len(missed) / len(valued) <= most_missed, missed


@pytest.mark.parametrize("label", ["## Score", "**Final score**", "Score:"])
@pytest.mark.parametrize("number", ["65", "**65**", "65/100"])
def test_a_number_below_its_label_is_labelled_wherever_it_stands(label: str, number: str) -> None:
    scored = f"{label}\n\n{number}\n\n"
    for answer in (
        f"{scored}## Reasons\n\n1. 20 of 30 names are missing.",
        f"### Analysis\n\nIt is from 1914.\n\n{scored}### Remarks\n\nNone.",
    ):
        assert parse_answer(answer, Scale()).value == 65, answer
        assert parse_answer(f"{answer}\n\nScore: 40", Scale()).reason == "several_scores"
    quoted = f"The response says:\n\n{scored}It is wrong."
    assert parse_answer(quoted, Scale()).value is None
    assert parse_answer("Evaluation:\n\n1.\nThe year is right.", Scale()).value is None


def test_refusals_quotations_conditions_and_corrections_give_no_value() -> None:
    traps = [row["answer"] for row in UNSEEN if row["set"] == "traps"]
    assert len(traps) > 100
    assert [text for text in traps if parse_answer(text, POINTS).value is not None] == []


@pytest.mark.parametrize(
    ("answer", "form", "value"),
    [
        ("I would rate this 85 if it were complete.", "score", None),
        ("I would rate this 70 to 80.", "score", None),
        ("I would give this a 70, maybe 75.", "score", None),
        ("I would rate this 80, but the missing date lowers it to 60.", "score", None),
        ("The response is not complete, so the score is 100 minus 30.", "score", None),
        ("Score: 100 - 30 = 70", "score", 70),
        ("Score: 100 - 30 = 80", "score", None),
        ("70 - wait, 60 is fairer.", "score", None),
        ("1 - The response is wrong\n2 - It is too long", "score", None),
        ("85 - 10 points for style", "score", None),
        ("2 (two) facts are missing.", "score", None),
        ("A score of 85 would be too high.", "score", None),
        ("The answer scores 3 points for accuracy and 2 for style.", "score", None),
        ('0\n\nThe response says "I cannot answer", so it answers nothing.', "score", 0),
        ("On a scale from 0 to 100, I would rate this 90.", "score", 90),
        ("The context rates it on a scale of 1 to 10.\nScore: 70", "rationale", 70),
        ("40 points are lost for the date.\nScore: 60", "rationale", 60),
        ("Score: 60\nbut the date is wrong.\nScore: 80", "rationale", None),
        ("Question Relevance: 40\nScore: 90", "rationale", None),
        ('{"score": 75, "reason": "I give it a score of 80."}', "score", None),
        ('{"score": 75, "reason": "3 of 4"}\n\nActually, 80.', "score", None),
        ('It is right.\nScore: 60\n```json\n{"score": 78}\n```', "rationale", None),
        ('{"a": {"score": 75}}', "score", None),
        ('{"a": {"score": 75}, "b": {"score": 60}}', "score", None),
        ("评分：60\n评分：85", "rationale", None),
        ("Bewertung: 60\nPunktzahl: 85", "rationale", None),
        ("Note: 3 facts are missing.", "score", None),
        ("73,\n90", "score", None),
        ("73, 90", "score", None),
        ("85 ⭐⭐⭐", "score", None),
        ("💯", "score", None),
        ("<a><score>75</score><score>80</score></a>", "score", None),
        ("[Score: 75] [Score: 80]", "score", None),
    ],
)
def test_a_score_is_not_read_from_what_only_looks_like_one(
    answer: str, form: Form, value: float | None
) -> None:
    assert parse_answer(answer, POINTS, form=form).value == value


@pytest.mark.parametrize(
    "answer",
    [
        "9, on a scale of 1 to 10",
        "4 of 5 stars",
        '{"score": 9, "out_of": 10}',
        '{"score": 9, "reason": "9 out of 10"}',
        "Score: 9\n(The scale goes from 1 to 10.)",
        "On a scale of 1 to 10, I would rate this 9.",
        "Rating: 4 (1-5 scale)",
        "得分：9/10",
        "Bewertung: 9 von 10",
        "Note : 9/10",
        "Punktzahl: 9\n\n9 von 10",
    ],
)
def test_a_score_on_another_scale_is_missing_and_says_so(answer: str) -> None:
    assert parse_answer(answer, POINTS) == (None, "other_scale", None)


def test_the_names_of_a_studys_constructs_are_labels() -> None:
    answer = "Politeness: 4\nThe response thanks the user."
    scale = Scale(min=1, max=5)
    assert parse_answer(answer, scale).value is None
    assert parse_answer(answer, scale, names=("politeness",)).value == 4
    contested = "Tone of voice: 2\nScore: 4"
    assert parse_answer(contested, scale, form="rationale", names=("Tone of voice",)).value is None


def test_the_table_speaks_of_known_outcomes_once_each() -> None:
    fields = ("answer", "finish_reason", "scale", "form")
    keys = [tuple(repr(form.get(name)) for name in fields) for form in FORMS]
    assert len(set(keys)) == len(keys) >= 120
    for form in FORMS:
        assert (form["value"] is None) == (form["rule"] is None) == (form["reason"] is not None)
        assert form["rule"] in RULES | {None}
        assert form["reason"] in REASONS.keys() | {None}
    assert {form["rule"] for form in FORMS} == RULES | {None}


def test_most_valid_forms_are_beyond_a_strict_parser() -> None:
    # The reason to read more than "85" and "Score: 85".
    valid = [form["answer"] for form in FORMS if form["value"] is not None]
    assert len([answer for answer in valid if STRICT.fullmatch(answer)]) < len(valid) / 5


INTEGERS = [str(number) for number in range(101)]
TENTHS = [f"{tenth // 10}.{tenth % 10}" for tenth in (0, *range(10, 1001))]
WRAPPINGS = [
    ("{}", "bare"),
    *((form, "decorated") for form in [
        "{}.", "**{}**", "`{}`", '"{}"', "“{}”", "{}%", "{} %", "{} percent", "{}/100", "{} / 100.",
        "{} out of 100", "{} of 100", "{} points", "\ufeff{}", "```\n{}\n```", "## {}", "${}$",
        "\\boxed{{{}}}", "<think>50 or 60</think>\n{}",
    ]),
    *((form, "labelled") for form in [
        "Score: {}", "**Score:** {}/100", "The score is {}.", "Rating = {}", "Final score: {}%",
        "Contextual Coherence Score: {}", "Score (0-100): {}", "Answer: {}", "Score:\n{}",
        "<score>{}</score>",
    ]),
    *((form, "json") for form in [
        '{{"score": {}}}', '{{"Score": "{}"}}', "{{'score': {}}}", '```json\n{{"score": {}}}\n```',
        '{{"score": {}, "reason": "It follows."}}',
    ]),
    *((form, "first_line") for form in [
        "{}\n\nIt follows from the context.", "Score: {}\n\nIt names 3 of the 4 facts in 2019.",
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("wrapping", "rule"), WRAPPINGS)
def test_every_number_in_every_wrapping_gives_its_value(wrapping: str, rule: str) -> None:
    for number in INTEGERS + TENTHS:
        parsed = parse_answer(wrapping.format(number), POINTS, "stop")
        assert parsed == (float(number), None, rule), number


@pytest.mark.parametrize(("wrapping", "rule"), WRAPPINGS)
@pytest.mark.parametrize("number", ["085", "00", "85,55", "1e2", "-0", ".5", "8 5", "80-90"])
def test_an_invalid_number_gives_no_value_in_any_wrapping(
    wrapping: str, rule: str, number: str
) -> None:
    assert parse_answer(wrapping.format(number), POINTS, "stop").value is None


@given(number=st.sampled_from(INTEGERS + TENTHS), form=st.sampled_from(WRAPPINGS), data=st.data())
def test_an_answer_cut_anywhere_gives_no_wrong_value(
    number: str, form: tuple[str, str], data: st.DataObject
) -> None:
    answer = form[0].format(number)
    beginning = answer[: data.draw(st.integers(0, len(answer)))]
    assert parse_answer(beginning, POINTS, "length").value in (None, float(number))


FRAGMENTS = st.sampled_from(
    [
        *(
            "85",
            "90",
            "0",
            "8",
            "5",
            "100",
            "10",
            "4",
            ".",
            ",",
            "-",
            "−",
            "+",
            "/",
            "%",
            "\\",
            " ",
        ),
        *("\n", "\n\n", "**", "*", "_", "`", "```", "```json\n", '"', "'", "$", "#", "# ", "- "),
        *("(", ")", "[", "]", "{", "}", "\\boxed{", ":", "=", "<think>", "</think>", "<score>"),
        *("</score>", "Score", "Score: ", '"score": ', "is", "The score is ", "Rating", "Answer"),
        *(
            "out of ",
            "of ",
            "points",
            "percent",
            " or ",
            " to ",
            "and",
            "I cannot",
            "８５",
            "\u200b",
        ),
        *("e2", "x", "The response", "because 3 of 4", "(0-100)", "\u00a0", "\r\n", "\u2028"),
    ]
)
TEXTS = st.one_of(st.text(), st.lists(FRAGMENTS, max_size=8).map("".join))
SCALES = [POINTS, Scale(min=1, max=5), Scale(min=0, max=1), Scale(min=-5, max=5)]


@settings(max_examples=examples(1500))
@given(text=TEXTS, scale=st.sampled_from(SCALES), finish=st.sampled_from([None, "stop", "length"]))
@example("ſcore: 85", POINTS, None)
@example("0 (0-100)", POINTS, None)
@example('{"score": "\\u0038\\u0035"}', POINTS, None)
def test_any_text_gives_a_value_of_the_scale_that_it_contains_or_a_reason(
    text: str, scale: Scale, finish: str | None
) -> None:
    parsed = parse_answer(text, scale, finish)
    assert (parsed.value is None) == (parsed.rule is None) == (parsed.reason is not None)
    if parsed.value is None:
        assert parsed.reason in REASONS
        return
    assert scale.problem(parsed.value) is None
    numbers = numbers_in(text)
    assert parsed.value in numbers
    if parsed.rule in {"bare", "decorated", "labelled"} and "think>" not in text:
        # "85 (0-100)" has a range, whose dash is no sign.
        known = {abs(number) for number in (parsed.value, scale.min, scale.max)}
        assert {abs(number) for number in numbers} <= known, "the answer contains another number"


def numbers_in(text: str) -> set[float]:
    """Return each number of a text with both its signs: what carries a sign is not asked here."""
    text = "".join(str(decimal(sign, sign)) for sign in text)
    numbers = {float(number) for number in re.findall(r"[0-9]+(?:\.[0-9]+)?", text)}
    return numbers | {-number for number in numbers} if re.search("[-−]", text) else numbers


BIG = 1_000_000
REPEATED = [
    *(
        "8",
        "85 ",
        " ",
        "\n",
        "\n \n",
        "*",
        "**85**",
        "`",
        "```\n",
        '"',
        "$",
        "(",
        "[",
        "{",
        '{"a":',
    ),
    *("</think>", "<think>", "<think></think>", "</s> ", "Score: ", "the ", "\\boxed{", "a\n\n"),
    *("é ", "\u2028", "\u00a0", "85\n\n", "1. a\n", "I cannot ", "final overall "),
]
BEGUN = [
    *(
        ("85\n\n", more)
        for more in ["It says 2019. ", "85 ", "score ", "[1, ", "scale of 1", "</s> "]
    ),
    *(("```", " "), ("```\n", " "), ("85", " "), ("85 out", " "), ("85.", "0"), ("Score", " ")),
    *(("<a>", "<b> "), ("<a>", "> "), ("85", "❤"), ("\n", "\n{")),
    *(("Score (", " "), ("{'score': 85", " "), ('{"score": "', "a"), ("<think>", "\n")),
]
HOSTILE = [piece * (BIG // len(piece)) for piece in REPEATED] + [
    start + more * (length // len(more)) for start, more in BEGUN for length in (BIG, LONGEST - 20)
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:12]))
def test_no_long_text_takes_long(text: str) -> None:
    assert min(processor_seconds(text) for _ in range(3)) < 0.2


def processor_seconds(text: str) -> float:
    begun = time.process_time()
    parse_answer(text, POINTS, "stop")
    return time.process_time() - begun


def test_a_text_too_long_to_be_an_answer_holds_no_score_but_thinking_may_be_long() -> None:
    assert parse_answer("85\n\n" + "It is good. " * 5000, POINTS).reason == "no_score"
    assert parse_answer("<think>" + "No. " * 100_000 + "</think>85", POINTS).value == 85


@pytest.mark.parametrize("form", ["score", "rationale"])
def test_a_score_may_be_repeated_up_to_a_limit(form: Form) -> None:
    repeated = "85\n\n" + "Score: 85\n" * MOST_REPETITIONS
    assert parse_answer(repeated, POINTS, "stop", form=form).value == 85
    beyond = repeated + "Score: 85\n"
    assert len(beyond) < LONGEST
    assert parse_answer(beyond, POINTS, "stop", form=form) == (None, "several_scores", None)
