"""The table of people's marks on sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import pandas as pd

from analysis.core.errors import TableError

COLUMNS = (
    "response_id", "query_id", "construct", "scorer", "scorer_kind", "repeat", "sentence",
    "marked",
)  # fmt: skip
_ONCE = ["response_id", "construct", "scorer", "repeat", "sentence"]


@dataclass(frozen=True, eq=False)
class MarkTable:
    """Marks: a row for each sentence, construct, person and repeat; `marked` is 1 or 0."""

    frame: pd.DataFrame

    @classmethod
    def from_frame(cls, frame: pd.DataFrame) -> Self:
        """Check a frame with the columns of `COLUMNS`.

        Raises
        ------
        TableError
            A column is missing, a sentence occurs twice, or `marked` is neither 1 nor 0.
        """
        absent = [name for name in COLUMNS if name not in frame]
        if absent:
            raise TableError("the table of marks", [f"no column {name!r}" for name in absent])
        faults = []
        twice = frame.duplicated(_ONCE)
        if twice.any():
            row = frame.loc[twice, _ONCE].iloc[0].to_list()
            faults.append(f"{int(twice.sum())} sentences occur twice, the first is {row}")
        wrong = ~frame["marked"].isin([0, 1])
        if wrong.any():
            faults.append(f"marked is {frame.loc[wrong, 'marked'].iloc[0]!r}: use 1 or 0")
        if faults:
            raise TableError("the table of marks", faults)
        return cls(frame.reset_index(drop=True))

    @property
    def first(self) -> pd.DataFrame:
        """The rows of people, without repeats."""
        rows = self.frame
        return rows[(rows["scorer_kind"] == "human") & (rows["repeat"] == 0)]
