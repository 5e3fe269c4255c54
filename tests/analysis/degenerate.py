"""Tables at the edge of what can be analyzed, by name, each with what its report must say."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from analysis import Options, PreferenceTable, Scale, ScoreTable
from analysis.core.construct_data import Reference
from tests.analysis.scores import POINTS, simulated


class Case(NamedTuple):
    """Tables and options of one case, and words that its page must hold."""

    scores: pd.DataFrame
    says: str = ""
    scale: Scale | None = POINTS
    scorer_scales: dict[tuple[str, str], Scale] | None = None
    preferences: pd.DataFrame | None = None
    reference: Reference = "mean_of_raters"

    def tables(self) -> tuple[ScoreTable, PreferenceTable | None]:
        """Both tables, checked."""
        keys = list(dict.fromkeys(self.scores["construct"]))
        scales = {} if self.scale is None else dict.fromkeys(keys, self.scale)
        scores = ScoreTable.from_frame(self.scores, scales, self.scorer_scales)
        if self.preferences is None:
            return scores, None
        return scores, PreferenceTable.from_frame(self.preferences, Scale(-2, 2, 1))

    @property
    def options(self) -> Options:
        """Few resamples: nothing here asks for precision."""
        return Options(resamples=100, reference=self.reference)


def small(**changes: int | float | tuple[str, ...]) -> pd.DataFrame:
    """A table of 6 queries and 3 systems."""
    return simulated(**({"queries": 6} | changes))


def of(frame: pd.DataFrame, *kinds: str) -> pd.DataFrame:
    """Rows by scorers of these kinds."""
    return frame[frame["scorer_kind"].isin(kinds)]


def on_scale(low: float, high: float, step: float | None) -> Case:
    """All values mapped to another scale, on a grid or not."""
    frame = small()
    values = low + frame["value"] * (high - low) / 100
    if step is not None:
        values = low + step * np.round((values - low) / step)
    return Case(frame.assign(value=values), scale=Scale(low, high, step))


def without_ratings_of_a_system() -> Case:
    frame = small()
    return Case(frame[~((frame["scorer_kind"] == "human") & (frame["system"] == "s1"))])


def with_a_single_rating_of_one() -> Case:
    frame = small()
    single = frame["scorer"] != "rater-3"
    return Case(frame[single | (frame["response_id"] == "r0")])


def with_constructs_of_one_side() -> Case:
    frame = small(constructs=("QR", "AC", "IR"))
    judged = ~((frame["construct"] == "AC") & (frame["scorer_kind"] == "human"))
    rated = ~((frame["construct"] == "IR") & (frame["scorer_kind"] == "judge"))
    return Case(frame[judged & rated])


def constant(*kinds: str) -> Case:
    """Those of these kinds gave every response 70."""
    frame = small()
    return Case(frame.assign(value=frame["value"].mask(frame["scorer_kind"].isin(kinds), 70.0)))


def unconnected() -> Case:
    frame = small(raters=4)
    first = frame["query_id"].isin(["q0", "q1", "q2"])
    of_scorer = frame["scorer"].isin(["rater-1", "rater-2"])
    kept = (frame["scorer_kind"] == "judge") | (first == of_scorer)
    return Case(frame[kept], says="groups that share no response")


def all_missing(kinds: tuple[str, ...]) -> Case:
    frame = small()
    gone = frame["scorer_kind"].isin(kinds)
    return Case(
        frame.assign(
            value=frame["value"].mask(gone), missing_reason=np.where(gone, "skipped", None)
        )
    )


def only_a_metric() -> Case:
    frame = of(small(), "judge").assign(scorer="F1", scorer_kind="metric")
    return Case(frame)


def adjudicated(with_raters: bool) -> Case:
    frame = small()
    settled = frame[frame["scorer"] == "rater-1"]
    settled = settled.assign(scorer="settled", scorer_kind="adjudicated")
    kept = frame if with_raters else of(frame, "judge")
    return Case(
        pd.concat([kept, settled]), reference="adjudicated", says="the reference is adjudicated"
    )


def judge_on_another_scale() -> Case:
    frame = small()
    judged = frame["scorer_kind"] == "judge"
    return Case(
        frame.assign(value=frame["value"].where(~judged, frame["value"] / 100)),
        scorer_scales={("judge", "QR"): Scale(0, 1)},
        says="not a common scale",
    )


def same_system_under_two_names() -> Case:
    """Every response was given by two systems alike."""
    frame = small(systems=1)
    return Case(pd.concat([frame, frame.assign(system="twin")]))


def preferences_only() -> Case:
    rng = np.random.default_rng(0)
    parts = [
        pd.DataFrame(
            {
                "query_id": [f"q{i}" for i in range(12)],
                "response_a": [f"a{i}" for i in range(12)],
                "response_b": [f"b{i}" for i in range(12)],
                "construct": "QR",
                "scorer": rater,
                "scorer_kind": "human",
                "value": rng.integers(-2, 3, 12).astype(float),
            }
        )
        for rater in ("ann", "bob")
    ]
    return Case(small().iloc[:0], preferences=pd.concat(parts))


CASES: dict[str, Callable[[], Case]] = {
    "a system without ratings": without_ratings_of_a_system,
    "a rater with one rating": with_a_single_rating_of_one,
    "constructs that one side scored": with_constructs_of_one_side,
    "a constant judge": lambda: constant("judge"),
    "constant people": lambda: constant("human"),
    "all constant": lambda: constant("human", "judge"),
    "two items": lambda: Case(small(queries=2, systems=1)),
    "one item": lambda: Case(small(queries=1, systems=1)),
    "people all missing": lambda: all_missing(("human",)),
    "a judge all missing": lambda: all_missing(("judge",)),
    "everything missing": lambda: all_missing(("human", "judge")),
    "one system": lambda: Case(small(systems=1)),
    "no column of systems": lambda: Case(small().drop(columns="system")),
    "200 systems": lambda: Case(small(queries=3, systems=200)),
    "one query": lambda: Case(small(queries=1)),
    "unconnected raters": unconnected,
    "one rater": lambda: Case(small(raters=1)),
    "no judge": lambda: Case(of(small(), "human")),
    "no people": lambda: Case(of(small(), "judge")),
    "only a metric": only_a_metric,
    "adjudicated, with raters": lambda: adjudicated(with_raters=True),
    "adjudicated alone": lambda: adjudicated(with_raters=False),
    "an undeclared scale": lambda: Case(small(), scale=None, says="no scale is declared"),
    "0 to 1": lambda: on_scale(0, 1, None),
    "1 to 5": lambda: on_scale(1, 5, 1),
    "0 to 10": lambda: on_scale(0, 10, 1),
    "0 or 1": lambda: on_scale(0, 1, 1),
    "thirds": lambda: on_scale(0, 100, 100 / 3),
    "a judge on another scale": judge_on_another_scale,
    "one system under two names": same_system_under_two_names,
    "preferences only": preferences_only,
    "half missing": lambda: Case(small(missing=0.5, constructs=("QR", "AC", "IR"))),
}
