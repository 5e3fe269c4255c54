"""How many comparisons a planned report makes, and how strictly it therefore decides each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from analysis.core.claims import VERDICT_SHARE

Family = Literal["verdict", "agreement", "corrected"]

#: Differences of a judge on a construct in the verdict: of tau-b, of Pearson's r, and the bias.
_OF_VERDICT = 3

#: Sections with comparisons where several raters rated several systems: people, calibration,
#: corrected means, systems; and with several judges agreement.
_SECTIONS = 4


@dataclass(frozen=True)
class PlannedReport:
    """Numbers of constructs, and of judges on each of them, that a report will have."""

    constructs: int = 1
    judges: int = 1

    def p_needed(self, family: Family, systems: int, level: float) -> float:
        """The p at which a comparison of a family is significant, whatever the others have.

        It is the first step of Holm's method, so that the report makes a claim at least as often.
        `systems` are those of a query; `level` is that of the report's intervals.
        """
        error = 1 - level
        if family == "verdict":
            return error * VERDICT_SHARE / (_OF_VERDICT * self.constructs * self.judges)
        # A comparison of judges has two at least.
        judges = max(self.judges, 2) if family == "agreement" else self.judges
        compared = self.constructs * math.comb(judges if family == "agreement" else systems, 2)
        sections = _SECTIONS + (judges > 1)
        return error * (1 - VERDICT_SHARE) / sections / compared
