"""The layout of a file's columns: which of them are fields, and which are unknown."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from study.errors import Fault, nearest
from study.text import quoted_names

Fields = Mapping[str, tuple[str, ...]]
"""Field to the column names that are understood for it, the documented one first."""

ATTRIBUTE = "attribute."
_BETWEEN = re.compile(r"[\s-]+")
#: Between the words of a name that are joined: responseId.
JOINED = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# So many names of a column are listed where it is missing.
_MOST_NAMES = 5
_NUMBERED = re.compile(r"passage_(\d+)")


@dataclass(frozen=True)
class ColumnLayout:
    """The columns of a record, sorted."""

    columns: dict[str, str]
    """Field to column."""
    passages: tuple[str, ...] = ()
    """passage_1, passage_2, ... in their order."""
    attributes: tuple[str, ...] = ()
    """attribute.NAME."""
    unknown: tuple[str, ...] = ()
    in_another_case: tuple[str, ...] = ()
    """Columns of fields whose names are written otherwise: Response_ID, responseId."""
    _places: dict[str, dict[str, str]] = field(default_factory=dict, compare=False)

    def place(self, column: str | None) -> dict[str, str]:
        """Return field to column; `column` contains the value and its name is the construct."""
        if column is None:
            return self.columns
        if column not in self._places:
            measured = dict.fromkeys(("value", "construct_key"), column)
            scorer = {} if "scorer" in self.columns else {"scorer": column}
            self._places[column] = {**scorer, **self.columns, **measured}
        return self._places[column]


def layout_of(
    columns: Iterable[str], fields: Fields, reserved: Callable[[str], bool], *, families: bool
) -> ColumnLayout:
    """Sort columns into fields, families of columns, and unknown ones.

    `reserved` is true of columns that the caller reads itself; `families` enables passage_1, ...
    and attribute.NAME.
    """
    present = list(columns)
    matched: dict[str, str] = {}
    free = [column for column in reversed(present) if not reserved(column)]
    by_fold = {apart(column): column for column in free}
    by_fold |= {column.casefold(): column for column in free}
    for name, names in fields.items():
        exact = (column for column in names if column in present)
        match = next(exact, None) or next((by_fold[n] for n in names if n in by_fold), None)
        if match is not None:
            matched[name] = match
    others = tuple(column for name, column in matched.items() if column not in fields[name])
    rest = [c for c in present if c not in matched.values() and not reserved(c)]
    passages: list[str] = []
    attributes: list[str] = []
    if families:
        passages = [column for column in rest if _NUMBERED.fullmatch(column)]
        passages.sort(key=lambda column: int(column.rpartition("_")[2]))
        attributes = [c for c in rest if c.startswith(ATTRIBUTE) and c != ATTRIBUTE]
    unknown = [c for c in rest if c not in passages and c not in attributes]
    return ColumnLayout(matched, tuple(passages), tuple(attributes), tuple(unknown), others)


def folded(columns: Iterable[str]) -> set[str]:
    """Return the names of columns as they are compared: in lower case, and with words apart."""
    return {written for column in columns for written in (column.casefold(), apart(column))}


def apart(column: str) -> str:
    """Return a name as those of fields are written: responseId and Response ID as response_id."""
    return _BETWEEN.sub("_", JOINED.sub("_", column.strip())).casefold()


def has(fields: Fields, columns: Iterable[str], *names: str) -> bool:
    """Whether the columns include each of these fields."""
    present = folded(columns)
    return all(present.intersection(fields[name]) for name in names)


def separators_hint(columns: Iterable[str], form: str) -> str:
    """Return a sentence on separators for delimited text with one column; otherwise nothing."""
    if form != "delimited" or len(list(columns)) > 1:
        return ""
    return (
        " Columns are separated by commas, semicolons or tabs; a first line such as sep=| states "
        "another sign."
    )


def missing_column(
    names: tuple[str, ...], columns: Iterable[str], row: int | None = 1, instead: str = ""
) -> Fault:
    """Return the fault of a missing column, with the columns of the file and the most similar one.

    `instead` names an option that can replace the column.
    """
    present = list(columns)
    hint = next(
        (suggestion for suggestion in (nearest(name, present) for name in names) if suggestion),
        "",
    )
    also = f" (or {', '.join(names[1:_MOST_NAMES])})" if len(names) > 1 else ""
    return Fault(
        f"the column {names[0]!r}{also} is missing. There are: {quoted_names(present)}.",
        f"{hint} Rename or add it{f', or give {instead}' if instead else ''}.".strip(),
        row,
    )


def compares_responses(columns: Iterable[str]) -> bool:
    """Return whether these are the columns of a table of comparisons of two responses."""
    return bool(folded(columns) & {"response_a", "response_b"})
