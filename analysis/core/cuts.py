"""Declared cuts: the lowest graded value with which people, or a scorer, pass a response."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from analysis.core.errors import AnalysisError
from analysis.core.tables import ScoreTable
from study.base.scales import Scale

#: The name of all raters in a declaration.
PEOPLE = "human"


def declared_cut(cuts: Mapping[str, float], name: str, construct: str) -> float | None:
    """The cut of `human` or a scorer on a construct: its own one there, else that of its name."""
    return cuts.get(f"{name}:{construct}", cuts.get(name))


def check_cuts(scores: ScoreTable, cuts: Mapping[str, float]) -> None:
    """Check that declared cuts are of somebody in the table, and divide graded values.

    Raises
    ------
    AnalysisError
        A name is neither `human` nor a judge or metric, with or without a construct of the table;
        a cut is not a finite number, or all or no points of a declared scale are below it.
    """
    machines = [n for n, kind in scores.scorer_kinds.items() if kind in {"judge", "metric"}]
    for key, cut in cuts.items():
        option = f"--cut {key}={cut:g}"
        named = [
            (name, construct)
            for name in (PEOPLE, *machines)
            for construct in scores.constructs
            if key in {name, f"{name}:{construct}"}
        ]
        if not scores.constructs:
            raise AnalysisError(f"{option} has no effect here: there are no scores to cut")
        if not named:
            raise AnalysisError(
                f"{option}: name one of {', '.join((PEOPLE, *machines))}, alone or with one of the "
                f"constructs {', '.join(scores.constructs)}, as in {PEOPLE}:{scores.constructs[0]}"
            )
        if not math.isfinite(cut):
            raise AnalysisError(f"{option}: give a number")
        if key.partition(":")[0] != PEOPLE and all(
            _graded_by_people(scores, construct) and declared_cut(cuts, PEOPLE, construct) is None
            for _, construct in named
        ):
            raise AnalysisError(
                f"{option}: people grade {', '.join(construct for _, construct in named)}; "
                f"declare the lowest value with which they pass as well: --cut {PEOPLE}=VALUE"
            )
        for name, construct in named:
            scale = _scale_of(scores, name, construct)
            if scale is not None and not scale.binary and not scale.min < cut <= scale.max:
                raise AnalysisError(
                    f"{option}: values on {construct} are on {scale}; give the lowest value that "
                    f"passes, above {scale.min:g} and at most {scale.max:g}, or a cut for each "
                    f"construct, as in {name}:{construct}=VALUE"
                )


def _graded_by_people(scores: ScoreTable, construct: str) -> bool:
    scale = _scale_of(scores, PEOPLE, construct)
    return scale is None or not scale.binary


def passing_without_cut(scores: ScoreTable, construct: str, scorer: str) -> bool:
    """Whether a scorer passes or fails responses (1 and 0) while people's values are graded."""
    scale = scores.scale(construct, scorer)
    if scale is not None and scale.level == "nominal":
        return False
    rows = scores.frame[scores.frame["construct"] == construct]
    values = rows["value"].to_numpy(dtype=np.float64)
    people = values[rows["scorer_kind"].isin(["human", "adjudicated"]).to_numpy()]
    own = values[(rows["scorer"] == scorer).to_numpy()]
    return _two_values(own) and bool(np.isfinite(people).any()) and not _two_values(people)


def gives_pass_or_fail(scores: ScoreTable, construct: str, scorer: str) -> bool:
    """Whether a scorer passes or fails responses, so that there is nothing to cut.

    That is so on a scale of two points, and without a scale where all values are 0 and 1.
    """
    scale = scores.scale(construct, scorer)
    if scale is not None:
        return scale.binary
    frame = scores.frame
    rows = frame[(frame["construct"] == construct) & (frame["scorer"] == scorer)]
    return _two_values(rows["value"].to_numpy(dtype=np.float64))


def _two_values(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> bool:
    present = values[np.isfinite(values)]
    return bool(present.size and np.isin(present, (0.0, 1.0)).all())


def _scale_of(scores: ScoreTable, name: str, construct: str) -> Scale | None:
    if name != PEOPLE:
        return scores.scale(construct, name)
    people = scores.scorers(construct, "human") or scores.scorers(construct, "adjudicated")
    return scores.scale(construct, people[0] if people else None)
