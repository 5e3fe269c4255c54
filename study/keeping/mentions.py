"""Where rows of other tables speak of a person: looks, imported files, what a pause says."""

import re
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, select, update

from study.nouns import ImportedFile, Look, Noun, Pause, table

GONE = "(erased)"


def word_of(code: str, *, in_a_name: bool = False) -> re.Pattern[str]:
    """Return what finds a code as a word of its own: rater-1, but not in rater-10 or rater-1-b.

    In the name of a file it may be joined to other words: ratings_anna-2.csv.
    """
    if in_a_name:
        return re.compile(rf"(?<![^\W_]){re.escape(code)}(?![^\W_])")
    return re.compile(rf"(?<![\w-]){re.escape(code)}(?![\w-])")


def mentions(connection: Connection, code: str) -> dict[str, list[dict[str, Any]]]:
    """Return the rows that speak of a person, by table."""
    found: dict[str, list[dict[str, Any]]] = {}
    for noun, columns in _SPEAKING.items():
        t = table(noun)
        rows = [dict(row._mapping) for row in connection.execute(select(t).order_by(t.c.id))]
        speaking = [
            row for row in rows if any(_speaks(row[name], _word(code, name)) for name in columns)
        ]
        if speaking:
            found[t.name] = speaking
    return found


def reword(connection: Connection, code: str, alias: str | None) -> dict[str, int]:
    """Let those rows speak of `alias` instead, or, without one, take out what is about the person.

    A look stays, since a design is sequential from it on. The caller has lifted the triggers.
    """

    def anew(value: Any, column: str) -> Any:
        word = _word(code, column)
        return _renamed(value, word, alias) if alias is not None else _without(value, code, word)

    counts = {}
    for name, rows in mentions(connection, code).items():
        noun = next(noun for noun in _SPEAKING if table(noun).name == name)
        t = table(noun)
        for row in rows:
            changed = {column: anew(row[column], column) for column in _SPEAKING[noun]}
            connection.execute(update(t).where(t.c.id == row["id"]).values(**changed))
        counts[name] = len(rows)
    return counts


_SPEAKING: dict[type[Noun], tuple[str, ...]] = {
    Look: ("result",),
    ImportedFile: ("name", "options", "counts"),
    Pause: ("message",),
}


def _word(code: str, column: str) -> re.Pattern[str]:
    return word_of(code, in_a_name=column == "name")


def _speaks(value: Any, word: re.Pattern[str]) -> bool:
    if isinstance(value, dict):
        return any(word.search(str(key)) or _speaks(inner, word) for key, inner in value.items())
    if isinstance(value, list):
        return any(_speaks(inner, word) for inner in value)
    return isinstance(value, str) and word.search(value) is not None


def _renamed(value: Any, word: re.Pattern[str], alias: str) -> Any:
    return _mapped(value, lambda text: word.sub(lambda _: alias, text))


def _without(value: Any, code: str, word: re.Pattern[str]) -> Any:
    """Return a value without the entries under a code, and without the records that bear it."""
    if isinstance(value, dict):
        kept = {k: v for k, v in value.items() if k != code}
        return {
            word.sub(GONE, str(k)): _without(v, code, word) for k, v in kept.items() if v != code
        }
    if isinstance(value, list):
        return [
            _without(one, code, word)
            for one in value
            if one != code and not (isinstance(one, dict) and code in _scalars(one))
        ]
    return word.sub(GONE, value) if isinstance(value, str) else value


def _scalars(record: dict[str, Any]) -> list[Any]:
    return [value for value in record.values() if isinstance(value, str)]


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {change(str(key)): _mapped(inner, change) for key, inner in value.items()}
    if isinstance(value, list):
        return [_mapped(inner, change) for inner in value]
    return change(value) if isinstance(value, str) else value
