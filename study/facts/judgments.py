"""Which answer of a judge counts, how it was read, and the reason that it gives.

A judgment is one answer of a run on one construct of one response. Its raw answer may have been
read again by a later parser; the reading with the highest revision counts. Of several attempts, the
first one whose prompt reached the model whole counts, or the first one if none did. Taking a later
attempt would select for answers that can be parsed.

Where prompts ask for a reason before the score, the reason is not stored in a separate column: it
is in the raw answer, above the score.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Subquery,
    Text,
    and_,
    case,
    cast,
    func,
    select,
)

from study.columns import EXPECTED
from study.facts.current_responses import current_responses
from study.facts.score_distributions import means
from study.facts.table_arrays import categorical, numbered, size, together
from study.schema import PROMPT_NOT_WHOLE
from study.schema.database import read_columns
from study.schema.tables import judge_runs as judge_run_table, judgments, readings

SCORER_KIND = "scorer_kind"
"""In a run's `observed`: what its scorer is in tables, unless that is a judge."""
LOW_IS_GOOD = "low_is_good"
"""In a run's `observed`: that a low value of its metric is a good sign."""

_READ = ("value", "missing_reason", "rule", "parts", "parser_version")


def as_read(columns: Sequence[str], *conditions: ColumnElement[bool]) -> Select[Any]:
    """Return the statement for these columns of all attempts, with their current reading.

    `value`, `missing_reason`, `rule`, `parts` and `parser_version` are those of the newest reading,
    or of the judgment where its answers were not read again. The column `revision` is the
    reading's, or 0. `conditions` refer to the table of judgments.
    """
    last = (
        select(readings.c.judgment_id, func.max(readings.c.revision).label("revision"))
        .group_by(readings.c.judgment_id)
        .subquery()
    )
    again = readings.c.id.is_not(None)
    read: dict[str, ColumnElement[Any]] = {
        name: case((again, readings.c[name]), else_=judgments.c[name]).label(name) for name in _READ
    }
    read["revision"] = func.coalesce(readings.c.revision, 0).label("revision")
    return (
        select(*(read[name] if name in read else judgments.c[name] for name in columns))
        .join_from(judgments, last, last.c.judgment_id == judgments.c.id, isouter=True)
        .join(
            readings,
            and_(
                readings.c.judgment_id == last.c.judgment_id, readings.c.revision == last.c.revision
            ),
            isouter=True,
        )
        .where(*conditions)
    )


def counted_judgments(columns: Sequence[str], *conditions: ColumnElement[bool]) -> Subquery:
    """Return these columns of the judgments that count, with their current reading.

    There is one for each run, response, construct, construct version and repeat. Columns and
    conditions are as in `as_read`; conditions must select all attempts at a prompt or none.
    """
    # By the judgment, not by a later reading: a prompt that was cut stays cut.
    cut = case((judgments.c.missing_reason.in_(PROMPT_NOT_WHOLE), 1), else_=0)
    prompt = (
        judgments.c.run_id,
        judgments.c.response_id,
        judgments.c.construct_key,
        judgments.c.construct_version,
        judgments.c.repeat,
    )
    turn = (
        func.row_number()
        .over(partition_by=prompt, order_by=(cut, judgments.c.attempt))
        .label("turn")
    )
    rows = as_read(columns, *conditions).add_columns(turn).subquery()
    return (
        select(*(rows.c[name] for name in columns))
        .where(rows.c.turn == 1)
        .subquery("counted_judgment")
    )


_OF_JUDGMENT = (
    "response_id",
    "construct_key",
    "construct_version",
    "run_id",
    "repeat",
    "value",
    "missing_reason",
    "rule",
)
_TYPES = {
    "response": "int64",
    "construct": "category",
    "construct_version": "int32",
    "scorer": "category",
    "repeat": "int32",
    "value": "float64",
    "missing_reason": "category",
    "rule": "category",
}


