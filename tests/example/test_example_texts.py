"""The texts of the example study: complete, joined by their ids, and as its README describes."""

import csv
import json
import tomllib
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "data" / "example"
SYSTEMS = {"harbor", "meadow", "quarry", "thicket"}
COLUMNS = [
    "response_id",
    "query_id",
    "query",
    "system",
    "response",
    "passages",
    "references",
    "attributes",
]


@pytest.fixture(scope="module")
def answers() -> list[dict[str, Any]]:
    lines = (EXAMPLE / "responses.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_every_system_answers_every_query_once(answers: list[dict[str, Any]]) -> None:
    assert all(list(answer) == COLUMNS for answer in answers)
    systems = defaultdict(list)
    for answer in answers:
        systems[answer["query_id"]].append(answer["system"])
    assert len(systems) == 30
    assert all(Counter(names) == Counter(SYSTEMS) for names in systems.values())


def test_a_query_has_one_text_and_one_set_of_references(answers: list[dict[str, Any]]) -> None:
    seen: dict[str, tuple[Any, ...]] = {}
    for answer in answers:
        texts = (answer["query"], answer["references"], answer["attributes"])
        assert seen.setdefault(answer["query_id"], texts) == texts
    domains = Counter(attributes["domain"] for _, _, attributes in seen.values())
    assert domains == {"library": 15, "allotments": 15}
    assert all(1 <= len(references) <= 2 for _, references, _ in seen.values())
    assert all(set(attributes) == {"domain", "question_type"} for *_, attributes in seen.values())


def test_passages_are_many_distinct_and_of_readable_length(answers: list[dict[str, Any]]) -> None:
    for answer in answers:
        passages = answer["passages"]
        assert 4 <= len(passages) <= 5
        assert len(set(passages)) == len(passages)
        assert all(40 <= len(passage.split()) <= 110 for passage in passages)


def test_two_retrievers_with_overlapping_passages(answers: list[dict[str, Any]]) -> None:
    lists = {(answer["query_id"], answer["system"]): answer["passages"] for answer in answers}
    for query in {answer["query_id"] for answer in answers}:
        first, second = lists[query, "harbor"], lists[query, "meadow"]
        assert lists[query, "quarry"] == first
        assert lists[query, "thicket"] == second
        assert first != second
        assert set(first) & set(second)


def test_one_id_for_one_content(answers: list[dict[str, Any]]) -> None:
    contents = defaultdict(set)
    for answer in answers:
        content = (answer["query_id"], answer["response"], tuple(answer["passages"]))
        contents[content].add(answer["response_id"])
    assert all(len(ids) == 1 for ids in contents.values())
    times = Counter(answer["response_id"] for answer in answers)
    assert len(contents) == len(times) == 116
    assert sum(n == 2 for n in times.values()) == 4
    assert max(times.values()) == 2


def test_one_response_is_empty_and_the_rest_are_clean(answers: list[dict[str, Any]]) -> None:
    assert [answer["response_id"] for answer in answers if not answer["response"]] == ["lib-14-c"]
    texts = [
        text
        for answer in answers
        for text in (answer["query"], answer["response"], *answer["passages"])
    ]
    assert all(text == text.strip() and "  " not in text for text in texts)


def test_ids_do_not_name_the_system(answers: list[dict[str, Any]]) -> None:
    letters = defaultdict(set)
    for answer in answers:
        query, _, letter = answer["response_id"].rpartition("-")
        assert query == answer["query_id"]
        letters[answer["system"]].add(letter)
    assert all(len(used) > 2 for used in letters.values())


def test_quality_covers_each_response_on_the_scale(answers: list[dict[str, Any]]) -> None:
    with (EXAMPLE / "quality.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["response_id", "CC", "QR", "ID", "AC", "IR"]
    ids = [row.pop("response_id") for row in rows]
    assert len(ids) == len(set(ids))
    assert set(ids) == {answer["response_id"] for answer in answers}
    assert all(0 <= int(value) <= 100 for row in rows for value in row.values())


def test_the_study_states_that_it_is_simulated() -> None:
    study = tomllib.loads((EXAMPLE / "study.toml").read_text(encoding="utf-8"))
    assert study == {
        "name": "Example: simulated raters and a simulated judge",
        "seed": 20250620,
    }
    assert "simulated" in (EXAMPLE / "README.md").read_text(encoding="utf-8").splitlines()[0]
