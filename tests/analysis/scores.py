"""Small tables of scores made for tests, with planted facts."""

import numpy as np
import pandas as pd

from analysis.core.tables import ScoreTable
from study.base.scales import Scale

POINTS = Scale(0, 100)


def simulated(
    *,
    queries: int = 12,
    systems: int = 3,
    raters: int = 3,
    constructs: tuple[str, ...] = ("QR",),
    kindness: float = 10.0,
    judge_noise: float = 6.0,
    missing: float = 0.0,
    seed: int = 0,
) -> pd.DataFrame:
    """A long frame: every system answers every query; raters and one judge score each response."""
    rng = np.random.default_rng(seed)
    n = queries * systems
    query = np.repeat(np.arange(queries), systems)
    base = pd.DataFrame(
        {
            "response_id": [f"r{i}" for i in range(n)],
            "query_id": [f"q{i}" for i in query],
            "system": [f"s{i}" for i in np.tile(np.arange(systems), queries)],
        }
    )
    parts = []
    for construct in constructs:
        quality = 50 + 10 * rng.normal(size=queries)[query] + 14 * rng.normal(size=n)
        judged = np.clip(np.round(quality + kindness + judge_noise * rng.normal(size=n)), 0, 100)
        parts.append(
            base.assign(construct=construct, scorer="judge", scorer_kind="judge", value=judged)
        )
        for rater in range(raters):
            rated = np.clip(np.round(quality + 7 * rng.normal(size=n)), 0, 100)
            rated[rng.random(n) < missing] = np.nan
            parts.append(
                base.assign(
                    construct=construct,
                    scorer=f"rater-{rater + 1}",
                    scorer_kind="human",
                    value=rated,
                )
            )
    return pd.concat(parts, ignore_index=True)


def table(frame: pd.DataFrame, scale: Scale | None = POINTS) -> ScoreTable:
    """The frame validated, every construct on one scale (None: undeclared)."""
    keys = list(dict.fromkeys(frame["construct"]))
    return ScoreTable.from_frame(frame, {} if scale is None else dict.fromkeys(keys, scale))


def rows(*records: dict[str, object]) -> pd.DataFrame:
    """A frame of human ratings on QR, each record overriding the defaults."""
    default = {
        "response_id": "r1",
        "query_id": "q1",
        "construct": "QR",
        "scorer": "ann",
        "scorer_kind": "human",
        "value": 50.0,
    }
    return pd.DataFrame([default | record for record in records])