def judge_scores(
    connection: Connection, construct: str | None = None, expected: Collection[int] | None = None
) -> dict[str, Any]:
    """Return the judgments that count, and the means of their distributions, as scores.

    `construct` restricts them. `expected` are the runs with means, if they are known already.
    """
    chosen = () if construct is None else (judgments.c.construct_key == construct,)
    expected = runs_with_distributions(connection) if expected is None else expected
    rows = together([_judged(connection, chosen), *_expected(connection, expected, chosen)])
    runs = connection.execute(select(judge_run_table.c.name, judge_run_table.c.observed)).all()
    metrics = {run.name for run in runs if (run.observed or {}).get(SCORER_KIND) == "metric"}
    scorer = rows["scorer"]
    kinds = np.array([int(name in metrics) for name in (*scorer.categories, "")], dtype=np.int8)
    own = np.zeros(size(rows), dtype=np.int8)
    return rows | {
        "scorer_kind": categorical(kinds[scorer.codes], ["judge", "metric"]),
        "inclusion_prob": numbered(own, [1.0]),
        "source": categorical(own, ["own"]),
    }


def runs_with_distributions(connection: Connection) -> list[int]:
    """Return the runs (database keys) with a distribution of a judgment that counts."""

    # No distribution is stored as the null of JSON.
    def known(column: Any) -> ColumnElement[bool]:
        return cast(column, Text) != "null"

    with_any = select(judgments.c.run_id).where(known(judgments.c.distribution)).distinct()
    if connection.execute(with_any.limit(1)).first() is None:
        return []
    # A further attempt alone, which does not count, may have one.
    counted = counted_judgments(("run_id", "distribution"), judgments.c.run_id.in_(with_any))
    runs = select(counted.c.run_id).where(known(counted.c.distribution)).distinct()
    return sorted(connection.execute(runs).scalars())


def _judged(connection: Connection, chosen: Sequence[ColumnElement[bool]]) -> dict[str, Any]:
    return read_columns(connection, _scored(_OF_JUDGMENT, *chosen), _TYPES)


def _expected(
    connection: Connection, runs: Collection[int], chosen: Sequence[ColumnElement[bool]]
) -> list[dict[str, Any]]:
    """Return the means of the distributions of these runs."""
    if not runs:
        return []
    in_runs = judgments.c.run_id.in_(runs)
    statement = _scored((*_OF_JUDGMENT, "distribution"), in_runs, *chosen)
    return [read_columns(connection, statement, _TYPES, means)]


def _scored(columns: Sequence[str], *conditions: ColumnElement[bool]) -> Select[Any]:
    counted = counted_judgments(columns, *conditions)
    names = {"response_id": "response", "construct_key": "construct", "run_id": "scorer"}
    return select(
        *(
            judge_run_table.c.name.label("scorer")
            if name == "run_id"
            else counted.c[name].label(names.get(name, name))
            for name in columns
        )
    ).join_from(counted, judge_run_table, counted.c.run_id == judge_run_table.c.id)


_PAPER = "ccrs-paper-v1"
_LAYOUT = (
    "the paper gives the words; the points of layout it leaves open are this project's, and part "
    "of the hash"
)


def judge_runs(connection: Connection) -> list[dict[str, Any]]:
    """Return the conditions of each run of a study, in the order in which the runs were begun.

    The names are those of the scorers in the score table. The address of a run's server is left
    out, since reports are passed on.
    """
    rows = connection.execute(select(judge_run_table).order_by(judge_run_table.c.id)).mappings()
    return [
        {
            "name": row["name"],
            "engine": row["engine"],
            "model": row["model"],
            "model_revision": row["model_revision"],
            "prompt_version": row["prompt_version"],
            "prompt_hash": row["prompt_hash"],
            "layout": _LAYOUT if row["prompt_version"] == _PAPER else None,
            "decoding": dict(row["decoding"]),
            "seed": row["seed"],
            "repeats": row["repeats"],
        }
        for row in rows
    ]


FIELDS = "fields"
"""Rule of a value that is a field of an object."""
LAST_LINE = "last_line"
"""Rule of a value that is alone on the last line, after its reason."""

