"""A campaign in which one person left traces in every table, each of them a word to look for."""

import shutil
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import pytest
from sqlalchemy import Connection, insert, select

from study import Study
from study.schema import (
    Assignment,
    AssignmentBase,
    ClosingAnswer,
    Comparison,
    Consent,
    Departure,
    EndedSession,
    Enrolment,
    EnrolmentLink,
    ImportedFile,
    InterimAnalysis,
    Invitation,
    Noun,
    OpenedPassage,
    OwnerPassword,
    Pause,
    Query,
    Rater,
    RaterAnswer,
    Response,
    Reveal,
    ScorerAnswer,
    table,
)
from study.schema.tables import raters
from tests.conftest import absent

CODE = "zorabel-7"
"""Of the person who is erased, archived and exported."""
OTHER = "ben"
SECRETS = {
    "comment": "xcommentx of hers",
    "decision": "xdecisionx of hers",
    "closing": "xclosingx of hers",
    "reason": "xreasonx of hers",
    "external": "xexternalx",
    "rating_external": "xratingidx",
    "attribute": "xattributex",
    "password": "scrypt:xpasswordx",
}


@dataclass(frozen=True)
class Planted:
    """A study, and what must not be found in its bytes any more."""

    study: Study
    rater: int
    words: list[bytes]
    """Everything of the person's that is unlike anything else."""
    rating: int


def looked(*codes: str) -> dict[str, Any]:
    """Return what a look stores: figures of all raters together, and of each."""
    of_all = {"statistic": "icc", "scorers": list(codes), "params": {"form": "A,1"}, "value": 0.5}
    of_each = [
        {"statistic": "pearson", "scorers": [code], "params": {"on": "interval"}, "value": 0.6}
        for code in codes
    ]
    return {"judge": None, "note": f"Without {codes[0]}.", "figures": [of_all, *of_each]}


@pytest.fixture
def planted(any_study: Study) -> Planted:
    return plant(any_study)


@pytest.fixture
def planted_sqlite(study: Study) -> Planted:
    return plant(study)


def plant(study: Study) -> Planted:
    """Fill every table with rows of two people, in one transaction."""
    with study.write() as connection:
        rater, rating, words = _fill(connection)
    return Planted(study, rater, [*words, *public_ids(study, rater)], rating)


