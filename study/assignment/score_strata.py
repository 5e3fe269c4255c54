"""Bands of judge scores, which a sample of responses may be stratified by."""

from collections.abc import Callable, Sequence

import pandas as pd
from sqlalchemy import Connection

from study.errors import StudyError, nearest
from study.facts.response_rows import current_responses
from study.facts.score_table import score_table
from study.settings.campaign import DesignSpec
from study.study import Study

Band = Callable[[int], str]
"""Response to the name of its band."""

NO_SCORE = "(none)"


def bands(connection: Connection, study: Study, design: DesignSpec) -> Band | None:
    """Return the function from response to the band of its judge score; None without bands.

    A response's score is the mean over the judge's repeats, then over constructs.

    Raises
    ------
    StudyError
        The study has no such judge or construct, or several judges and none is named.
    """
    if not design.bands:
        return None
    versions = study.construct_versions(connection)
    scores = score_table(connection, versions, juries=study.config.juries)
    name = _judge(study, design, scores)
    mine = scores[scores["scorer"] == name]
    if design.judge_construct is not None:
        mine = mine[mine["construct"] == design.judge_construct]
    each = mine.groupby(["response_id", "construct"])["value"].mean()
    means = each.groupby("response_id").mean().dropna().to_dict()
    if not means:
        raise StudyError(
            f"{name!r} has no scores that make bands; see design.judge and design.judge_construct."
        )
    current, _ = current_responses(connection)
    named = {
        current_response.id: _band(float(means[current_response.response_id]), design.bands)
        for current_response in current
        if current_response.response_id in means
    }
    return lambda response: named.get(response, NO_SCORE)


def _judge(study: Study, design: DesignSpec, scores: pd.DataFrame) -> str:
    known = sorted(str(name) for name in scores["scorer"].unique())
    if design.judge is not None:
        if design.judge not in known:
            raise StudyError(
                f"design.judge = {design.judge!r}: no scorer of that name. "
                f"{nearest(design.judge, known)} Known: {', '.join(known) or 'none'}."
            )
        return design.judge
    judges = sorted({str(n) for n in scores.loc[scores["scorer_kind"] == "judge", "scorer"]})
    if len(judges) != 1:
        raise StudyError(
            f"{study.folder} holds scores of {len(judges)} judges; name in design.judge the one "
            f"whose scores make the bands. Known: {', '.join(judges) or 'none'}."
        )
    return judges[0]


def _band(score: float, starts: Sequence[float]) -> str:
    """Return the name of the band that a score lies in; each begins at its start."""
    below = [start for start in starts if start <= score]
    above = [start for start in starts if start > score]
    if not below:
        return f"below {above[0]:g}"
    return f"{below[-1]:g} to below {above[0]:g}" if above else f"from {below[-1]:g}"