_THINKING = re.compile(r"\A\s*<(think|thinking|reasoning)>.*?</\1>", re.IGNORECASE | re.DOTALL)
_END_OF_TURN = re.compile(
    r"\s*(?:</s>|<end_of_turn>|<\|(?:eot_id|im_end|end_of_text|endoftext|end)\|>)\s*\Z"
)
# A fence, object or element of several lines at the end, which contains the score.
_SCORE_BLOCK = re.compile(
    r"(?:\n```[a-z]*\n[^`]*```|\n\{[^{}]*\}|\n<([a-z_]+)>[^<>]*</\1>)\Z", re.IGNORECASE
)
# Databases bind at least this many parameters.
_TOGETHER = 500

Place = tuple[str, str, str]
"""Scorer, response and construct, as in the score table."""


@dataclass(frozen=True)
class Rationale:
    """The answer of a judge that counts, with its value and the reason that it gives."""

    run: str
    response: int
    """Database key."""
    construct_key: str
    construct_version: int
    value: float | None
    missing_reason: str | None
    reason: str | None


def reason_before_score(answer: str | None, rule: str | None) -> str | None:
    """Return the reason in a raw answer, word for word; None where none was read.

    Parameters
    ----------
    answer
        As the judge gave it.
    rule
        How its value was read: `last_line` has a reason before it, and `fields` an object with
        further fields, which is returned as a whole.

    Examples
    --------
    >>> reason_before_score("It is stated twice.\\nScore: 85", "last_line")
    'It is stated twice.'
    """
    if answer is None or rule not in {LAST_LINE, FIELDS}:
        return None
    body = _END_OF_TURN.sub("", _THINKING.sub("", answer)).rstrip()
    if rule == FIELDS:
        return body[body.find("{") : body.rfind("}") + 1]
    block = _SCORE_BLOCK.search(body)
    if block:
        return body[: block.start()].strip() or None
    return "".join(body.splitlines(keepends=True)[:-1]).strip() or None


def judge_reasons(
    connection: Connection, versions: Mapping[str, int], scores: Collection[Place]
) -> dict[Place, str]:
    """Return the reasons that judges gave for scores of the score table, where there are any.

    `versions` are the current versions of the constructs, as for the score table. The mean of a
    distribution (a separate scorer) has the reason of the answer that it was read from. If an
    answer was requested several times, the first one is used.
    """
    wanted = {response for _, response, _ in scores}
    current, _ = current_responses(connection, wanted)
    ids = {response.response_id: response.id for response in current}
    places: dict[tuple[str, int, str], list[Place]] = {}
    for scorer, response, construct in scores:
        if response in ids:
            answer = (scorer.removesuffix(EXPECTED), ids[response], construct)
            places.setdefault(answer, []).append((scorer, response, construct))
    reasons: dict[Place, str] = {}
    for rationale in answers_that_count(connection, {response for _, response, _ in places}):
        if (
            rationale.construct_version != versions.get(rationale.construct_key)
            or rationale.reason is None
        ):
            continue
        for place in places.get((rationale.run, rationale.response, rationale.construct_key), ()):
            reasons[place] = rationale.reason
    return reasons


def answers_that_count(connection: Connection, responses: Collection[int]) -> Iterator[Rationale]:
    """Yield the answer of each run on these responses (database keys) that enters the score table.

    It is that of the first repeat and, of its attempts, the first whose prompt arrived whole.
    """
    ids = sorted(responses)
    for start in range(0, len(ids), _TOGETHER):
        yield from _answers(connection, ids[start : start + _TOGETHER])


def _answers(connection: Connection, responses: list[int]) -> Iterator[Rationale]:
    columns = ("id", "run_id", "response_id", "construct_key", "construct_version", "value")
    rows = counted_judgments(
        (*columns, "missing_reason", "rule", "raw_answer"),
        judgments.c.response_id.in_(responses),
        judgments.c.repeat == 0,
    )
    statement = (
        select(rows, judge_run_table.c.name)
        .join(judge_run_table, rows.c.run_id == judge_run_table.c.id)
        .order_by(rows.c.id)
    )
    for row in connection.execute(statement):
        yield Rationale(
            row.name,
            row.response_id,
            row.construct_key,
            row.construct_version,
            row.value,
            row.missing_reason,
            reason_before_score(row.raw_answer, row.rule),
        )
