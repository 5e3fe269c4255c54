"""One scorer's scores of the systems on one construct, with what its records say of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.core.construct_data import BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class SystemsScored:
    """Scores (Q, S) of a judge, a metric or the human reference."""

    construct: str
    scorers: tuple[str, ...]
    systems: tuple[str, ...]
    scores: FloatArray
    answered: BoolArray
    """(Q, S): whether the system gave a response."""
    on: str
    """All responses, or only those with a human reference."""
    whole: bool
    """Whether the queries are those of the whole table, or the rated ones."""
    people: bool
    """Whether this is the human reference."""
    leads: bool
    """Whether pairs are listed; of a judge on rated responses only the power is given."""
    of: str | None

    @property
    def name(self) -> str:
        """The scorer, or what the reference is."""
        return self.of or self.scorers[0]

    @property
    def n_pairs(self) -> int:
        """Number of pairs of systems."""
        return len(self.systems) * (len(self.systems) - 1) // 2

    @property
    def missing(self) -> BoolArray:
        """(Q, S): responses without a score."""
        return np.asarray(self.answered & np.isnan(self.scores))

    def record(self, params: dict[str, Any]) -> dict[str, Any]:
        """What all records of these scores have in common."""
        of = {"of": self.of} if self.of else {}
        return {
            "constructs": (self.construct,),
            "scorers": self.scorers,
            "scope": "system_level",
            "n_raters": len(self.scorers) if self.people else 0,
            "params": {"on": self.on, **of, **params},
        }
