"""Human values and judge scores of two systems or more."""

import numpy as np


def simulated(
    seed: int, queries: int = 90, labels: int = 40, systems: int = 2
) -> tuple[np.ndarray, np.ndarray]:
    """Human values and judge scores (queries, systems), people only on the first queries."""
    rng = np.random.default_rng(seed)
    truth = 60 + 10 * rng.normal(size=(queries, 1)) + 12 * rng.normal(size=(queries, systems))
    human = truth + 8 * rng.normal(size=truth.shape)
    human[labels:] = np.nan
    return human, truth + 6 + 8 * rng.normal(size=truth.shape)
