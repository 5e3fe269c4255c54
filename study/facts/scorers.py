"""Names of scorers, and juries: the median or mean of several judges as an additional scorer.

The scores of a jury are computed with the score table and not stored, so they follow every new
judgment.
"""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd
from sqlalchemy import Connection, select

from study.errors import StudyError, nearest
from study.schema.tables import judge_runs, preferences, raters, scores
from study.settings.scorer_sections import JurySpec

ADJUDICATED = " (adjudicated)"
"""Suffix of a rater's code in tables, for the values that they gave as adjudicator."""


def scorer_names(connection: Connection, juries: Iterable[str] = ()) -> set[str]:
    """Return the names of raters, imported scorers (people included), judge runs and `juries`."""
    statements = (
        select(raters.c.code),
        select(scores.c.scorer).distinct(),
        select(preferences.c.scorer).distinct(),
        select(judge_runs.c.name),
    )
    names = {
        str(name) for statement in statements for name in connection.execute(statement).scalars()
    }
    return names | set(juries)


def machine_names(connection: Connection) -> set[str]:
    """Return the names of judges and metrics, imported or run here."""
    imported = select(scores.c.scorer).where(scores.c.scorer_kind.in_(("judge", "metric")))
    return {
        *connection.execute(imported.distinct()).scalars(),
        *connection.execute(select(judge_runs.c.name)).scalars(),
    }


MEMBER_MISSING = "jury_member_missing"
"""Reason of a jury's missing score: a judge was asked and has no score."""
NOT_JUDGED = "jury_member_not_judged"
"""Reason of a jury's missing score: a judge was not asked (yet)."""

_OF_RESPONSE = ["response", "construct"]


def with_juries(scores: pd.DataFrame, juries: Mapping[str, JurySpec]) -> pd.DataFrame:
    """Return the scores with those of the juries below them.

    Parameters
    ----------
    scores
        `response`, `construct`, `scorer`, `scorer_kind`, `repeat`, `value`, `missing_reason` and
        further columns, a row for each response, construct, scorer and repeat.
    juries
        By name.

    Returns
    -------
    pandas.DataFrame
        A jury has one score, of its judges' first scores (repeat 0), wherever one of them has a
        row. Where a judge lacks a value or a row, the jury's value is missing: fewer judges would
        be another jury.

    Raises
    ------
    StudyError
        A jury has the name of another scorer, or a person or metric for a judge.
    """
    if not juries:
        return scores
    of_juries = [_of_jury(scores, name, jury) for name, jury in juries.items()]
    return pd.concat([_as_objects(part) for part in (scores, *of_juries)], ignore_index=True)


def _as_objects(scores: pd.DataFrame) -> pd.DataFrame:
    """Return scores with objects in place of categories, which juries add to."""
    categorical = scores.select_dtypes("category").columns
    return scores.astype(dict.fromkeys(categorical, "object"))


def in_words(jury: JurySpec) -> str:
    """Return the members of a jury in words: "the median of a, b and c"."""
    *others, last = jury.of
    return f"the {jury.by} of {', '.join(others)} and {last}"


def _of_jury(scores: pd.DataFrame, name: str, jury: JurySpec) -> pd.DataFrame:
    _check(scores, name, jury)
    members = scores[scores["scorer"].isin(jury.of) & scores["repeat"].eq(0)]
    rows = members.drop_duplicates(_OF_RESPONSE).copy()
    index = pd.MultiIndex.from_frame(rows[_OF_RESPONSE])
    values = np.full((len(rows), len(jury.of)), np.nan)
    judged = np.zeros(values.shape, dtype=bool)
    for column, judge in enumerate(jury.of):
        member = members[members["scorer"] == judge]
        places = index.get_indexer(pd.MultiIndex.from_frame(member[_OF_RESPONSE]))
        values[places, column] = member["value"].to_numpy(dtype=float)
        judged[places, column] = True
    whole = np.isfinite(values).all(axis=1)
    rows["value"] = np.nan
    rows.loc[whole, "value"] = _verdict(values[whole], jury)
    reasons = np.where(judged.all(axis=1), MEMBER_MISSING, NOT_JUDGED).astype(object)
    reasons[whole] = None
    rows["missing_reason"] = reasons
    return rows.assign(
        scorer=name, rule=None, inclusion_prob=1.0, stratum=None, source="own", layout=None
    )


def _verdict(values: np.ndarray, jury: JurySpec) -> np.ndarray:
    if jury.by == "median":
        return np.asarray(np.median(values, axis=1))
    # A mean of equal scores is that score, to the last digit: it must not leave the scale.
    equal = (values == values[:, :1]).all(axis=1)
    return np.where(equal, values[:, 0], values.mean(axis=1))


def _check(scores: pd.DataFrame, name: str, jury: JurySpec) -> None:
    kinds = dict(zip(scores["scorer"], scores["scorer_kind"], strict=True))
    if name in kinds:
        raise StudyError(
            f'study.toml: juries."{name}" has the name of a {kinds[name]} scorer of the study; '
            "give the jury another name."
        )
    for judge in jury.of:
        if kinds.get(judge, "judge") != "judge":
            raise StudyError(
                f'study.toml: juries."{name}" names {judge!r}, whose scores are {kinds[judge]}; '
                "a jury is made of judges."
            )


def without_scores(jury: JurySpec, scorers: Mapping[str, object]) -> list[str]:
    """Return a sentence for each judge of a jury that is not among these scorers."""
    return [
        f"{judge!r} has no scores yet {nearest(judge, scorers)}".rstrip().removesuffix("?")
        for judge in jury.of
        if judge not in scorers
    ]
