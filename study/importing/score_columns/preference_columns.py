"""Preferences side by side: in a row, which of two responses a judge and a person prefer."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from study.errors import Fault
from study.importing.readers.cells import looks_like_number
from study.importing.readers.column_layout import compares_responses
from study.importing.readers.input_file import Record
from study.importing.readers.source import RecordSource
from study.importing.readers.value_words import folded_word, is_missing
from study.importing.score_columns.judgment_table import RaterRows, rater_rows
from study.importing.score_columns.names import field_name, kind_of, named_for, words
from study.importing.score_columns.words import FILLERS
from study.text import quoted_names

# With one of these a value names a response: model_a, Response 2.
_RESPONSES = ("response", "answer", "output", "model", "assistant", "completion", "candidate")
_NOUNS = ("", *_RESPONSES, "system", "option")
_OF_A = ("win", "wins", "won", "left", "first", "A>B", "A>>B", "A is better", "A wins", "A better")
_OF_B = (
    "lose",
    "loses",
    "loss",
    "lost",
    "right",
    "second",
    "B>A",
    "B>>A",
    "B is better",
    "B wins",
    "B better",
)
# These are said of preferences alone, unlike both of left and right.
_TIES = ("tie", "tied", "draw", "tie (bothbad)", "tie (both bad)", "A=B", "no preference",
         "both bad", "both good", "equally good", "equally bad")  # fmt: skip
_OF_TIES = (*_TIES, "equal", "same", "about the same", "the same", "roughly the same", "both",
            "neither", "no difference", "similar", "both are good", "both are bad")  # fmt: skip


def _named(nouns: Iterable[str], *which: str) -> set[str]:
    return {f"{noun} {one}".strip() for noun in nouns for one in which}


def _valued(choices: Iterable[str], value: float) -> dict[str, float]:
    return {folded_word(word): value for word in choices}


_VALUES = {
    **_valued((*_named(_NOUNS, "a"), *_named(_NOUNS[1:], "1"), *_OF_A), -1.0),
    **_valued((*_named(_NOUNS, "b"), *_named(_NOUNS[1:], "2"), *_OF_B), 1.0),
    **_valued(_OF_TIES, 0.0),
}
# In columns that are called preferences, or beside the two responses.
_NUMBERS = {"1": -1.0, "2": 1.0, "1.0": -1.0, "2.0": 1.0}
_SURE = {folded_word(word) for word in (*_TIES, *_named(_RESPONSES, "a", "b", "1", "2"))}
_SURE_TIES = {folded_word(word) for word in _TIES}


def _side(group: str) -> str:
    """The pattern of a side, such as "the second answer", which is captured as `group`."""
    return (
        rf"(?:the )?(?:(?:{'|'.join((*_RESPONSES, 'system', 'option', 'text'))}) )?"
        rf"(?P<{group}>a|b|1|2|left|right|first|second)(?: (?:one|response|answer|option))?"
    )


_DEGREE = (
    "(?:much|far|slightly|somewhat|clearly|strongly|marginally|significantly|a bit|a lot|a little)"
)
# "Response A is much better", "strongly prefer B".
_SENTENCE = re.compile(
    rf"{_side('better')} (?:is |was )?(?:{_DEGREE} )?(?:better|preferred|preferable|"
    rf"superior|stronger|wins|won)|(?:i )?(?:{_DEGREE} )?prefer(?:red|s)? "
    rf"{_side('preferred')}",
    re.IGNORECASE,
)
_FIRST = {"a", "1", "left", "first"}
# Columns of A and B with one of these words have preferences.
_WORDS = {
    *("preference", "preferences", "preferred", "prefers", "prefer", "winner", "winners", "wins"),
    *("better", "choice", "chosen", "pick", "picked"),
}
# A column with one of these words says that a row compares two responses.
_COMPARISONS = {"pair", "pairs", "comparison", "comparisons", "battle", "matchup", "duel"}

# So many values are listed.
_MOST = 6

HOW_TO_WRITE = (
    "Preferences are read from columns that are called after who chose, such as human_preference "
    "and judge_preference, with A, B and tie"
)


@dataclass(frozen=True)
class PreferenceColumns:
    """The columns of a table with preferences of judges and of people."""

    scorers: dict[str, str]
    """Column to judge or human."""
    query: str | None
    raters: RaterRows | None = None
    """How rows of several raters are distinguished, each with the judge's preference again."""
    pair: tuple[str, str] | None = None
    """Columns that name what was compared, as A and as B, where preferences name one of them."""
    winners: tuple[str, str] | None = None
    """What the preferences call A and B, where these are two names: gpt4 wins, claude wins."""

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
        a, b = self.winners or ("A", "B")
        return f"{listed}; each row compares two responses, {a} and {b}; {query}"


