"""Where rows of other tables speak of a person: interim analyses, imported files, pauses."""

import re
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, select, update

from study.lifecycle.personal_data import names
from study.schema import ImportedFile, InterimAnalysis, Noun, Pause, table

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
    rows_by_table: dict[str, list[dict[str, Any]]] = {}
    for noun, columns in _SPEAKING.items():
        t = table(noun)
        rows = [dict(row._mapping) for row in connection.execute(select(t).order_by(t.c.id))]
        speaking = [row for row in rows if _row_speaks(noun, row, columns, code)]
        if speaking:
            rows_by_table[t.name] = speaking
    return rows_by_table


def pseudonymize(connection: Connection, code: str, alias: str | None) -> dict[str, int]:
    """Let those rows speak of `alias` instead, or, without one, take out what is about the person.

    An interim analysis stays, since a design is sequential from it on. The caller has lifted the
    triggers.
    """

    def anew(value: Any, column: str) -> Any:
        word = _word(code, column)
        if column == "result":
            return _result_anew(value, code, alias)
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
    InterimAnalysis: ("result",),
    ImportedFile: ("name", "options", "counts"),
    Pause: ("message",),
}


# Where the result of an interim analysis names people, and where it has words that may. Everything
# else is terms and numbers, among which a code such as 1 or QR means something else.
_NAMES = frozenset({"scorers", "rater", "raters"})
_WORDS = frozenset({"note", "reason", "words"})


def _result_speaks(value: Any, code: str, key: str = "") -> bool:
    if isinstance(value, dict):
        return any(_result_speaks(inner, code, str(name)) for name, inner in value.items())
    if isinstance(value, list):
        return any(_result_speaks(inner, code, key) for inner in value)
    if not isinstance(value, str):
        return False
    in_words = key in _WORDS and word_of(code).search(value) is not None
    return in_words or (key in _NAMES and value in names(code))


def _result_anew(value: Any, code: str, alias: str | None, key: str = "") -> Any:
    """Return a result in which a person has another name, or without the records about them."""
    if isinstance(value, dict):
        return {name: _result_anew(inner, code, alias, str(name)) for name, inner in value.items()}
    if isinstance(value, list):
        kept = [entry for entry in value if alias is not None or not _is_of(entry, code, key)]
        return [_result_anew(entry, code, alias, key) for entry in kept]
    if key in _NAMES and value in names(code):
        return GONE if alias is None else names(alias)[names(code).index(value)]
    if key in _WORDS and isinstance(value, str):
        return word_of(code).sub(lambda _: alias or GONE, value)
    return value


def _is_of(entry: Any, code: str, key: str) -> bool:
    """Say whether an entry of a list is a person's name, or a record of theirs alone."""
    if isinstance(entry, dict):
        named = entry.get("scorers") or [entry.get("rater")]
        return len(named) == 1 and named[0] in names(code)
    return key in _NAMES and entry in names(code)


def _row_speaks(noun: type[Noun], row: dict[str, Any], columns: tuple[str, ...], code: str) -> bool:
    if noun is InterimAnalysis:
        return _result_speaks(row["result"], code)
    return any(_speaks(row[name], _word(code, name)) for name in columns)


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
            _without(entry, code, word)
            for entry in value
            if entry != code and not (isinstance(entry, dict) and code in _scalars(entry))
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
