"""What a judge wrote before its score, where its prompts ask for the reason first.

The reason is not stored in a column of its own: it is in the raw answer, above the score.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, select

from study.columns import EXPECTED
from study.facts.judgments import counted_judgments
from study.facts.response_rows import current_responses
from study.schema import JudgeRun, Judgment, table

LAST_LINE = "last_line"
"""Rule of a value that is alone on the last line, after its reason."""

_THINKING = re.compile(r"\A\s*<(think|thinking|reasoning)>.*?</\1>", re.IGNORECASE | re.DOTALL)
_END_OF_TURN = re.compile(
    r"\s*(?:</s>|<end_of_turn>|<\|(?:eot_id|im_end|end_of_text|endoftext|end)\|>)\s*\Z"
)
# Databases bind at least this many parameters.
_TOGETHER = 500

Place = tuple[str, str, str]
"""Scorer, response and construct, as in the score table."""


@dataclass(frozen=True)
class Rationale:
    """A judge's answer that counts: its value, and the reason that it gave."""

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
        How its value was found: only `last_line` has a reason before it.

    Examples
    --------
    >>> reason_before_score("It says so twice.\\nScore: 85", "last_line")
    'It says so twice.'
    """
    if answer is None or rule != LAST_LINE:
        return None
    body = _END_OF_TURN.sub("", _THINKING.sub("", answer)).rstrip()
    return "".join(body.splitlines(keepends=True)[:-1]).strip() or None


def judge_reasons(
    connection: Connection, versions: Mapping[str, int], wanted: Collection[Place]
) -> dict[Place, str]:
    """Return the reasons of some scores of the score table, those that have one.

    `versions` holds the current version of each construct, as for the score table. The mean of a
    distribution (a scorer of its own) has the reason of the answer that it was read from. Of an
    answer that was asked for several times, the first is meant.
    """
    ids = {response.response_id: response.id for response in current_responses(connection)[0]}
    places: dict[tuple[str, int, str], list[Place]] = {}
    for scorer, response, construct in wanted:
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
    """Yield what each run says of these responses (database keys), as the score table has it.

    That is the first repeat, and of its attempts the first whose prompt reached the model whole.
    """
    ids = sorted(responses)
    for start in range(0, len(ids), _TOGETHER):
        yield from _answers(connection, ids[start : start + _TOGETHER])


def _answers(connection: Connection, responses: list[int]) -> Iterator[Rationale]:
    j, run = table(Judgment), table(JudgeRun)
    columns = ("id", "run_id", "response_id", "construct_key", "construct_version", "value")
    rows = counted_judgments(
        (*columns, "missing_reason", "rule", "raw_answer"),
        j.c.response_id.in_(responses),
        j.c.repeat == 0,
    )
    statement = select(rows, run.c.name).join(run, rows.c.run_id == run.c.id).order_by(rows.c.id)
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