def preference_columns(source: RecordSource) -> PreferenceColumns | None:
    """Return the columns with preferences of judges and of people; None for another table.

    Their cells are A, B and words for a tie. What they are is told by their names, by columns such
    as response_a or pair_id, by values that name a response, or by a tie.
    """
    return preferences_among(source.head.columns, source.peeked)


def preferences_among(
    present: Sequence[str], rows: Callable[[], Iterable[Record]]
) -> PreferenceColumns | None:
    """Return the columns with preferences of a table whose `rows` begin anew with each call."""
    kinds = {c: kind[0] for c in present if (kind := kind_of(c)) is not None}
    alone = [c for c in present if is_choice(c) and not set(words(c)) - _WORDS - FILLERS]
    if len(alone) == 1 and len(set(kinds.values())) == 1:
        # winner beside gpt4_winner
        if not any(is_choice(column) for column in kinds):
            return None
        kinds |= {alone[0]: "human" if "judge" in kinds.values() else "judge"}
    if set(kinds.values()) != {"judge", "human"}:
        return None
    pair = _pair(present)
    cells = _texts(rows(), kinds, pair)
    winners = None if pair else _winners(cells)
    if winners is not None:
        cells = _texts(rows(), kinds, pair, winners)
    pairs = compares_responses(present)
    named = {c: kind for c, kind in kinds.items() if is_choice(c)}
    if pairs and set(named.values()) == {"judge", "human"}:
        return _columns(present, rows, named, winners)
    chosen = {c: kind for c, kind in kinds.items() if cells[c] and _all_known(cells[c])}
    if set(chosen.values()) != {"judge", "human"}:
        return None
    texts = {folded_word(text.strip("[]* ")) for column in chosen for _, text in cells[column]}
    told = set(chosen) <= set(named) or pairs
    if not texts & set(_NUMBERS):
        told = told or bool(texts & _SURE) or any(compares_pairs(column) for column in present)
        told = told or any(_SENTENCE.fullmatch(text) for c in chosen for _, text in cells[c])
    told = told or bool(texts & _SURE_TIES) or winners is not None
    return _columns(present, rows, chosen, winners) if told else None


def is_choice(column: str) -> bool:
    """Whether a column is called after a choice between two responses."""
    return bool(set(words(column)) & _WORDS)


def compares_pairs(column: str) -> bool:
    """Whether a column is called after pairs: pair_id."""
    return bool(set(words(column)) & _COMPARISONS)


def unclear_choices(present: Sequence[str], rows: Iterable[Record]) -> Fault | None:
    """Return why the choices of a table cannot be read: nothing tells who chose."""
    named = [column for column in present if is_choice(column)]
    for column, cells in _texts(rows, named).items():
        texts = {folded_word(text.strip("[]* ")): text for _, text in cells}
        if texts.keys() & _SURE and texts.keys() <= _VALUES.keys():
            scorer = next(iter(named_for("scorer", present)), None)
            in_rows = (
                f" In pandas: frame.pivot(index=[...], columns={scorer!r}, values={column!r})."
                if scorer is not None
                else ""
            )
            return Fault(
                f"the column {column!r} has choices between two responses "
                f"({quoted_names(sorted(texts.values()))}), and no columns have those of people "
                "beside those of a judge.",
                f"{HOW_TO_WRITE}.{in_rows}",
            )
    return None


def perhaps_choices(present: Sequence[str], scored: Sequence[str], texts: Set[str]) -> str | None:
    """Return a warning on values that may be choices between two responses; None for others."""
    folded = {folded_word(text) for text in texts if not is_missing(text)}
    chosen = all(map(is_choice, scored))
    in_words = len(folded) > 1 and (
        folded <= _VALUES.keys() or (chosen and not any(map(looks_like_number, texts)))
    )
    called = chosen or any(map(compares_pairs, present))
    numbers = len(folded) > 1 and folded <= {"-1", "0", "1", "2", "-1.0", "0.0", "1.0", "2.0"}
    if not (in_words or (called and numbers)):
        return None
    listed = quoted_names(sorted(texts)[:_MOST])
    return f"{listed} may be choices between two responses. {HOW_TO_WRITE}"


def _pair(present: Sequence[str]) -> tuple[str, str] | None:
    """The columns that name the two responses of a row, or their systems: model_a and model_b."""
    by_name = {field_name(column): column for column in present}
    for noun in (*_RESPONSES, "system"):
        for a, b in (("a", "b"), ("1", "2")):
            first, second = by_name.get(f"{noun}_{a}"), by_name.get(f"{noun}_{b}")
            if first is not None and second is not None:
                return first, second
    return None


