"""Tables of every shape that people have, drawn at random."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from analysis import Scale, ScoreTable
from analysis.core.arrays import FloatArray
from study.base.scales import Level

#: Two values, few points, tied tens, and numbers without ties.
STEPS = (1.0, 0.25, 0.1, 0.0)


@dataclass(frozen=True)
class Shape:
    """Sizes of a table, and which of its values are missing or alike."""

    sizes: tuple[int, ...]
    """Responses to each query."""
    systems: int
    raters: int
    step: float
    missing: float
    constant: tuple[str, ...]
    declared: Level | None
    seed: int


def shapes(most: int = 40) -> st.SearchStrategy[Shape]:
    """Tables of so many queries at most."""
    return st.builds(
        Shape,
        sizes=st.one_of(
            st.lists(st.integers(1, 6), min_size=1, max_size=most).map(tuple),
            st.tuples(st.integers(1, 60), st.integers(1, 3), st.integers(0, most - 1)).map(
                lambda sizes: (sizes[0], *[sizes[1]] * sizes[2])
            ),
        ),
        systems=st.integers(1, 6),
        raters=st.integers(1, 6),
        step=st.sampled_from(STEPS),
        missing=st.sampled_from((0.0, 0.0, 0.2, 0.6, 0.95)),
        constant=st.sampled_from(((), (), (), ("judge",), ("rater-1",), ("judge", "rater-1"))),
        declared=st.sampled_from((None, "interval", "ordinal", "nominal")),
        seed=st.integers(0, 2**16),
    )


SHAPES = shapes()


def scores(shape: Shape) -> ScoreTable:
    """The table of a shape, with its scale."""
    return ScoreTable.from_frame(frame(shape), declared_scale(shape))


def declared_scale(shape: Shape) -> dict[str, Scale] | None:
    """The scale of its construct; none where it is not declared."""
    if shape.declared is None:
        return None
    step = shape.step if shape.declared != "interval" else 0.0
    return {"QR": Scale(0, 1, step or 0.01, shape.declared)}


def frame(shape: Shape, judges: int = 1) -> pd.DataFrame:
    """The rows of a shape; not every scorer has every response."""
    rng = np.random.default_rng(shape.seed)
    query = np.repeat(np.arange(len(shape.sizes)), shape.sizes)
    quality = rng.uniform(size=len(shape.sizes))[query] + rng.uniform(size=query.size)
    parts = []
    names = ["judge", *(f"judge-{i + 2}" for i in range(judges - 1))]
    for name in (*names, *(f"rater-{i + 1}" for i in range(shape.raters))):
        value = _stepped((quality + rng.uniform(size=query.size)) / 3, shape.step)
        part = pd.DataFrame(
            {
                "response_id": [f"r{i}" for i in range(query.size)],
                "query_id": [f"q{i}" for i in query],
                "system": [f"s{i % shape.systems}" for i in range(query.size)],
                "construct": "QR",
                "scorer": name,
                "scorer_kind": "judge" if name in names else "human",
                "value": np.full(query.size, 1.0) if name in shape.constant else value,
            }
        )
        parts.append(part[rng.uniform(size=query.size) >= shape.missing])
    return pd.concat(parts, ignore_index=True)


def _stepped(values: FloatArray, step: float) -> FloatArray:
    return np.round(np.round(values / step) * step if step else values, 2)
