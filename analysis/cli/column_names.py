"""What the names of a table's columns say: whose scores they have, on what, of which row."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

Pair = tuple[tuple[str, ...], tuple[str, ...]]
"""Columns of judges and of raters, as COLUMN or CONSTRUCT=COLUMN."""

_JUDGE = {
    "judge", "llm", "gpt", "claude", "gemini", "gemma", "llama", "mistral", "qwen", "deepseek", "ai"
}  # fmt: skip
_HUMAN = {
    "human", "humans", "rater", "raters", "annotator", "annotators", "expert", "experts", "people",
    "person", "manual", "reviewer", "assessor",
}  # fmt: skip
_FILLERS = {"score", "scores", "rating", "ratings", "value", "label", "grade"}
# With one of these words a column of a judge or rater has something else than scores.
_NO_SCORES = {
    "id", "ids", "index", "idx", "time", "times", "timestamp", "date", "duration", "latency",
    "seconds", "secs", "sec", "ms", "minutes", "tokens", "cost", "costs", "price", "usd",
    "confidence", "conf", "logprob", "logprobs", "count", "num", "length", "words", "chars", "std",
    "sd", "stdev", "stderr", "se", "variance", "var", "seed", "temperature", "version", "age",
}  # fmt: skip
# A column of what several raters or judges gave together, where they have columns themselves.
_SUMMARIES = {"avg", "average", "mean", "median", "sum", "consensus", "majority"}
_IDENTIFYING = {
    "id": ("response_id", "id", "item_id"),
    "query": (
        "query_id", "question_id", "prompt_id", "qid", "query", "question", "prompt", "user_input",
        "input", "instruction",
    ),
    "system": ("system", "model"),
    "construct": ("construct", "criterion", "aspect", "dimension"),
}  # fmt: skip
# Columns of an index, which pandas and spreadsheets write, and fields of the project's own tables.
_OTHER_FIELDS = {
    "", "index", "unnamed:_0", "column_1", "row", "repeat", "inclusion_prob", "stratum",
    "response_words", "position", "domain",
}  # fmt: skip


def identifying_columns(columns: Sequence[str]) -> dict[str, str]:
    """Columns with the id, the query, the system and the construct of a row, as far as present."""
    by_fold = {_folded(column): column for column in reversed(columns)}
    return {
        role: by_fold[found]
        for role, names in _IDENTIFYING.items()
        if (found := next((name for name in names if name in by_fold), None)) is not None
    }


def is_other_field(column: str) -> bool:
    """Whether a column has a known content that is not a score, even where it is a number."""
    from study.importing.formats import responses

    fields = (*_IDENTIFYING.values(), *responses.FIELDS.values())
    return _folded(column) in {*_OTHER_FIELDS, *(name for names in fields for name in names)}


def is_of_judge(column: str) -> bool:
    """Whether the name has a word for judges, such as llm or gpt4."""
    return any(_is(word, _JUDGE) for word in _words(column))


def is_of_rater(column: str) -> bool:
    """Whether the name has a word for people who rate."""
    return any(_is(word, _HUMAN) for word in _words(column))


def is_no_score(column: str) -> bool:
    """Whether the name has a word for something else than a score, such as llm_tokens."""
    return any(word.casefold() in _NO_SCORES for word in _words(column))


def summaries(columns: Sequence[str]) -> list[str]:
    """The columns that are named after a mean or the like, where others are not."""
    found = [
        column
        for column in columns
        if any(word.casefold() in _SUMMARIES for word in _words(column))
    ]
    return found if len(found) < len(columns) else []


def by_construct(judges: Sequence[str], raters: Sequence[str]) -> Pair | None:
    """The columns with their constructs, if they have any; None where these are not clear."""
    of_judges, of_raters = (
        {_rest(name).casefold() for name in names} for names in (judges, raters)
    )
    shared = (of_judges & of_raters) - {""}
    if not shared or (len(of_judges) == 1 and of_judges == of_raters):
        return tuple(judges), tuple(raters)
    # One letter may also number judges and raters: judge_a, judge_b.
    if of_judges != of_raters or "" in of_judges or all(len(rest) == 1 for rest in shared):
        return None
    written = _written(judges)
    return _with_constructs(judges, written), _with_constructs(raters, written)


def paired_with(judges: Sequence[str], others: Sequence[str]) -> Pair | None:
    """Columns by the constructs of `judges` that the names of `others` contain, for an example.

    None where judges have no constructs, or no other column has any of them.
    """
    constructs = _written(judges)
    if (
        "" in constructs
        or len(constructs) < len(judges)
        or all(len(key) == 1 for key in constructs)
    ):
        return None
    found = {
        name: next((key for key in constructs if f"_{key}_" in f"_{_folded(name)}_"), None)
        for name in others
    }
    if not any(found.values()):
        return None
    pairs = [
        f"{_rest(name) or 'CONSTRUCT' if key is None else constructs[key]}={name}"
        for name, key in found.items()
    ]
    return _with_constructs(judges, constructs), tuple(pairs)


def _written(columns: Sequence[str]) -> dict[str, str]:
    """Constructs as they are written in the names of columns, by their names in lower case."""
    return {_rest(name).casefold(): _rest(name) for name in reversed(columns)}


def _with_constructs(columns: Sequence[str], written: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"{written[_rest(name).casefold()]}={name}" for name in columns)


def _folded(column: str) -> str:
    """A name as names of fields are written: Question ID as question_id."""
    return re.sub(r"[\s-]+", "_", column.strip()).casefold()


def _words(column: str) -> list[str]:
    """The words of a name; llmScore has two."""
    words = []
    for word in re.split(r"[^0-9A-Za-z]+", column):
        parts = re.split(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", word)
        words += [word] if _is(word, _JUDGE | _HUMAN) else [part for part in parts if part]
    return words


def _is(word: str, names: set[str]) -> bool:
    folded = word.casefold()
    return folded in names or folded.rstrip("0123456789") in names


def _rest(column: str) -> str:
    """The construct in a column's name: what is left without judges, raters, scores and numbers.

    The constructs of CCRS have their keys, whatever case they are written in.
    """
    from study.settings.constructs import CCRS

    kept = [
        word
        for word in _words(column)
        if word.strip("0123456789") and not _is(word, _JUDGE | _HUMAN | _FILLERS)
    ]
    keys = {spec.key.casefold(): spec.key for spec in CCRS}
    keys |= {_folded(spec.name): spec.key for spec in CCRS}
    rest = "_".join(kept)
    return keys.get(rest.casefold(), rest)
