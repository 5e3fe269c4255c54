"""The scorer and the construct of each column, from what the columns are called."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from study.importing.score_columns.named_columns import parts

ONLY_CONSTRUCT = "score"
"""The construct of a table that names none."""

ColumnNames = str | Sequence[str] | Mapping[str, str | Sequence[str]]
"""A column, several, or columns by construct."""


class ScorerColumn(NamedTuple):
    """A column of values: whose they are, and the construct, unless rows name it."""

    kind: str
    construct: str
    column: str


class UnnamedConstructError(ValueError):
    """Some columns are named with a construct, and others without one."""


def columns_by_construct(texts: Sequence[str], present: Sequence[str]) -> ColumnNames:
    """Return columns, or columns by construct where texts are CONSTRUCT=COLUMN.

    Raises
    ------
    UnnamedConstructError
        Some texts name a construct, and others do not.
    """
    by_construct: dict[str, list[str]] = {}
    plain = []
    for text in texts:
        construct, column = parts(text, present)
        if construct is None:
            plain.append(column)
        else:
            by_construct.setdefault(construct, []).append(column)
    if plain and by_construct:
        raise UnnamedConstructError(
            f"name the construct of every column; {plain[0]!r} is without one"
        )
    return by_construct or plain


def scorer_columns(
    judge: ColumnNames, human: ColumnNames, construct: str | None = None
) -> Iterator[ScorerColumn]:
    """Yield every column with values; `construct` is the column with the construct of each row.

    Raises
    ------
    UnnamedConstructError
        Columns are named by construct on one side only, or although rows name it.
    """
    by_construct = [isinstance(names, Mapping) for names in (judge, human)]
    if any(by_construct) and (construct is not None or not all(by_construct)):
        raise UnnamedConstructError(
            "name the columns of judge and human both by construct, or neither"
        )
    for kind, names in (("judge", judge), ("human", human)):
        constructs = names if isinstance(names, Mapping) else {ONLY_CONSTRUCT: names}
        for key, construct_names in constructs.items():
            for name in [construct_names] if isinstance(construct_names, str) else construct_names:
                yield ScorerColumn(kind, key, name)


def names_of_scorers(columns: Sequence[ScorerColumn]) -> dict[str, str]:
    """Return the scorer of each column.

    A scorer with a column for each construct is named by what these have in common: llm_qr and
    llm_cc are of llm. Without anything in common, the columns are numbered.
    """
    constructs = list(dict.fromkeys(column.construct for column in columns))
    if len(constructs) == 1:
        return {column: column for _, _, column in columns}
    result: dict[str, str] = {}
    for kind in ("judge", "human"):
        kind_columns = [
            [c for k, key, c in columns if (k, key) == (kind, name)] for name in constructs
        ]
        if (by_rest := _by_rest(constructs, kind_columns)) is not None:
            result |= by_rest
            continue
        for number in range(max(map(len, kind_columns))):
            same = {
                key: names[number]
                for key, names in zip(constructs, kind_columns, strict=True)
                if number < len(names)
            }
            rests = {_without(key, name) for key, name in same.items()}
            alone = len(rests) == 1 and rests != {""}
            result |= dict.fromkeys(same.values(), rests.pop() if alone else f"{kind} {number + 1}")
    return result


def _by_rest(
    constructs: Sequence[str], kind_columns: Sequence[Sequence[str]]
) -> dict[str, str] | None:
    """Name the scorers by what is left without the construct.

    None unless every name has its construct, or one construct has all the scorers.
    """
    rests = [[_without(k, c) for c in of] for k, of in zip(constructs, kind_columns, strict=True)]
    every = {rest for of in rests for rest in of}
    apart = all(len(set(of)) == len(of) for of in rests)
    columns = [column for of in kind_columns for column in of]
    named = not every & set(columns)
    if "" in every or not apart or not (named or every in map(set, rests)):
        return None
    return dict(zip(columns, (rest for of in rests for rest in of), strict=True))


def _without(construct: str, column: str) -> str:
    """A column's name without the construct and the separators next to it."""
    rest = re.sub(re.escape(construct), "", column, count=1, flags=re.IGNORECASE)
    return re.sub(r"[\s_:./-]{2,}", "_", rest).strip(" _:./-")