def by_place(
    text: str,
    cells: Mapping[str, Any],
    pair: tuple[str, str] | None,
    winners: tuple[str, str] | None = None,
) -> str:
    """Return A or B for a text that is what a row names as A or as B; other texts as they are.

    `winners` are the names of A and B in all rows, where `pair` names no columns with them.
    """
    named = [str(cells.get(column)).strip() for column in pair or ()] or [*(winners or ())]
    won = _WINS.fullmatch(text)
    for name in (text, *([won["name"]] if won else [])):
        if name in named and named[0] != named[1]:
            return "AB"[named.index(name)]
    return text


# "gpt4 wins": what won is named before it.
_WINS = re.compile(r"(?P<name>\S.*?) (?:wins|won|is better|was better|better)", re.IGNORECASE)
# "Much better" names nothing.
_NO_NAME = re.compile(rf"{_DEGREE}|even|no|not|getting|is|was|very|(?:quite )?a bit", re.IGNORECASE)


def _winners(cells: Mapping[str, Iterable[tuple[int, str]]]) -> tuple[str, str] | None:
    """The two names that win in the cells of all these columns, in alphabetical order.

    In columns that are called winner and the like they stand alone, beside ties.
    """
    texts = {text for of_column in cells.values() for _, text in of_column}
    others = {text for text in texts if preference_in(text) is None}
    names = {found["name"] for text in others if (found := _WINS.fullmatch(text)) is not None}
    tied = any(folded_word(text) in _SURE_TIES for text in texts)
    if not names and tied and all(map(is_choice, cells)):
        names = others
    a, b = (*sorted(names), "", "")[:2]
    return (a, b) if len(names) == 2 and not any(map(_NO_NAME.fullmatch, names)) else None


def ambiguous(text: str, cells: Mapping[str, Any], pair: tuple[str, str] | None) -> Fault | None:
    """Return the fault of a choice whose response by its name is not the one by its place.

    So it is with B where A is a system called B.
    """
    by_name = by_place(text, cells, pair)
    if by_name == text or pair is None:
        return None
    in_words = preference_in(text)
    if in_words is None or in_words == preference_in(by_name):
        return None
    meant = "a tie" if in_words == 0 else f"{pair[in_words > 0]} by its place"
    return Fault(
        f"{text!r} is ambiguous: it is the name of {pair[by_name == 'B']} here, and may mean "
        f"{meant}.",
        f"Give what is compared in {pair[0]} and {pair[1]} other names than A, B, 1, 2 or a word "
        "for a tie, and write these names as preferences.",
    )


def _texts(
    rows: Iterable[Record],
    columns: Iterable[str],
    pair: tuple[str, str] | None = None,
    winners: tuple[str, str] | None = None,
) -> dict[str, list[tuple[int, str]]]:
    """Row and text of the cells that have a preference, by column."""
    texts: dict[str, list[tuple[int, str]]] = {column: [] for column in columns}
    for record in rows:
        for column, found in texts.items():
            cell = record.cells.get(column)
            text = "" if cell is None or cell != cell else str(cell).strip()  # noqa: PLR0124
            text = by_place(text, record.cells, pair, winners)
            if text and (preference_in(text) is not None or not is_missing(text)):
                found.append((record.number, text))
    return texts


def _all_known(cells: list[tuple[int, str]]) -> bool:
    return all(preference_in(text) is not None for _, text in cells)


def preference_in(text: str) -> float | None:
    """Return -1 for A, 0 for a tie and 1 for B."""
    word = folded_word(text.strip("[]* "))
    known = _VALUES.get(word, _NUMBERS.get(word))
    if known is not None:
        return known
    found = _SENTENCE.fullmatch(text.strip("[]* .!"))
    if found is None:
        return None
    side = (found["better"] or found["preferred"]).casefold()
    return -1.0 if side in _FIRST else 1.0


def _columns(
    present: Sequence[str],
    rows: Callable[[], Iterable[Record]],
    scorers: dict[str, str],
    winners: tuple[str, str] | None,
) -> PreferenceColumns:
    judges, people = ([c for c, of in scorers.items() if of == kind] for kind in ("judge", "human"))
    queries = named_for("query", present)
    ids = [*named_for("id", present), *filter(compares_pairs, present)]
    query = next((c for c in (*queries, *ids) if c not in scorers), None)
    cells = (record.cells for record in rows())
    identifying = dict(zip(["query"], queries, strict=False))
    raters = rater_rows(present, cells, judges, people, identifying) if len(people) == 1 else None
    return PreferenceColumns(scorers, query, raters, _pair(present), winners)
