"""Marks on sentences: the sets that count, and their table for `analysis`."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd
from sqlalchemy import Connection, literal, select

from study.columns import MARK_COLUMNS
from study.facts.counted_marks import counted_marks
from study.facts.current_responses import current_responses
from study.facts.ratings import MEASURING
from study.schema.tables import assignments, imported_marks, queries, raters, responses
from study.sentences import Range, marked_sentences, sentence_ranges


class MarkSet(NamedTuple):
    """The marks of one person in one response for one construct."""

    response: int
    """Database key of the response."""
    response_id: str
    query_id: str
    text: str
    """Of the response."""
    construct: str
    scorer: str
    scorer_kind: str
    repeat: int
    ranges: tuple[Range, ...]


def mark_sets(
    connection: Connection, versions: Mapping[str, int], only: Collection[int] | None = None
) -> tuple[list[MarkSet], dict[str, int]]:
    """Return the marks that count, and how many sets are left out, by reason.

    `versions` are the current versions of the constructs, and `only` the database keys of the
    wanted responses, by default all. Of two sets of one person for the same response, the first
    counts, and one from the study before an imported one.
    """
    rows = list(_rows(connection, only))
    current = current_responses(connection)[0] if rows else []
    ids = {response.id: response.response_id for response in current}
    sets: dict[tuple[int, str, str, int], MarkSet] = {}
    left_out = {"of a response that a later one replaced": 0, "of an earlier construct": 0}
    left_out["given a second time by the same rater"] = 0
    for row in rows:
        if row.response_id not in ids:
            left_out["of a response that a later one replaced"] += 1
        elif versions.get(row.construct_key) != row.construct_version:
            left_out["of an earlier construct"] += 1
        elif (key := (row.response_id, row.construct_key, row.scorer, row.repeat)) in sets:
            left_out["given a second time by the same rater"] += 1
        else:
            sets[key] = MarkSet(
                row.response_id,
                ids[row.response_id],
                row.key,
                row.text,
                row.construct_key,
                row.scorer,
                row.scorer_kind,
                row.repeat,
                tuple((start, end) for start, end in row.ranges),
            )
    return list(sets.values()), {reason: n for reason, n in left_out.items() if n}


def marks_table(connection: Connection, versions: Mapping[str, int]) -> pd.DataFrame:
    """Return one row for each sentence of each response that a person looked through for marks.

    The columns are those of `MARK_COLUMNS`. A sentence is marked where a mark covers a part of it.
    """
    sets, left_out = mark_sets(connection, versions)
    sentences: dict[int, list[Range]] = {}
    rows = []
    for marks in sets:
        ranges = sentences.setdefault(marks.response, sentence_ranges(marks.text))
        marked = marked_sentences(marks.text, ranges, marks.ranges)
        rows += [
            (
                *(marks.response_id, marks.query_id, marks.construct, marks.scorer),
                *(marks.scorer_kind, marks.repeat, number, start, end, int(is_marked)),
            )
            for number, ((start, end), is_marked) in enumerate(
                zip(ranges, marked, strict=True), start=1
            )
        ]
    kinds = {name: kind if kind != "str" else "object" for name, kind in MARK_COLUMNS.items()}
    result = pd.DataFrame(rows, columns=list(MARK_COLUMNS)).astype(kinds)
    result.attrs["left_out"] = left_out
    return result


@dataclass(frozen=True)
class SentenceCount:
    """A sentence of a response, and how many of the people who were asked marked it."""

    text: str
    marked: int
    asked: int


def marked_by_people(
    connection: Connection, versions: Mapping[str, int], responses: Collection[int]
) -> dict[tuple[str, int], list[SentenceCount]]:
    """Return the sentences of responses with the number of people who marked them.

    Responses are database keys, and the result is by construct and response; those that nobody was
    asked to mark are left out.
    """
    found: dict[tuple[str, int], list[MarkSet]] = {}
    for marks in mark_sets(connection, versions, responses)[0]:
        if marks.repeat == 0:
            found.setdefault((marks.construct, marks.response), []).append(marks)
    sentences = {}
    for place, sets in found.items():
        text, ranges = sets[0].text, sentence_ranges(sets[0].text)
        marked = [marked_sentences(text, ranges, marks.ranges) for marks in sets]
        sentences[place] = [
            SentenceCount(text[start:end], sum(column), len(sets))
            for (start, end), column in zip(ranges, zip(*marked, strict=True), strict=True)
        ]
    return sentences


def _rows(connection: Connection, only: Collection[int] | None) -> Iterator[Any]:
    counted = counted_marks()
    own = (
        select(
            assignments.c.response_id,
            counted.c.construct_key,
            counted.c.construct_version,
            raters.c.code.label("scorer"),
            literal("human").label("scorer_kind"),
            assignments.c.repeat,
            counted.c.ranges,
            responses.c.text,
            queries.c.key,
        )
        .join_from(counted, assignments, counted.c.assignment_id == assignments.c.id)
        .join(raters, raters.c.id == assignments.c.rater_id)
        .where(assignments.c.purpose.in_(MEASURING))
        .order_by(assignments.c.id, counted.c.id)
    )
    imported = select(
        imported_marks.c.response_id,
        imported_marks.c.construct_key,
        imported_marks.c.construct_version,
        imported_marks.c.scorer,
        imported_marks.c.scorer_kind,
        imported_marks.c.repeat,
        imported_marks.c.ranges,
        responses.c.text,
        queries.c.key,
    ).order_by(imported_marks.c.id)
    for statement, of in ((own, assignments), (imported, imported_marks)):
        joined = statement.join(responses, responses.c.id == of.c.response_id)
        if only is not None:
            joined = joined.where(of.c.response_id.in_(only))
        yield from connection.execute(joined.join(queries, queries.c.id == responses.c.query_id))
