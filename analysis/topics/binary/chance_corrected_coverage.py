"""What the intervals of MCC and kappa cover where that is below .935: the report shows it.

The lowest coverage of the cells of tests/coverage/binary_rates.csv, of a nominal .95, by the number
of responses and by how many of them people pass.
"""

from __future__ import annotations

#: People pass a share between these: neither nearly all responses nor hardly any.
BALANCED = (0.2, 0.8)

#: By statistic and whether the share of passes is balanced: number of responses below which the
#: coverage is measured, and the coverage, in order.
MEASURED: dict[tuple[str, bool], dict[int, float]] = {
    ("mcc", True): {30: 0.91, 60: 0.92},
    ("mcc", False): {60: 0.84, 99: 0.86, 198: 0.91},
    ("verdict_kappa", True): {30: 0.91, 60: 0.90},
    ("verdict_kappa", False): {30: 0.88, 60: 0.93},
}


def measured_coverage(statistic: str, n_responses: int, people_pass: float) -> float | None:
    """Coverage of an interval for so many responses; None where it is at least .935."""
    low, high = BALANCED
    measured = MEASURED[statistic, low <= people_pass <= high]
    return next((covers for below, covers in measured.items() if n_responses < below), None)
