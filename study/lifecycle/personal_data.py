"""The rows of a study that are about a person, and records of other tables that mention them."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, and_, func, select, update

from study.errors import StudyError, nearest
from study.facts.scorers import ADJUDICATED
from study.schema import (
    Assignment,
    ClosingAnswer,
    Comparison,
    Consent,
    Decision,
    Departure,
    Enrolment,
    ExternalRater,
    ImportedFile,
    InterimAnalysis,
    Invitation,
    Noun,
    OpenedPassage,
    Pause,
    Preference,
    Rater,
    Rating,
    RejectedValue,
    Reveal,
    Score,
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
    """Null: the person has imported values only."""
    public_id: str | None = None


def names(code: str) -> tuple[str, str]:
    """Return the names of a person in tables: as rater and as adjudicator."""
    return code, f"{code}{ADJUDICATED}"


def people(connection: Connection) -> dict[str, Person]:
    """Return all people about whom the study stores data, by code."""
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
    on_assignments: tuple[type[Noun], ...] = (Rating, Reveal, OpenedPassage)
    of_raters: tuple[type[Noun], ...] = (
        *(ClosingAnswer, Consent, Departure, ExternalRater, Enrolment, Invitation, RejectedValue),
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
    for noun, columns in _MENTIONING.items():
        t = table(noun)
        rows = [dict(row._mapping) for row in connection.execute(select(t).order_by(t.c.id))]
        mentioning = [row for row in rows if _mentioned_in_row(noun, row, columns, code)]
        if mentioning:
            rows_by_table[t.name] = mentioning
    return rows_by_table


def pseudonymize(connection: Connection, code: str, alias: str | None) -> dict[str, int]:
    """Replace a person's code by `alias` in these rows or, without one, remove what is about them.

    An interim analysis stays, since a design is sequential from it on. The caller has lifted the
    triggers.
    """

    def renamed(value: Any, column: str) -> Any:
        word = _word(code, column)
        if column == "result":
            return _result_renamed(value, code, alias)
        return _renamed(value, word, alias) if alias is not None else _without(value, code, word)

    counts = {}
    for name, rows in mentions(connection, code).items():
        noun = next(noun for noun in _MENTIONING if table(noun).name == name)
        t = table(noun)
        for row in rows:
            changed = {column: renamed(row[column], column) for column in _MENTIONING[noun]}
            connection.execute(update(t).where(t.c.id == row["id"]).values(**changed))
        counts[name] = len(rows)
    return counts


_MENTIONING: dict[type[Noun], tuple[str, ...]] = {
    InterimAnalysis: ("result",),
    ImportedFile: ("name", "options", "counts"),
    Pause: ("message",),
}


# Where the result of an interim analysis names people, and where it has words that may. Everything
# else is terms and numbers, among which a code such as 1 or QR means something else.
_NAMES = frozenset({"scorers", "rater", "raters"})
_WORDS = frozenset({"note", "reason", "words"})


def _result_mentions(value: Any, code: str, key: str = "") -> bool:
    if isinstance(value, dict):
        return any(_result_mentions(inner, code, str(name)) for name, inner in value.items())
    if isinstance(value, list):
        return any(_result_mentions(inner, code, key) for inner in value)
    if not isinstance(value, str):
        return False
    in_words = key in _WORDS and word_of(code).search(value) is not None
    return in_words or (key in _NAMES and value in names(code))


def _result_renamed(value: Any, code: str, alias: str | None, key: str = "") -> Any:
    """Return a result in which a person has another name, or without the records about them."""
    if isinstance(value, dict):
        return {
            name: _result_renamed(inner, code, alias, str(name)) for name, inner in value.items()
        }
    if isinstance(value, list):
        kept = [entry for entry in value if alias is not None or not _is_of(entry, code, key)]
        return [_result_renamed(entry, code, alias, key) for entry in kept]
    if key in _NAMES and value in names(code):
        return ERASED if alias is None else names(alias)[names(code).index(value)]
    if key in _WORDS and isinstance(value, str):
        return word_of(code).sub(lambda _: alias or ERASED, value)
    return value


def _is_of(entry: Any, code: str, key: str) -> bool:
    """Return whether an entry of a list is a person's name, or a record of theirs alone."""
    if isinstance(entry, dict):
        named = entry.get("scorers") or [entry.get("rater")]
        return len(named) == 1 and named[0] in names(code)
    return key in _NAMES and entry in names(code)


def _mentioned_in_row(
    noun: type[Noun], row: dict[str, Any], columns: tuple[str, ...], code: str
) -> bool:
    if noun is InterimAnalysis:
        return _result_mentions(row["result"], code)
    return any(_mentions_code(row[name], _word(code, name)) for name in columns)


def _word(code: str, column: str) -> re.Pattern[str]:
    return word_of(code, in_a_name=column == "name")


def _mentions_code(value: Any, word: re.Pattern[str]) -> bool:
    if isinstance(value, dict):
        return any(
            word.search(str(key)) or _mentions_code(inner, word) for key, inner in value.items()
        )
    if isinstance(value, list):
        return any(_mentions_code(inner, word) for inner in value)
    return isinstance(value, str) and word.search(value) is not None


def _renamed(value: Any, word: re.Pattern[str], alias: str) -> Any:
    return _mapped(value, lambda text: word.sub(lambda _: alias, text))


def _without(value: Any, code: str, word: re.Pattern[str]) -> Any:
    """Return a value without the entries under a code, and without the records that bear it."""
    if isinstance(value, dict):
        kept = {k: v for k, v in value.items() if k != code}
        return {
            word.sub(ERASED, str(k)): _without(v, code, word) for k, v in kept.items() if v != code
        }
    if isinstance(value, list):
        return [
            _without(entry, code, word)
            for entry in value
            if entry != code and not (isinstance(entry, dict) and code in _scalars(entry))
        ]
    return word.sub(ERASED, value) if isinstance(value, str) else value


def _scalars(record: dict[str, Any]) -> list[Any]:
    return [value for value in record.values() if isinstance(value, str)]


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {change(str(key)): _mapped(inner, change) for key, inner in value.items()}
    if isinstance(value, list):
        return [_mapped(inner, change) for inner in value]
    return change(value) if isinstance(value, str) else value
