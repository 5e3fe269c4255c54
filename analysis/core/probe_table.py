"""The table of answers to probes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple, Self

import pandas as pd

from analysis.core.errors import TableError

DRIFT = "drift"
"""Kind of the prompts that are asked again before and after each call of a run."""

COLUMNS = (
    "scorer", "model", "prompts", "kind", "probe", "round", "fault", "response_id", "query_id",
    "construct", "value", "missing_reason", "served",
)  # fmt: skip
FAULTS = ("rise", "fall", "either")
_ONCE = ["scorer", "probe", "round", "response_id", "construct"]


class Suspects(NamedTuple):
    """Number of a judge's responses whose text contains a possible instruction to the judge."""

    flagged: int
    of: int


@dataclass(frozen=True, eq=False)
class ProbeTable:
    """Answers to probes: a row for each probe, round, response, construct and scorer.

    It also has what else may bias a judge: traits of responses, and families of models.
    """

    frame: pd.DataFrame
    suspects: Mapping[str, Suspects] = field(default_factory=lambda: MappingProxyType({}))
    """By scorer."""
    traits: pd.DataFrame | None = None
    """By response_id: `markdown`, 1 or 0, and `support`, the position of the supporting passage
    from 0 (first) to 1 (last); NaN where it is not known."""
    scorer_families: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Family of a judge's model."""
    system_families: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Family of the model that writes a system's responses."""

    @classmethod
    def from_frame(
        cls, frame: pd.DataFrame, suspects: Mapping[str, Suspects] | None = None
    ) -> Self:
        """Check a frame with the columns of `COLUMNS`.

        Raises
        ------
        TableError
            A column is missing, a probe occurs twice, a fault is unknown, or a row has neither or
            both of value and missing_reason.
        """
        absent = [name for name in COLUMNS if name not in frame]
        if absent:
            raise TableError("the table of probes", [f"no column {name!r}" for name in absent])
        faults = []
        twice = frame.duplicated(_ONCE)
        if twice.any():
            row = frame.loc[twice, _ONCE].iloc[0].to_list()
            faults.append(f"{int(twice.sum())} probes occur twice, the first is {row}")
        unknown = sorted(set(frame["fault"]) - set(FAULTS))
        if unknown:
            faults.append(f"fault {unknown[0]!r}: use one of {', '.join(FAULTS)}")
        both = frame["value"].isna() == frame["missing_reason"].isna()
        if both.any():
            faults.append(
                f"{int(both.sum())} rows have neither or both of value and missing_reason"
            )
        if faults:
            raise TableError("the table of probes", faults)
        return cls(frame.reset_index(drop=True), MappingProxyType(dict(suspects or {})))

    @property
    def probes(self) -> pd.DataFrame:
        """The rows of altered prompts, and of prompts asked once more."""
        return self.frame[self.frame["kind"] != DRIFT]

    @property
    def drift(self) -> pd.DataFrame:
        """The rows of rounds."""
        return self.frame[self.frame["kind"] == DRIFT]
