"""The columns of a table by their purpose: their scorers, constructs and declared scales."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from study.errors import Fault, InputError, nearest
from study.importing.readers.judgment_cells import Ranged
from study.importing.readers.source import RecordSource
from study.importing.readers.written_values import Group
from study.importing.score_columns.contents import (
    contents_of,
    reading_of_answers,
    several_in_objects,
)
from study.importing.score_columns.judgment_table import KEPT, RaterRows, rater_rows
from study.importing.score_columns.named_columns import IDENTIFYING, NamedColumns, parts
from study.importing.score_columns.words import ONLY_CONSTRUCT
from study.text import quoted_names, shell_word, shorten

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


# Words of a scale are shorter; a cell with more characters is a sentence.
_LONGEST_WORDS = 20


@dataclass(frozen=True)
class Purposes:
    """The columns of a file by their purpose."""

    scorers: tuple[ScorerColumn, ...]
    identifying: Mapping[str, str]
    """id, query, system and construct to the column, where they are named; and scorer, where rows
    name the rater."""
    kept: tuple[str, ...]
    raters: RaterRows | None = None
    """How rows of raters become responses, where a response has a row for each of its raters."""

    @property
    def columns(self) -> set[str]:
        """The columns with values."""
        return {column.column for column in self.scorers}

    @property
    def fields(self) -> dict[str, tuple[str, ...]]:
        """The columns by field, for the reader of cells."""
        fields: dict[str, tuple[str, ...]] = {name: (name,) for name in self.kept}
        return fields | {name: (column,) for name, column in self.identifying.items()}

    @property
    def names(self) -> dict[str, str]:
        """The scorer of each column with values."""
        return names_of_scorers(self.scorers)


class DeclaredScales:
    """The declared scale of each scorer on each construct."""

    def __init__(
        self,
        named: Purposes,
        scales: Mapping[str, Ranged],
        scorer_scales: Mapping[tuple[str, str], Ranged],
    ) -> None:
        self._names = named.names
        self._constructs = {column.construct for column in named.scorers}
        self._scales, self._scorer_scales = scales, scorer_scales

    def of(self, scorer: str, construct: str) -> Ranged | None:
        """The scale of a scorer on a construct."""
        return self._scorer_scales.get((scorer, construct)) or self._scales.get(construct)

    def of_column(self, column: str, construct: str) -> Ranged | None:
        """The scale of the scorer of a column on a construct."""
        return self.of(self._names[column], construct)

    def option(self, group: Group, scale: str) -> str:
        """How a scale is declared for all scorers, and for the one of a column alone."""
        column, construct = group
        own = f"{self._names[column]}:{construct}={scale}"
        shared = f"{construct}={scale}" if len(self._constructs) > 1 else scale
        return f"--scale {shell_word(shared)} (for {self._names[column]} alone: {own})"


def purposes_of(
    source: RecordSource, columns: NamedColumns, path: Path | str, *, one_side: bool = False
) -> Purposes:
    """Return the columns of a file by their purpose.

    `one_side`: whether the columns may be those of judges or of raters alone.

    Raises
    ------
    InputError
        A column is missing or has two purposes, or judges or raters are not named.
    """
    if not (columns.judge and columns.human) and not one_side:
        absent = "--human" if columns.judge else "--judge"
        raise InputError(
            str(path),
            [Fault(f"name the columns of judges and of raters; {absent} COLUMN is missing.")],
        )
    present = source.head.columns
    identifying = {
        name: column for name in IDENTIFYING if (column := getattr(columns, name)) is not None
    }
    faults = []
    try:
        judge = columns_by_construct(columns.judge, present)
        human = columns_by_construct(columns.human, present)
        if one_side:
            # Nothing is named by construct as well as without one, where nothing is named.
            nothing: ColumnNames = {} if isinstance(judge or human, dict) else []
            judge, human = judge or nothing, human or nothing
        scorers = tuple(scorer_columns(judge, human, identifying.get("construct")))
    except UnnamedConstructError as error:
        raise InputError(str(path), [Fault(f"{error}.")]) from None
    if "construct" in identifying and "id" not in identifying:
        faults.append(
            Fault("rows of one response on several constructs need its id.", "Name it with --id.")
        )
    used = [column.column for column in scorers]
    every = [*identifying.values(), *used]
    faults += [
        Fault(
            f"column {name!r} is missing; there are {quoted_names(map(repr, present))}.",
            nearest(name, present),
        )
        for name in dict.fromkeys(every)
        if name not in present
    ]
    faults += [
        Fault(f"column {name!r} is named for two purposes; each has one.")
        for name in sorted({name for name in every if every.count(name) > 1})
        if name in used
    ]
    if not faults:
        faults = _prose(source, used)
    if faults:
        raise InputError(str(path), faults)
    kept = tuple(name for name in KEPT if name in present and name not in every)
    judges, people = ([c.column for c in scorers if c.kind == of] for of in ("judge", "human"))
    rows = (record.cells for record in source.peeked())
    raters = rater_rows(present, rows, judges, people, identifying, declared=True)
    if raters is not None:
        identifying["scorer"] = raters.rater
    return Purposes(scorers, identifying, kept, raters)


def _prose(source: RecordSource, used: list[str]) -> list[Fault]:
    """A fault for each named column that has sentences in place of scores."""
    contents = contents_of(source.peeked(), source.head.columns)
    if (several := several_in_objects(used, contents)) is not None:
        return [Fault(several[0], f"{several[1]}.")]
    faults = []
    for column in used:
        content = contents[column]
        longest = max((len(word) for _, word in content.words), default=0)
        if not content.is_prose or content.mostly_numbers or longest <= _LONGEST_WORDS:
            continue
        row, text = content.words[0]
        faults.append(
            Fault(
                f"has texts and no scores alone, such as {shorten(text)!r}.",
                "Read the score of each text into a separate column and name that one, "
                f"{reading_of_answers(column)}.",
                row,
                column,
            )
        )
    return faults
