"""What intervals of the two rates of a graded judge cover: its best cut differs between samples.

The interval is of the judge with a cut chosen on other queries, and does not contain how far the
rates move with the cut. Balanced accuracy hardly moves, and its interval covers.
"""

from __future__ import annotations

#: Number of responses up to which an interval covers so much of a nominal .95, the lowest of the
#: cells of tests/coverage/cut_rates.csv; None where it covers .935.
MEASURED = ((30, None), (60, 0.89), (120, 0.84), (240, 0.78))

#: With 480 responses, the most that are simulated: intervals become shorter faster than cuts become
#: more certain, so that with still more it may be lower.
MOST_RESPONSES = 0.73


def coverage_at_cut(n_responses: int) -> float | None:
    """Coverage of the interval of a true positive or true negative rate at a chosen cut."""
    return next((covers for up_to, covers in MEASURED if n_responses <= up_to), MOST_RESPONSES)
