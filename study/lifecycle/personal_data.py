"""The rows of a study that are about a person, and records of other tables that mention them."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, and_, func, or_, select, update

from study.errors import StudyError, nearest
from study.facts.scorers import ADJUDICATED
from study.schema import (
    ClosingAnswer,
    Consent,
    Departure,
    Enrolment,
    ExternalRater,
    ImportedFile,
    InterimAnalysis,
    Invitation,
    Noun,
    OpenedPassage,
    Pause,
    RejectedValue,
    Reveal,
    table,
)
from study.schema.tables import (
    assignments as assignment_table,
    comparisons as comparison_table,
    rater_answers,
    raters,
    scorer_answers,
)
from study.study import Study

PEOPLE = ("human", "adjudicated")
"""Kinds of imported scorers that are people."""


@dataclass(frozen=True)
class Person:
    """A rater, or a person whose values were imported; often both under one code."""

    code: str
    rater_id: int | None
    """Null: the person has imported values only."""


def names(code: str) -> tuple[str, str]:
    """Return the names of a person in tables: as rater and as adjudicator."""
    return code, f"{code}{ADJUDICATED}"


def people(connection: Connection) -> dict[str, Person]:
    """Return all people about whom the study stores data, by code."""
    by_code = {}
    columns = scorer_answers.c
    codes = connection.execute(
        select(columns.scorer).where(columns.scorer_kind.in_(PEOPLE)).distinct()
    )
    imported = (str(code).removesuffix(ADJUDICATED) for code in codes.scalars())
    by_code.update({code: Person(code, None) for code in imported})
    for row in connection.execute(select(raters.c.id, raters.c.code)):
        by_code[row.code] = Person(row.code, row.id)
    return by_code


def person(connection: Connection, study: Study, code: str) -> Person:
    """Return the person with a code.

    Raises
    ------
    StudyError
        The study stores nothing about a person with this code.
    """
    by_code = people(connection)
    if code not in by_code:
        hint = nearest(code, by_code) or f"`ccrs status {study.folder}` shows the raters."
        raise StudyError(f"{code!r} is not a rater of {study.folder}. {hint}")
    return by_code[code]


def rows_of(person: Person) -> list[tuple[Table, ColumnElement[bool]]]:
    """Return the tables with rows about a person, children first, and the condition on the rows."""
    conditions: list[tuple[Table, ColumnElement[bool]]] = []
    on_assignments: tuple[type[Noun], ...] = (Reveal, OpenedPassage)
    on_raters: tuple[type[Noun], ...] = (
        *(ClosingAnswer, Consent, Departure, ExternalRater, Enrolment, Invitation, RejectedValue),
    )
    if person.rater_id is not None:
        assignments = select(assignment_table.c.id).where(
            assignment_table.c.rater_id == person.rater_id
        )
        comparisons = select(comparison_table.c.id).where(
            comparison_table.c.rater_id == person.rater_id
        )
        answers = rater_answers.c
        own = or_(answers.assignment_id.in_(assignments), answers.comparison_id.in_(comparisons))
        conditions.append((rater_answers, own))
        for noun in on_assignments:
            conditions.append((table(noun), table(noun).c.assignment_id.in_(assignments)))
        for noun in on_raters:
            conditions.append((table(noun), table(noun).c.rater_id == person.rater_id))
        conditions += [
            (comparison_table, comparison_table.c.rater_id == person.rater_id),
            (assignment_table, assignment_table.c.rater_id == person.rater_id),
            (raters, raters.c.id == person.rater_id),
        ]
    columns = scorer_answers.c
    imported = and_(columns.scorer.in_(names(person.code)), columns.scorer_kind.in_(PEOPLE))
    return [*conditions, (scorer_answers, imported)]


def count_rows(connection: Connection, person: Person) -> dict[str, int]:
    """Return how many rows of each table are about a person; tables without any are left out."""
    counts = {
        t.name: int(
            connection.execute(select(func.count()).select_from(t).where(where)).scalar_one()
        )
        for t, where in rows_of(person)
    }
    return {name: count for name, count in counts.items() if count}


ERASED = "(erased)"


def word_of(code: str, *, in_a_name: bool = False) -> re.Pattern[str]:
    """Return a pattern that matches a code as a whole word: rater-1, but not rater-10 or rater-1-b.

    In the name of a file the code may be joined to other words: ratings_anna-2.csv.
    """
    if in_a_name:
        return re.compile(rf"(?<![^\W_]){re.escape(code)}(?![^\W_])")
    return re.compile(rf"(?<![\w-]){re.escape(code)}(?![\w-])")


def mentions(connection: Connection, code: str) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of other tables that mention a person, by table."""
    rows_by_table: dict[str, list[dict[str, Any]]] = {}
    for noun, without in _MENTIONING.items():
        noun_table = table(noun)
        rows = [
            dict(row._mapping)
            for row in connection.execute(select(noun_table).order_by(noun_table.c.id))
        ]
        mentioning = [row for row in rows if without(row, code) != row]
        if mentioning:
            rows_by_table[noun_table.name] = mentioning
    return rows_by_table


def remove_mentions(connection: Connection, code: str) -> dict[str, int]:
    """Remove what mentions a person from these rows; return the number of rows by table.

    The caller has lifted the triggers.
    """
    mentioning = mentions(connection, code)
    for noun, without in _MENTIONING.items():
        noun_table = table(noun)
        for row in mentioning.get(noun_table.name, ()):
            connection.execute(
                update(noun_table).where(noun_table.c.id == row["id"]).values(**without(row, code))
            )
    return {name: len(rows) for name, rows in mentioning.items()}


def _interim_without(row: dict[str, Any], code: str) -> dict[str, Any]:
    """Return the row without the figures, if values of the person are in them.

    The row stays, since a design is sequential from it on.
    """
    result = row["result"]
    scorers = {name for figure in result.get("figures") or () for name in figure["scorers"]}
    if scorers.isdisjoint(names(code)):
        return row
    return {**row, "result": {"judge": result["judge"], "erased": True}}


def _file_without(row: dict[str, Any], code: str) -> dict[str, Any]:
    word = word_of(code)
    return {
        **row,
        "name": word_of(code, in_a_name=True).sub(ERASED, row["name"]),
        **{
            column: {
                name: value
                for name, value in row[column].items()
                if not any(word.search(text) for text in (name, *_texts(value)))
            }
            for column in ("options", "counts")
        },
    }


def _pause_without(row: dict[str, Any], code: str) -> dict[str, Any]:
    message = row["message"]
    return {**row, "message": message and word_of(code).sub(ERASED, message)}


_MENTIONING: dict[type[Noun], Callable[[dict[str, Any], str], dict[str, Any]]] = {
    InterimAnalysis: _interim_without,
    ImportedFile: _file_without,
    Pause: _pause_without,
}
"""Tables that may mention a person, with a function that returns a row without them."""


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in a value of a JSON column, keys included."""
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
    elif isinstance(value, str):
        yield value
