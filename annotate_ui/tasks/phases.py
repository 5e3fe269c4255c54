"""The parts of a rater's work, in the order in which they are done."""

from typing import Literal

Phase = Literal["training", "calibration", "main", "repeats", "adjudication"]

PHASES: tuple[Phase, ...] = ("training", "calibration", "main", "repeats", "adjudication")

_OF_PURPOSE: dict[str, Phase] = {
    "training": "training",
    "calibration": "calibration",
    "main": "main",
    # A check is part of the work that it checks, and looks like it.
    "check": "main",
    "repeat": "repeats",
    "adjudication": "adjudication",
}

WITH_FEEDBACK: frozenset[Phase] = frozenset({"training", "adjudication"})
"""Phases with a feedback page after each response: expected values, or the values of others."""

FEEDBACK = 4
"""The stage under which it is recorded that feedback was shown: after all that are rated."""


def phase_of(purpose: str) -> Phase:
    """Return the part of the work to which an assignment of this purpose belongs."""
    return _OF_PURPOSE[purpose]
