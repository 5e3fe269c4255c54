"""Small tables of scores at the edge of what can be analysed, drawn with a fixed seed."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

SCALE = ("--scale", "0:100")


def draw(
    queries: int = 10,
    systems: int = 3,
    raters: int = 3,
    judges: int = 1,
    constructs: tuple[str, ...] = ("QR",),
    missing: float = 0.0,
    repeats: int = 1,
    seed: int = 7,
) -> pd.DataFrame:
    """Return a long table with effects of query, response, rater and judge."""
    rng = np.random.default_rng(seed)
    rows = []
    for construct in constructs:
        truth = 60 + rng.normal(0, 10, (queries, 1)) + rng.normal(0, 15, (queries, systems))
        shift = rng.normal(0, 5, raters)
        for q in range(queries):
            for s in range(systems):
                place = {"query_id": f"q{q}", "response_id": f"r{q}-{s}", "system": f"s{s}"}
                scorers = [(f"rater-{r}", "human", shift[r], 8) for r in range(raters)]
                scorers += [(f"judge-{j}", "judge", 6 + 4 * j, 10) for j in range(judges)]
                for scorer, kind, lean, noise in scorers:
                    for repeat in range(repeats if kind == "judge" else 1):
                        value = float(
                            np.clip(np.round(truth[q, s] + lean + rng.normal(0, noise)), 0, 100)
                        )
                        gone = rng.random() < missing
                        rows.append(
                            place
                            | {
                                "construct": construct,
                                "scorer": scorer,
                                "scorer_kind": kind,
                                "repeat": repeat,
                                "value": None if gone else value,
                                "missing_reason": "skipped" if gone else None,
                            }
                        )
    return pd.DataFrame(rows)


def nominal() -> pd.DataFrame:
    """Return labels 0, 1, 2."""
    frame = draw(queries=14)
    return frame.assign(value=np.floor(frame["value"] / 34))


def few_levels() -> pd.DataFrame:
    """Return values 1 to 5."""
    frame = draw(queries=14, raters=4, missing=0.1)
    return frame.assign(value=1 + np.floor(frame["value"] / 20.5))


def judge_missing() -> pd.DataFrame:
    """Return a judge that never gave a value."""
    frame = draw()
    gone = frame["scorer_kind"] == "judge"
    return frame.assign(
        value=frame["value"].mask(gone), missing_reason=np.where(gone, "unparsed", None)
    )


def constant() -> pd.DataFrame:
    """Return people who gave every response 70."""
    frame = draw()
    return frame.assign(value=frame["value"].mask(frame["scorer_kind"] == "human", 70.0))


def ragged() -> pd.DataFrame:
    """Return raters of two groups that share no response, with gaps, without repeats' columns."""
    frame = draw(raters=4, missing=0.3, constructs=("QR", "AC", "IR"), judges=2)
    first = frame["query_id"].isin([f"q{n}" for n in range(5)])
    in_first = frame["scorer"].isin(["rater-0", "rater-1"])
    return frame[(frame["scorer_kind"] == "judge") | (first == in_first)]


def with_metric() -> pd.DataFrame:
    """Return AC with an exact match beside a judge and an adjudicated value."""
    frame = draw(queries=8, constructs=("AC", "CC"))
    one = frame[(frame["scorer"] == "rater-0") & (frame["construct"] == "AC")]
    match = one.assign(scorer="EM", scorer_kind="metric", value=np.where(one["value"] > 65, 100, 0))
    settled = one.assign(scorer="settled", scorer_kind="adjudicated", value=one["value"] + 1)
    return pd.concat([frame, match, settled])


def preferences() -> pd.DataFrame:
    """Return comparisons of two responses by two people and a judge."""
    rng = np.random.default_rng(11)
    rows = [
        {
            "query_id": f"q{q}",
            "response_a": f"r{q}-0",
            "response_b": f"r{q}-{other}",
            "system_a": "s0",
            "system_b": f"s{other}",
            "construct": "QR",
            "scorer": scorer,
            "scorer_kind": "judge" if scorer == "judge-0" else "human",
            "value": float(rng.integers(-2, 3)),
        }
        for q in range(10)
        for other in (1, 2)
        for scorer in ("ann", "bob", "judge-0")
    ]
    return pd.DataFrame(rows)


CASES: dict[str, tuple[Callable[[], pd.DataFrame], tuple[str, ...]]] = {
    "nominal": (nominal, ("--scale", "0:2:1:nominal")),
    "five-levels": (few_levels, ("--scale", "1:5:1:ordinal")),
    "one-rater": (lambda: draw(raters=1), SCALE),
    "one-query": (lambda: draw(queries=1), SCALE),
    "judge-missing": (judge_missing, SCALE),
    "constant-people": (constant, SCALE),
    "several-judges": (
        lambda: draw(judges=3, missing=0.05, constructs=("QR", "CC")),
        (*SCALE, "--margin", "0.1", "--bias-margin", "5"),
    ),
    "repeats": (lambda: draw(judges=2, repeats=3), SCALE),
    "ragged": (ragged, SCALE),
    "adjudicated": (with_metric, (*SCALE, "--reference", "adjudicated")),
    "no-people": (lambda: draw(raters=0), SCALE),
    "no-judge": (lambda: draw(judges=0), SCALE),
    "no-scale": (draw, ()),
    "with-preferences": (
        draw,
        (*SCALE, "--preferences", "preferences.csv", "--preference-scale", "-2:2"),
    ),
}


def write_all(folder: Path) -> None:
    """Write every table as CSV."""
    for name, (make, _) in CASES.items():
        make().to_csv(folder / f"{name}.csv", index=False)
    preferences().to_csv(folder / "preferences.csv", index=False)
