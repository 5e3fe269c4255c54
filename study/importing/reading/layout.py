"""Which column of a file holds which field, and what becomes of the others."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from study.errors import Fault, nearest

Fields = Mapping[str, tuple[str, ...]]
"""Field to the column names that are understood for it, the documented one first."""

ATTRIBUTE = "attribute."
_NUMBERED = re.compile(r"passage_(\d+)")


@dataclass(frozen=True)
class Layout:
    """The columns of a record, sorted."""

    columns: dict[str, str]
    """Field to column."""
    passages: tuple[str, ...] = ()
    """passage_1, passage_2, ... in their order."""
    attributes: tuple[str, ...] = ()
    """attribute.NAME."""
    unknown: tuple[str, ...] = ()


def layout_of(
    columns: Iterable[str], fields: Fields, kept: Callable[[str], bool], *, families: bool
) -> Layout:
    """Sort columns into fields, families of columns, and unknown ones.

    `kept` tells the columns that the caller reads by itself; `families` says whether passage_1, ...
    and attribute.NAME mean something.
    """
    there = list(columns)
    known = {}
    for name, names in fields.items():
        found = next((column for column in names if column in there), None)
        if found is not None:
            known[name] = found
    rest = [c for c in there if c not in known.values() and not kept(c)]
    passages: list[str] = []
    attributes: list[str] = []
    if families:
        passages = [column for column in rest if _NUMBERED.fullmatch(column)]
        passages.sort(key=lambda column: int(column.rpartition("_")[2]))
        attributes = [c for c in rest if c.startswith(ATTRIBUTE) and c != ATTRIBUTE]
    unknown = [c for c in rest if c not in passages and c not in attributes]
    return Layout(known, tuple(passages), tuple(attributes), tuple(unknown))


def has(fields: Fields, columns: Iterable[str], *names: str) -> bool:
    """Whether the columns hold each of these fields."""
    there = set(columns)
    return all(there.intersection(fields[name]) for name in names)


def missing_column(
    names: tuple[str, ...], columns: Iterable[str], row: int | None = 1, instead: str = ""
) -> Fault:
    """Return the fault of a table without a column, with what is there and the nearest.

    `instead` names an option that can stand for the column.
    """
    there = list(columns)
    hint = next((found for found in (nearest(name, there) for name in names) if found), "")
    also = f" (or {', '.join(names[1:])})" if len(names) > 1 else ""
    return Fault(
        f"the column {names[0]!r}{also} is missing. There are: {', '.join(there)}.",
        f"{hint} Rename or add it{f', or give {instead}' if instead else ''}.".strip(),
        row,
    )
