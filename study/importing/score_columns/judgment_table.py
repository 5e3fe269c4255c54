"""A table of judgments that was read: a row for each response, with the columns of scorers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from study.importing.readers.written_values import Group, GroupWords

if TYPE_CHECKING:
    from pandas import DataFrame

KEPT = ("response_words", "domain")
"""Columns of a table of scores that are kept where the table has them."""


class WordScale(NamedTuple):
    """The scale of the words that values were read from."""

    min: float
    max: float
    step: float | None
    level: str
    """ordinal, or nominal for names without an order."""


def as_attribute(scales: Mapping[tuple[str, str], WordScale]) -> dict[str, dict[str, list[Any]]]:
    """Return the scales of words as a frame can keep them: by construct and scorer."""
    by_construct: dict[str, dict[str, list[Any]]] = {}
    for (scorer, construct), scale in scales.items():
        by_construct.setdefault(construct, {})[scorer] = list(scale)
    return by_construct


def scales_of_words(words: Mapping[Group, GroupWords]) -> dict[tuple[str, str], WordScale]:
    """Return the scale of the words of each scorer and construct that have several values."""
    return {
        (str(scorer), str(construct)): WordScale(
            *found.vocabulary.range, "nominal" if found.vocabulary.nominal else "ordinal"
        )
        for (scorer, construct), found in words.items()
        if found.vocabulary is not None and found.vocabulary.range is not None
    }


def names_of_values(words: Mapping[Group, GroupWords]) -> dict[str, dict[float, str]]:
    """Return the word for each value by construct.

    Where scorers have different words for a value, it is that of the last one.
    """
    names: dict[str, dict[float, str]] = {}
    for (_, construct), found in words.items():
        if found.vocabulary is not None:
            names.setdefault(str(construct), {}).update(found.vocabulary.names())
    return {construct: dict(sorted(of.items())) for construct, of in names.items()}


@dataclass(frozen=True)
class ScoreColumn:
    """The values of one column; None is missing."""

    column: str
    scorer: str
    kind: str
    """judge or human."""
    construct: str | None
    """None where each row names its construct."""
    values: list[float | None]


@dataclass(frozen=True)
class JudgmentTable:
    """The judgments of a file in pure Python: lists with an item for each row of the file."""

    response_ids: list[str]
    query_ids: list[str]
    systems: list[str | None]
    row_numbers: list[int]
    """Rows as an editor or spreadsheet counts them."""
    columns: tuple[ScoreColumn, ...]
    constructs: list[str] | None = None
    """The construct of each row, where a column names it."""
    kept: Mapping[str, list[Any]] = field(default_factory=dict)
    """response_words and domain, where the file has them."""
    value_names: Mapping[str, Mapping[float, str]] = field(default_factory=dict)
    """By construct: the word for each value, where values were words."""
    word_scales: Mapping[tuple[str, str], WordScale] = field(default_factory=dict)
    """By scorer and construct: the scale of known words."""
    levels: Mapping[str, str] = field(default_factory=dict)
    """By construct, where values were words: binary, ordinal or nominal."""
    summary: tuple[str, ...] = ()
    """Lines on what was accepted by a rule or left out."""

    def __len__(self) -> int:
        return len(self.response_ids)

    def to_frame(self) -> DataFrame:
        """Return the scores, one a row, in the order of the columns.

        The columns are those of a table of scores; `attrs["summary"]` has the lines of `summary`,
        `attrs["word_scales"]` lowest and highest value, step and level by construct and scorer,
        `attrs["value_names"]` the word for each value by construct.
        """
        import pandas as pd

        base = pd.DataFrame(
            {
                "response_id": pd.Series(self.response_ids, dtype=object),
                "query_id": pd.Series(self.query_ids, dtype=object),
                "system": pd.Series(self.systems, dtype=object),
                **{name: pd.Series(cells, dtype=object) for name, cells in self.kept.items()},
            }
        )
        parts = [
            base.assign(
                construct=self.constructs if column.construct is None else column.construct,
                scorer=column.scorer,
                scorer_kind=column.kind,
                value=pd.Series(column.values, dtype="float64"),
            )
            for column in self.columns
        ]
        frame = pd.concat(parts, ignore_index=True)
        frame.attrs["summary"] = list(self.summary)
        frame.attrs["word_scales"] = as_attribute(self.word_scales)
        frame.attrs["value_names"] = {key: dict(names) for key, names in self.value_names.items()}
        return frame
