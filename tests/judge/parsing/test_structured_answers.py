"""Answers to steps as models write them: each is read whole, or has a fault of `FAULTS`."""

import time
from collections.abc import Sequence
from typing import Any

import pytest

from judge.metrics.metric import MissingValue, NoValueError
from judge.metrics.registry import PROMPTED_SUITES, load_metric
from judge.metrics.step_readers import labels_in, list_in, numbers_in, texts_in, word_in
from judge.parsing.structured_answers import FAULTS
from judge.protocol.exchange import Answer
from tests.judge.metrics.test_llm_suites import result

A, B = "A is b.", "C is d."
LISTS: list[tuple[str, list[str] | str]] = [
    (f'["{A}", "{B}"]', [A, B]),
    (f'```json\n["{A}", "{B}"]\n```', [A, B]),
    (f'\n\n```JSON\n[\n  "{A}",\n  "{B}"\n]\n```  \n', [A, B]),
    (f'```\n["{A}"]\n```', [A]),
    (f'{{"claims": ["{A}", "{B}"]}}', [A, B]),
    (f'<think>It says [1] and {{2}}.</think>\n["{A}"]', [A]),
    (f'\ufeff["{A}"]', [A]),
    (f'["{A}"]<|im_end|>', [A]),
    (f"- {A}\n- {B}</s>\n", [A, B]),
    ("[]", []),
    ("```json\n[]\n```", []),
    (f"1. {A}\n2. {B}", [A, B]),
    (f"1) {A}\n\n2) {B}", [A, B]),
    (f"(1) {A}\n(2) {B}", [A, B]),
    (f"1. {A}\n1. {B}", [A, B]),
    (f"* {A}\n* {B}", [A, B]),
    (f"• {A}\n  • {B}", [A, B]),
    ("- **A** is b.\n- 3. March is a day.", ["**A** is b.", "3. March is a day."]),
    ("1. 1990 was warm.\n2. 1991 was not.", ["1990 was warm.", "1991 was not."]),
    ("- -5 degrees were measured.", ["-5 degrees were measured."]),
    (
        '["The set [1, 2] has {two}.", "{text} is \\"a word\\"."]',
        ["The set [1, 2] has {two}.", '{text} is "a word".'],
    ),
    ('["A\\nis\\tb."]', ["A is b."]),
    ('["北京是首都。", "باريس عاصمة."]', ["北京是首都。", "باريس عاصمة."]),
    ("1、北京是首都。\n2、人口两千万。", ["北京是首都。", "人口两千万。"]),
    ("（１）北京是首都。\n（２）人口两千万。", ["北京是首都。", "人口两千万。"]),
    # A claim that is made twice counts twice, as in the authors' package.
    (f'["{A}", "{A}"]', [A, A]),
    ("", "empty"),
    (" \n", "empty"),
    ("<think>Nothing is claimed.</think>\n", "empty"),
    ("<think>The text says", "unreadable"),
    ("I'm sorry, but I can't help with that.", "unreadable"),
    ("There are no claims.", "unreadable"),
    ("None", "unreadable"),
    ("null", "unreadable"),
    (f'"{A}"', "unreadable"),
    (f'Here they are:\n["{A}"]', "unreadable"),
    (f'["{A}"]\n\nI hope that helps!', "unreadable"),
    (f"Here are the claims:\n- {A}\n- {B}", "unreadable"),
    (f"# Claims\n- {A}", "unreadable"),
    (f"- {A}\n  and more.", "unreadable"),
    (f"1. {A}\n- {B}", "unreadable"),
    (f'["{A}"]\n["{B}"]', "unreadable"),
    (f'["{A}", "C i', "unreadable"),
    (f'["{A}", ]', "unreadable"),
    (f"['{A}']", "unreadable"),
    ('["He said "yes"."]', "unreadable"),
    (f'{{"claims": ["{A}"], "number": 1}}', "unreadable"),
    (f'{{"claims": ["{A}"], "claims": ["{B}"]}}', "unreadable"),
    (f'{{"1": "{A}"}}', "unreadable"),
    ("[" * 100_000, "unreadable"),
    (f"[{'9' * 5000}]", "unreadable"),
    (f'["{A}", 3]', "not_text"),
    (f'["{A}", null]', "not_text"),
    (f'["{A}", " "]', "not_text"),
    (f'[["{A}"]]', "not_text"),
    (f'[{{"claim": "{A}"}}]', "not_text"),
    ('["Half of a character: \\ud83d."]', "not_text"),
    (f"1. {A}\n3. {B}", "misnumbered"),
    (f"2. {A}\n3. {B}", "misnumbered"),
    (f"1. {A}\n2. {B}\n1. {B}", "misnumbered"),
    (f"2. {B}\n1. {A}", "misnumbered"),
]
NAMES = ("entailed", "neutral", "contradicted")
REST = '"2": "neutral", "3": "contradicted"}'
LABELS: list[tuple[str, Sequence[str] | str]] = [
    (f'{{"1": "entailed", {REST}', NAMES),
    (f'```json\n{{"1": "entailed", {REST}\n```', NAMES),
    (f'<think>{{"1": "neutral"}}</think>{{"1": "entailed", {REST}', NAMES),
    (f'{{"1": "entailed", {REST}<|eot_id|>', NAMES),
    ('{"3": "contradicted", "1": "entailed", "2": "neutral"}', NAMES),
    (f'{{"1 ": " Entailed. ", {REST}', NAMES),
    ("1: entailed\n2: NEUTRAL\n3: contradicted", NAMES),
    ("1、entailed\n2、neutral\n3、contradicted", NAMES),
    ("1. entailed\n２. neutral\n（３）contradicted", NAMES),
    ('{"１": "entailed", "２": "neutral", "３": "contradicted"}', NAMES),
    ('{"١": "entailed", "٢": "neutral", "٣": "contradicted"}', NAMES),
    ('{"1": "entailed", "１": "neutral", "2": "neutral", "3": "neutral"}', "repeated"),
    ("", "empty"),
    ("I cannot assess these claims.", "unreadable"),
    ("[]", "unreadable"),
    ("3", "unreadable"),
    ('["entailed", "neutral", "contradicted"]', "unreadable"),
    ('[{"1": "entailed"}, {"2": "neutral"}, {"3": "neutral"}]', "unreadable"),
    (f'{{"1": "entailed", {REST[:-1]}', "unreadable"),
    (f'{{"1": "entailed", {REST[:-1]},}}', "unreadable"),
    (f'{{"1": "entailed", {REST}\n{{"1": "neutral", {REST}', "unreadable"),
    (f'Here: {{"1": "entailed", {REST}', "unreadable"),
    (f'{{"1": "entailed", {REST}\nClaim 1 is stated.', "unreadable"),
    ("{'1': 'entailed', '2': 'neutral', '3': 'neutral'}", "unreadable"),
    ('{1: "entailed", 2: "neutral", 3: "neutral"}', "unreadable"),
    ("{}", "too_few"),
    ('{"1": "entailed", "2": "neutral"}', "too_few"),
    ("1: entailed\n3: neutral", "too_few"),
    (f'{{"4": "neutral", "1": "entailed", {REST}', "too_many"),
    (f'{{"{"9" * 5000}": "neutral", "1": "entailed", {REST}', "too_many"),
    (f'{{"1": "neutral", "1": "entailed", {REST}', "repeated"),
    (f'{{"1": "entailed", "1 ": "entailed", {REST}', "repeated"),
    ('{"0": "entailed", "1": "neutral", "2": "neutral"}', "unknown_number"),
    (f'{{"-1": "neutral", "1": "entailed", {REST}', "unknown_number"),
    (f'{{"01": "entailed", {REST}', "unknown_number"),
    (f'{{"¹": "neutral", "1": "entailed", {REST}', "unknown_number"),
    (f'{{"claim 1": "entailed", {REST}', "unknown_number"),
    (f'{{"labels": {{"1": "entailed", {REST}}}', "unknown_number"),
    (f'{{"1": "entailment", {REST}', "unknown"),
    (f'{{"1": "not entailed", {REST}', "unknown"),
    (f'{{"1": "belegt", {REST}', "unknown"),
    (f'{{"1": ["entailed"], {REST}', "unknown"),
    (f'{{"1": {{"label": "entailed"}}, {REST}', "unknown"),
    (f'{{"1": null, {REST}', "unknown"),
    (f'{{"1": true, {REST}', "unknown"),
]
NUMBERS: list[tuple[str, list[list[int]] | str]] = [
    ('{"1": [], "2": [4, 1]}', [[], [4, 1]]),
    ('```json\n{"2": [4], "1": []}\n```', [[], [4]]),
    ('{"1": [0], "2": []}', "unknown"),
    ('{"1": [5], "2": []}', "unknown"),
    ('{"1": [1.5], "2": []}', "unknown"),
    ('{"1": [1e400], "2": []}', "unknown"),
    ('{"1": ["1"], "2": []}', "unknown"),
    ('{"1": [true], "2": []}', "unknown"),
    ('{"1": [1, 1], "2": []}', "unknown"),
    ('{"1": 1, "2": []}', "unknown"),
    ('{"1": null, "2": "none"}', "unknown"),
    ('{"1": [[1]], "2": []}', "unknown"),
    ("[[], [1]]", "unreadable"),
    (f'{{"1": [{"9" * 5000}], "2": []}}', "unreadable"),
]
TEXTS: list[tuple[str, list[str] | str]] = [
    ('{"2": "in 1889", "1": "{Paris}"}', ["{Paris}", "in 1889"]),
    ('{"1": "Paris", "2": 1889}', "not_text"),
    ('{"1": "Paris", "2": ""}', "not_text"),
    ("1: Paris\n2: 1889", "unreadable"),
]
WORDS: list[tuple[str, str]] = [
    *((text, "is yes") for text in ("yes", "YES.", "**Yes**", "**Yes**.", '"yes".', "`yes`")),
    *((text, "is yes") for text in ("\n\nyes\n", "```\nyes\n```", '{"label": "Yes"}', "yes</s>")),
    *((text, "unreadable") for text in ("yes and no", "Yes or no?", "not yes", "Answer: yes")),
    *((text, "unreadable") for text in ("Yes, in part.", '{"answer": "yes"}', '{"label": "yes"')),
    *((text, "unknown") for text in ("yesterday", "ja", "ｙｅｓ", "true", '{"label": ["yes"]}')),
    ("", "empty"),
]


