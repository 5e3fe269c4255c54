"""What a study holds about one person: whose row is theirs, table by table."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, Table, and_, func, select

from study.errors import StudyError, nearest
from study.facts.scorers import ADJUDICATED
from study.schema import (
    Assignment,
    ClosingAnswer,
    Comparison,
    Consent,
    Decision,
    Departure,
    ElsewhereRater,
    Enrolment,
    Invitation,
    Noun,
    OpenedPassage,
    Preference,
    Rater,
    Rating,
    Reveal,
    Score,
    SetAside,
    table,
)
from study.study import Study

PEOPLE = ("human", "adjudicated")
"""Kinds of imported scorers that are people."""


@dataclass(frozen=True)
class Person:
    """A rater, or a person whose values were imported; often both under one code."""

    code: str
    rater_id: int | None
    """Null: nothing but imported values."""
    public_id: str | None = None


def names(code: str) -> tuple[str, str]:
    """Return the names under which a person's values stand in tables: as rater, as adjudicator."""
    return code, f"{code}{ADJUDICATED}"


def people(connection: Connection) -> dict[str, Person]:
    """Return everybody whom the study holds something about, by code."""
    r, by_code = table(Rater), {}
    for noun in (Score, Preference):
        t = table(noun)
        codes = connection.execute(select(t.c.scorer).where(t.c.scorer_kind.in_(PEOPLE)).distinct())
        imported = (str(code).removesuffix(ADJUDICATED) for code in codes.scalars())
        by_code.update({code: Person(code, None) for code in imported})
    for row in connection.execute(select(r.c.id, r.c.code, r.c.public_id)):
        by_code[row.code] = Person(row.code, row.id, row.public_id)
    return by_code


def person(connection: Connection, study: Study, code: str) -> Person:
    """Return whom a code means.

    Raises
    ------
    StudyError
        The study holds nothing about anybody of that code.
    """
    known = people(connection)
    if code not in known:
        hint = nearest(code, known) or f"`ccrs status {study.folder}` shows the raters."
        raise StudyError(f"{code!r} is not a rater of {study.folder}. {hint}")
    return known[code]


def rows_of(person: Person) -> list[tuple[Table, ColumnElement[bool]]]:
    """Return each table that may hold rows about a person, and which; children come first."""
    conditions: list[tuple[Table, ColumnElement[bool]]] = []
    on_assignments: tuple[type[Noun], ...] = (Rating, Reveal, OpenedPassage)
    of_raters: tuple[type[Noun], ...] = (
        *(ClosingAnswer, Consent, Departure, ElsewhereRater, Enrolment, Invitation, SetAside),
    )
    imported: tuple[type[Noun], ...] = (Score, Preference)
    if person.rater_id is not None:
        a, c = table(Assignment), table(Comparison)
        assignments = select(a.c.id).where(a.c.rater_id == person.rater_id)
        comparisons = select(c.c.id).where(c.c.rater_id == person.rater_id)
        for noun in on_assignments:
            conditions.append((table(noun), table(noun).c.assignment_id.in_(assignments)))
        conditions.append((table(Decision), table(Decision).c.comparison_id.in_(comparisons)))
        for noun in of_raters:
            conditions.append((table(noun), table(noun).c.rater_id == person.rater_id))
        conditions += [
            (c, c.c.rater_id == person.rater_id),
            (a, a.c.rater_id == person.rater_id),
            (table(Rater), table(Rater).c.id == person.rater_id),
        ]
    for noun in imported:
        t = table(noun)
        conditions.append(
            (t, and_(t.c.scorer.in_(names(person.code)), t.c.scorer_kind.in_(PEOPLE)))
        )
    return conditions


def count_rows(connection: Connection, person: Person) -> dict[str, int]:
    """Return how many rows of each table are about a person; tables without any are left out."""
    counts = {
        t.name: int(
            connection.execute(select(func.count()).select_from(t).where(where)).scalar_one()
        )
        for t, where in rows_of(person)
    }
    return {name: count for name, count in counts.items() if count}