def _fill(connection: Connection) -> tuple[int, int, list[bytes]]:
    def add(noun: type[Noun], *rows: dict[str, object]) -> list[int]:
        t = table(noun)
        return [
            connection.execute(insert(t).values(**row).returning(t.c.id)).scalar_one()
            for row in rows
        ]

    def assign(rater: int, response: int, **other: object) -> int:
        row = AssignmentBase(construct_keys=["AC"]).model_dump() | other
        named = {"rater_id": rater, "response_id": response, "config_hash": "x"}
        return add(Assignment, row | named)[0]

    queries = add(
        Query,
        *({"key": f"q{n}", "text": f"?{n}", "references": [], "attributes": {}} for n in range(3)),
    )
    first, second, third = (
        add(
            Response,
            {
                "key": f"r{n}",
                "version": 1,
                "text": "x",
                "query_id": n,
                "content_hash": bytes([n] * 16),
            },
        )[0]
        for n in queries
    )
    (other,) = add(Rater, {"code": OTHER, "attributes": {}})
    (rater,) = add(Rater, {"code": CODE, "attributes": {"note": SECRETS["attribute"]}})
    rated = assign(rater, first)
    assign(rater, second, stratum="s", inclusion_prob=0.5)
    # A slot of the other's ran out, went to her, ran out, and went back.
    expired = assign(other, third)
    hers = assign(rater, third, replaces_id=expired)
    assign(other, third, replaces_id=hers, repeat=1)
    kept = assign(other, first)
    common = {
        "construct_key": "AC",
        "construct_version": 1,
        "revealed": [],
        "channel": "own",
        "config_hash": "x",
    }
    (rating,) = add(
        RaterAnswer,
        {
            **common,
            "assignment_id": rated,
            "revision": 1,
            "value": 61.0,
            "status": "rated",
            "comment": SECRETS["comment"],
            "reason": SECRETS["reason"],
            "external_id": SECRETS["rating_external"],
            "idempotency_key": "xkeyx",
        },
    )
    add(RaterAnswer, {**common, "assignment_id": kept, "revision": 1, "value": 40.0})
    add(Reveal, {"assignment_id": rated, "stage": 1, "fields": ["question"]})
    add(OpenedPassage, {"assignment_id": rated, "position": 0})
    (comparison,) = add(
        Comparison,
        {
            "rater_id": rater,
            "query_id": 1,
            "response_a_id": first,
            "response_b_id": second,
            "construct_key": "AC",
            "config_hash": "x",
        },
    )
    add(
        RaterAnswer,
        {
            "comparison_id": comparison,
            "kind": "choice",
            "construct_key": "AC",
            "construct_version": 1,
            "revision": 1,
            "value": 1.0,
            "comment": SECRETS["decision"],
            "idempotency_key": "xkeyx-of-a-decision",
            "config_hash": "x",
        },
    )
    hashed = sha256(b"xtokenx").digest()
    add(Invitation, {"rater_id": rater, "token_hash": hashed})
    add(Invitation, {"rater_id": other, "token_hash": sha256(b"other").digest()})
    (link,) = add(
        EnrolmentLink,
        {"name": "l", "quota": 5, "attributes": {}, "token_hash": sha256(b"enrol").digest()},
    )
    external = SECRETS["external"]
    add(Enrolment, {"link_id": link, "rater_id": rater, "external_id": external})
    add(Consent, {"rater_id": rater, "text_hash": "h", "agreed": True})
    add(Departure, {"rater_id": rater, "kind": "readmitted"})
    closing = {"recognized": "yes", "comment": SECRETS["closing"]}
    add(ClosingAnswer, {**closing, "rater_id": rater})
    add(OwnerPassword, {"password_hash": SECRETS["password"]})
    add(EndedSession, {"session_id": "x"})
    add(
        InterimAnalysis,
        {"kind": "agreement", "requested_in": "page", "ratings": 2, "result": looked(CODE, OTHER)},
    )
    add(Pause, {"paused": True, "message": f"Ask {CODE}."})
    options = {"kinds": {CODE: "human"}, "scorer": CODE, "system": "a"}
    file = {"name": f"ratings_{CODE}.csv", "sha256": "0", "importer": "scores", "config_hash": "x"}
    add(ImportedFile, {**file, "options": options, "counts": {}})
    score = {**_only(common), "scorer_kind": "human", "repeat": 0, "value": 5.0}
    score["inclusion_prob"] = 1.0
    add(ScorerAnswer, {**score, "response_id": second, "scorer": CODE})
    add(ScorerAnswer, {**score, "response_id": second, "scorer": OTHER})
    pair = {"response_id": first, "second_response_id": second, "item": f"beside {second}"}
    preference = {**_only(common), "scorer_kind": "human", "repeat": 0, "value": 1.0}
    add(ScorerAnswer, {**preference, **pair, "scorer": CODE})
    words = [text.encode() for text in (CODE, *SECRETS.values()) if "scrypt" not in text]
    return rater, rating, [*words, b"xkeyx", hashed]


def need_pg_dump(study: Study) -> None:
    """Skip, or fail in CI, where a PostgreSQL study can't be copied."""
    if study.engine.dialect.name == "postgresql" and shutil.which("pg_dump") is None:
        absent("pg_dump is not installed")


def public_ids(study: Study, rater: int) -> list[bytes]:
    """Return the random names that stand for a rater and their work in addresses."""
    names = []
    with study.read() as connection:
        names += connection.execute(
            select(raters.c.public_id).where(raters.c.id == rater)
        ).scalars()
        for noun in (Assignment, Comparison):
            t = table(noun)
            names += connection.execute(
                select(t.c.public_id).where(t.c.rater_id == rater)
            ).scalars()
    return [name.encode() for name in names]


def rows(study: Study, noun: type[Noun]) -> list[dict[str, object]]:
    """Return a table's rows."""
    t = table(noun)
    with study.read() as connection:
        return [dict(row._mapping) for row in connection.execute(select(t).order_by(t.c.id))]


def everything(study: Study) -> dict[str, int]:
    """Return the number of rows of each table."""
    with study.read() as connection:
        return {
            t.name: len(connection.execute(select(t)).all()) for t in Noun.metadata.sorted_tables
        }


def _only(common: dict[str, object]) -> dict[str, object]:
    return {name: common[name] for name in ("construct_key", "construct_version")}
