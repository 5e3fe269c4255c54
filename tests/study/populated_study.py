"""A small study that holds every kind of score, written straight into the tables."""

from sqlalchemy import insert

from study import Study
from study.schema import (
    Assignment,
    JudgeAnswer,
    JudgeRun,
    Noun,
    Output,
    Query,
    Rater,
    RaterAnswer,
    Response,
    ScorerAnswer,
    table,
)


def fill(study: Study) -> None:
    """Store one query, two responses (one shared by two systems), and scores of each kind."""

    with study.write() as connection:

        def add(noun: type[Noun], *rows: dict[str, object]) -> None:
            connection.execute(insert(table(noun)), list(rows))

        content = {"query_id": 1, "version": 1, "context_hash": None}
        add(
            Query,
            {
                "id": 1,
                "key": "q1",
                "text": "?",
                "references": ["!"],
                "attributes": {"domain": "law"},
            },
        )
        add(
            Response,
            {**content, "id": 1, "key": "r1", "text": "yes", "content_hash": b"1" * 16},
            {**content, "id": 2, "key": "r2", "text": "no", "content_hash": b"2" * 16},
        )
        output = {"query_id": 1, "revision": 1}
        add(
            Output,
            {**output, "system": "A", "response_id": 1},
            {**output, "system": "B", "response_id": 1},
            {**output, "system": "C", "response_id": 2},
        )
        on_ac = {"construct_key": "AC", "construct_version": 1}
        add(Rater, {"id": 1, "code": "anna", "attributes": {}})
        assignment = {
            "rater_id": 1,
            "construct_keys": ["AC", "IR"],
            "position": 0,
            "repeat": 0,
            "channel": "own",
            "inclusion_prob": 0.5,
            "stratum": "s",
            "config_hash": "x",
        }
        add(
            Assignment,
            {**assignment, "id": 1, "response_id": 2, "purpose": "main"},
            {**assignment, "id": 2, "response_id": 1, "purpose": "training"},
        )
        rating = {**on_ac, "assignment_id": 1, "revealed": [], "channel": "own", "config_hash": "x"}
        add(
            RaterAnswer,
            {**rating, "revision": 1, "value": 10.0, "status": "rated"},
            {**rating, "revision": 2, "value": 20.0, "status": "rated"},
            {**rating, "construct_key": "IR", "revision": 1, "value": None, "status": "skipped"},
            {**rating, "assignment_id": 2, "revision": 1, "value": 99.0, "status": "rated"},
        )
        add(
            JudgeRun,
            {
                "id": 1,
                "name": "judge-1",
                "engine": "files",
                "model": "m",
                "prompt_version": "p",
                "prompt_hash": "h",
                "decoding": {},
                "software": {},
                "config_hash": "x",
            },
        )
        judgment = {**on_ac, "run_id": 1, "response_id": 2, "repeat": 0}
        add(
            JudgeAnswer,
            {**judgment, "attempt": 1, "value": None, "missing_reason": "unparsed"},
            {**judgment, "attempt": 2, "value": 70.0, "missing_reason": None},
        )
        score = {**on_ac, "response_id": 1, "repeat": 0, "inclusion_prob": 1.0}
        add(
            ScorerAnswer,
            {**score, "scorer": "EM", "scorer_kind": "metric", "value": 100.0, "source": "file"},
        )
        add(
            ScorerAnswer,
            {
                **on_ac,
                "response_id": 2,
                "second_response_id": 1,
                "item": "beside 1",
                "scorer": "anna",
                "scorer_kind": "human",
                "repeat": 0,
                "value": 1.0,
            },
        )
