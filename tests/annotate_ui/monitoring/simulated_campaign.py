"""A rated campaign, simulated and written straight into the tables.

Careful raters: a response's worth with an effect of its query, two fifths of it at the ceiling,
plus the rater's severity and noise, in steps of 5; active seconds of .5 to 1.6 of the reading time;
a fiftieth is left out; no passage of a twentieth of the responses is opened. Careless raters do
the same but for their one habit.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Literal

import numpy as np
from sqlalchemy import insert

from study import Study
from study.schema import (
    Assignment,
    CheckPair,
    Invitation,
    OpenedPassage,
    Output,
    Passage,
    Query,
    Rater,
    RaterAnswer,
    Response,
    ResponsePassage,
    now,
    random_id,
    table,
)

KEYS = ("QR", "CC", "ID", "AC", "IR")
Habit = Literal["careful", "tired", "clicks", "hurries", "guesses", "skips", "one_value", "unread"]
WORDS = 60


def simulate(
    study: Study,
    habits: Mapping[str, Habit],
    *,
    queries: int = 60,
    systems: int = 4,
    per_item: int = 3,
    keys: tuple[str, ...] = KEYS,
    checks: int = 0,
    share: float = 1.0,
    seed: int = 1,
) -> None:
    """Fill an empty study; `share` of each rater's work is done. Raters are names with habits."""
    draw = np.random.default_rng(seed)
    # Drawn apart, so that the values are the same with and without it.
    opening = np.random.default_rng([seed, 1])
    text = " ".join(["word"] * WORDS)
    with study.write() as connection:

        def add(noun: Any, rows: list[dict[str, Any]]) -> None:
            if rows:
                connection.execute(insert(table(noun)), rows)

        n, total = queries * systems, queries * systems + checks
        add(Query, [_query(q, text) for q in range(queries)])
        add(Response, [_response(r, r // systems, text, "answer") for r in range(n)])
        add(Response, [_response(n + c, c, f"{text} {c}", "check") for c in range(checks)])
        # One passage for all would be opened once for all.
        add(Passage, [_passage(r, text) for r in range(total)])
        add(ResponsePassage, [_place(r) for r in range(total)])
        add(Output, [_output(r, systems) for r in range(n)])
        add(Rater, [_rater(i, code) for i, code in enumerate(habits)])
        add(Invitation, [_link(i) for i in range(len(habits))])
        pairs = [(c * systems, n + c) for c in range(checks)]
        add(CheckPair, [_pair(original, damaged, keys) for original, damaged in pairs])
        truth = _truth(draw, queries, systems, len(keys))
        truth = np.vstack([truth, truth[[original for original, _ in pairs]] - 45])
        queries_of = _drawn(draw, queries, len(habits), per_item)
        assigned: list[dict[str, Any]] = []
        ratings: list[dict[str, Any]] = []
        opened: list[dict[str, Any]] = []
        for place, habit in enumerate(habits.values()):
            mine = [int(q) for q in draw.permutation(queries_of[place])]
            work = [(q, q * systems + int(s)) for q in mine for s in draw.permutation(systems)]
            # Checks are met with their originals, the copy some queries later.
            for original, damaged in pairs:
                if all(original != r for _, r in work):
                    work.append((original // systems, original))
                work.append((damaged, damaged))
            done = int(len(work) * share)
            severity = draw.normal(0, 5)
            for position, (_, r) in enumerate(work):
                assignment = len(assigned) + 1
                purpose = "check" if r >= n else "main"
                assigned.append(assignment_row(assignment, place, r, keys, purpose, position))
                if position < done:
                    if habit != "unread" and opening.uniform() > 0.05:
                        opened.append(_opened(assignment))
                    values = _values(draw, habit, truth[r], severity, position / len(work))
                    ratings += rating_rows(draw, habit, assignment, keys, values)
        assert total == len(truth)
        add(Assignment, assigned)
        add(OpenedPassage, opened)
        add(RaterAnswer, ratings)


def _drawn(draw: np.random.Generator, queries: int, raters: int, per_item: int) -> list[list[int]]:
    """Return the queries of each rater: a query goes to those who have the fewest so far."""
    drawn: list[list[int]] = [[] for _ in range(raters)]
    for query in range(queries):
        order = sorted(draw.permutation(raters), key=lambda rater: len(drawn[rater]))
        for rater in order[:per_item]:
            drawn[rater].append(query)
    return drawn


def _truth(draw: np.random.Generator, queries: int, systems: int, keys: int) -> Any:
    query = draw.normal(0, 18, (queries, 1, 1))
    response = draw.normal(0, 18, (queries, systems, 1))
    construct = draw.normal(0, 12, (queries, systems, keys))
    return (92 + query + response + construct).reshape(queries * systems, keys)


def _values(
    draw: np.random.Generator, habit: Habit, truth: Any, severity: float, far: float
) -> list[float | None]:
    values = truth + severity + draw.normal(0, 9, truth.size)
    if habit == "guesses":
        values = draw.uniform(0, 100, truth.size)
    if (habit == "tired" and far > 0.6) or habit == "one_value":
        values = np.full(truth.size, 70.0)
    if habit == "clicks":
        values = draw.choice([75.0, 80.0], truth.size, p=[0.97, 0.03])
    stepped = np.clip(5 * np.round(values / 5), 0, 100)
    missing = draw.uniform(size=truth.size) < (0.5 if habit == "skips" else 0.02)
    return [None if gone else float(value) for gone, value in zip(missing, stepped, strict=True)]


def rating_rows(
    draw: np.random.Generator,
    habit: Habit,
    assignment: int,
    keys: tuple[str, ...],
    values: list[float | None],
) -> list[dict[str, Any]]:
    # Question and reference count once a query, so this is more than the reading time.
    reading = 60 * 3 * WORDS / 238
    pace = draw.uniform(0.05, 0.15) if habit == "hurries" else draw.uniform(0.5, 1.6)
    return [
        {
            "assignment_id": assignment,
            "construct_key": key,
            "construct_version": 1,
            "revision": 1,
            "value": value,
            "status": "rated" if value is not None else "cannot_judge",
            "active_seconds": pace * reading / len(keys),
            "revealed": ["question", "response", "context", "reference"],
            "after_reveal": False,
            "seen_more": False,
            "late": False,
            "flags": [],
            "channel": "own",
            "config_hash": "x",
            "created_at": now(),
        }
        for key, value in zip(keys, values, strict=True)
    ]


def _query(number: int, text: str) -> dict[str, Any]:
    return {
        "id": number + 1,
        "key": f"q{number}",
        "text": text,
        "references": [text],
        "attributes": {},
    }


def _response(number: int, query: int, text: str, role: str) -> dict[str, Any]:
    return {
        "id": number + 1,
        "query_id": query + 1,
        "key": f"r{number}",
        "version": 1,
        "text": text,
        "role": role,
        "content_hash": number.to_bytes(16, "big"),
        "context_hash": None,
    }


def _passage(number: int, text: str) -> dict[str, Any]:
    return {"id": number + 1, "text": text, "content_hash": number.to_bytes(16, "big")}


def _place(response: int) -> dict[str, Any]:
    return {"response_id": response + 1, "position": 0, "passage_id": response + 1}


def _opened(assignment: int) -> dict[str, Any]:
    return {"assignment_id": assignment, "position": 0, "created_at": now()}


def _output(response: int, systems: int) -> dict[str, Any]:
    return {
        "query_id": response // systems + 1,
        "response_id": response + 1,
        "system": f"S{response % systems}",
        "revision": 1,
    }


def _rater(number: int, code: str) -> dict[str, Any]:
    return {"id": number + 1, "code": code, "attributes": {}, "public_id": random_id()}


def _link(number: int) -> dict[str, Any]:
    return {
        "rater_id": number + 1,
        "token_hash": number.to_bytes(32, "big"),
        "created_at": now() - timedelta(days=1),
    }


def _pair(original: int, damaged: int, keys: tuple[str, ...]) -> dict[str, Any]:
    return {
        "original_id": original + 1,
        "damaged_id": damaged + 1,
        "construct_keys": list(keys),
        "damage": "cut",
        "created_at": now(),
    }


def assignment_row(
    number: int, rater: int, response: int, keys: tuple[str, ...], purpose: str, position: int
) -> dict[str, Any]:
    return {
        "id": number,
        "public_id": random_id(),
        "rater_id": rater + 1,
        "response_id": response + 1,
        "construct_keys": list(keys),
        "purpose": purpose,
        "position": position,
        "round": 0,
        "repeat": 0,
        "layout": "single",
        "channel": "own",
        "inclusion_prob": 1.0,
        "config_hash": "x",
        "created_at": now(),
    }