@pytest.mark.parametrize(
    ("read", "what", "answers"),
    [
        (lambda a: list_in(a, "claims"), "claims", LISTS),
        (lambda a: labels_in(a, 3, NAMES), "labels", LABELS),
        (lambda a: numbers_in(a, 2, 4), "numbers", NUMBERS),
        (lambda a: texts_in(a, 2), "texts", TEXTS),
        (lambda a: f"is {word_in(a, ('yes', 'no'))}", "labels", WORDS),
    ],
    ids=["claims", "labels", "numbers", "texts", "words"],
)
def test_an_answer_is_read_whole_or_has_a_fault(
    read: Any, what: str, answers: list[tuple[str, Any]]
) -> None:
    explained = load_metric("ragchecker-together-faithfulness").reasons
    for text, expected in answers:
        fault = expected if isinstance(expected, str) and expected in FAULTS else None
        if fault is None:
            found = read(Answer(text))
            assert list(found) == list(expected), text[:80]
        else:
            with pytest.raises(NoValueError) as raised:
                read(Answer(text))
            assert raised.value.missing.reason == f"{what}_{fault}", text[:80]
        with pytest.raises(NoValueError) as raised:
            read(Answer(text, finish_reason="length"))
        assert raised.value.missing.reason == f"{what}_truncated", text[:80]
        assert raised.value.missing.reason in explained


def test_every_fault_of_every_reader_is_explained() -> None:
    reasons = {f"{what}_{fault}" for what in ("claims", "statements", "questions", "labels",
                                              "numbers", "texts") for fault in FAULTS}  # fmt: skip
    for key in {key for suite in PROMPTED_SUITES.values() for key in suite}:
        assert reasons <= load_metric(key).reasons.keys()


@pytest.mark.parametrize("before", ["```", "1. ", "<think>", "verdict", "final", '["'])
def test_readers_take_linear_time(before: str) -> None:
    text = f"{before}{chr(10) * 50_000}x"
    began = time.process_time()
    for key in ("ragchecker-precision", "ragas-faithfulness"):
        assert isinstance(result(key, text), MissingValue)
    paper = result("ragas-faithfulness", f"- {A}", text, prompts="ragas-paper-v1")
    assert isinstance(paper, MissingValue)
    # Quadratic time is a minute.
    assert time.process_time() - began < 5
