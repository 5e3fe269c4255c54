"""Preferences side by side: in a row, which of two responses a judge and a person prefer."""

from __future__ import annotations

from dataclasses import dataclass

from study.importing.readers.column_layout import compares_responses
from study.importing.readers.input_file import Record
from study.importing.readers.source import RecordSource
from study.importing.readers.value_words import folded_word, is_missing
from study.importing.score_columns.names import kind_of, named_for, words
from study.importing.score_columns.rater_rows import RaterRows, rater_rows

_NOUNS = ("", "response", "answer", "output", "model", "assistant", "system", "option")
_OF_A = (*(f"{noun} a" for noun in _NOUNS), "left", "first", "A>B", "A>>B", "A is better", "A wins")
_OF_B = (*(f"{noun} b" for noun in _NOUNS), "right", "second", "B>A", "B>>A", "B is better")
# These are said of preferences alone, unlike both of left and right.
_TIES = ("tie", "tied", "draw", "tie (bothbad)", "tie (both bad)", "A=B", "no preference")
_OF_TIES = (*_TIES, "equal", "same", "both", "neither", "both good", "both bad", "equally good")
_VALUES = {
    folded_word(word): value
    for value, of_value in ((-1.0, _OF_A), (0.0, _OF_TIES), (1.0, (*_OF_B, "B wins")))
    for word in of_value
}
# Columns of A and B with one of these words have preferences.
_WORDS = {
    *("preference", "preferences", "preferred", "prefers", "prefer", "winner", "winners", "wins"),
    *("better", "choice", "chosen", "pick", "picked"),
}


@dataclass(frozen=True)
class PreferenceColumns:
    """The columns of a table with preferences of judges and of people."""

    scorers: dict[str, str]
    """Column to judge or human."""
    query: str | None
    raters: RaterRows | None = None
    """How rows of several raters are told apart, each with the judge's preference again."""

    def __str__(self) -> str:
        listed = "; ".join(
            f"{noun}: {', '.join(c for c, kind in self.scorers.items() if kind == role)}"
            for noun, role in (("judge", "judge"), ("people", "human"))
        )
        query = "each row is a separate query" if self.query is None else f"query: {self.query}"
        if self.raters is not None:
            query += (
                f"; raters: {self.raters.rater}, with the judge's preference once for each pair"
            )
        return f"{listed}; each row compares two responses, A and B; {query}"


def preference_columns(source: RecordSource) -> PreferenceColumns | None:
    """Return the columns with preferences of judges and of people; None for another table.

    Their cells are A, B and words for a tie. What they are is told by their names, by columns
    response_a and response_b, or by a tie.
    """
    present = source.head.columns
    kinds = {c: kind[0] for c in present if (kind := kind_of(c)) is not None}
    if set(kinds.values()) != {"judge", "human"}:
        return None
    cells = _texts(source, kinds)
    pairs = compares_responses(present)
    named = {c: kind for c, kind in kinds.items() if set(words(c)) & _WORDS}
    if pairs and set(named.values()) == {"judge", "human"}:
        return _columns(source, named)
    chosen = {c: kind for c, kind in kinds.items() if cells[c] and _all_known(cells[c])}
    if set(chosen.values()) != {"judge", "human"}:
        return None
    sure = set(map(folded_word, _TIES))
    ties = any(folded_word(text.strip("[]* ")) in sure for c in chosen for _, text in cells[c])
    told = set(chosen) <= set(named) or pairs or ties
    return _columns(source, chosen) if told else None


def _texts(source: RecordSource, columns: dict[str, str]) -> dict[str, list[tuple[int, str]]]:
    """Row and text of the cells that have a preference, by column."""
    texts: dict[str, list[tuple[int, str]]] = {column: [] for column in columns}
    for record in source.peeked():
        if isinstance(record, Record):
            for column in columns:
                text = str(record.cells.get(column) or "").strip()
                if text and (preference_in(text) is not None or not is_missing(text)):
                    texts[column].append((record.number, text))
    return texts


def _all_known(cells: list[tuple[int, str]]) -> bool:
    return all(preference_in(text) is not None for _, text in cells)


def preference_in(text: str) -> float | None:
    """Return -1 for A, 0 for a tie and 1 for B."""
    return _VALUES.get(folded_word(text.strip("[]* ")))


def _columns(source: RecordSource, scorers: dict[str, str]) -> PreferenceColumns:
    present = source.head.columns
    judges, people = ([c for c, of in scorers.items() if of == kind] for kind in ("judge", "human"))
    queries = named_for("query", present)
    query = next(iter((*queries, *named_for("id", present))), None)
    rows = (record.cells for record in source.peeked() if isinstance(record, Record))
    identifying = dict(zip(["query"], queries, strict=False))
    raters = rater_rows(present, rows, judges, people, identifying) if len(people) == 1 else None
    return PreferenceColumns(scorers, query, raters)
