"""Names of scorers, and scorers that combine others: juries of judges, and composites.

The scores of a jury or composite are computed with the score table and not stored, so they follow
every new score of a member.
"""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd
from sqlalchemy import Connection, select

from study.errors import StudyError, nearest
from study.schema.tables import judge_runs, preferences, raters, scores
from study.settings.scorer_sections import CombinedSpec, JurySpec

ADJUDICATED = " (adjudicated)"
"""Suffix of a rater's code in tables, for the values that they gave as adjudicator."""


def scorer_names(connection: Connection, combined: Iterable[str] = ()) -> set[str]:
    """Return the names of raters, imported scorers (people included), judge runs and `combined`."""
    statements = (
        select(raters.c.code),
        select(scores.c.scorer).distinct(),
        select(preferences.c.scorer).distinct(),
        select(judge_runs.c.name),
    )
    names = {
        str(name) for statement in statements for name in connection.execute(statement).scalars()
    }
    return names | set(combined)


def machine_names(connection: Connection) -> set[str]:
    """Return the names of judges and metrics, imported or run here."""
    imported = select(scores.c.scorer).where(scores.c.scorer_kind.in_(("judge", "metric")))
    return {
        *connection.execute(imported.distinct()).scalars(),
        *connection.execute(select(judge_runs.c.name)).scalars(),
    }


MEMBER_MISSING = "member_missing"
"""Last part of the reason of a missing score: a member was scored and has no value."""
NOT_SCORED = {"jury": "member_not_judged", "composite": "member_not_scored"}
"""Last part of the reason of a missing score: a member was not asked (yet)."""

_OF_RESPONSE = ["response", "construct"]


def combined_scores(
    scores: pd.DataFrame, combined: Mapping[str, CombinedSpec]
) -> list[pd.DataFrame]:
    """Return the scores of each jury and composite, as rows of the scorer with its name.

    Parameters
    ----------
    scores
        `response`, `construct`, `scorer`, `scorer_kind`, `repeat`, `value`, `missing_reason` and
        further columns, a row for each response, construct, scorer and repeat.
    combined
        Juries and composites by name.

    Returns
    -------
    list of pandas.DataFrame
        A jury has one score, of its judges' first scores (repeat 0), wherever one of them has a
        row; a composite likewise on constructs on which all of its members have rows. Where a
        member lacks a value or a row, the value is missing: fewer members would be another scorer.

    Raises
    ------
    StudyError
        A jury or composite has the name of another scorer, or members of a kind that it can't have.
    """
    return [_scores_of(scores, name, spec) for name, spec in combined.items()]


def in_words(spec: CombinedSpec) -> str:
    """Return how the members are combined, as in "the median of a, b and c"."""
    if isinstance(spec, JurySpec):
        how, members = f"the {spec.by} of", list(spec.of)
    else:
        how = "the weighted mean of"
        members = [f"{name} (weight {weight:g})" for name, weight in spec.of.items()]
    *others, last = members
    return f"{how} {', '.join(others)} and {last}"


def _scores_of(scores: pd.DataFrame, name: str, spec: CombinedSpec) -> pd.DataFrame:
    what = "jury" if isinstance(spec, JurySpec) else "composite"
    kinds = _member_kinds(scores, name, spec)
    members = scores[scores["scorer"].isin(spec.of) & scores["repeat"].eq(0)]
    if what == "composite":
        together = members.groupby("construct", observed=True)["scorer"].nunique() == len(spec.of)
        members = members[members["construct"].isin(together.index[together])]
    rows = members.drop_duplicates(_OF_RESPONSE).copy()
    index = pd.MultiIndex.from_frame(rows[_OF_RESPONSE])
    values = np.full((len(rows), len(spec.of)), np.nan)
    scored = np.zeros(values.shape, dtype=bool)
    for column, member in enumerate(spec.of):
        its = members[members["scorer"] == member]
        places = index.get_indexer(pd.MultiIndex.from_frame(its[_OF_RESPONSE]))
        values[places, column] = its["value"].to_numpy(dtype=float)
        scored[places, column] = True
    whole = np.isfinite(values).all(axis=1)
    rows["value"] = np.nan
    rows.loc[whole, "value"] = _combine(values[whole], spec)
    missing, not_scored = f"{what}_{MEMBER_MISSING}", f"{what}_{NOT_SCORED[what]}"
    reasons = np.where(scored.all(axis=1), missing, not_scored).astype(object)
    reasons[whole] = None
    rows["missing_reason"] = reasons
    return rows.assign(
        scorer=name, scorer_kind="metric" if kinds <= {"metric"} else "judge", rule=None,
        inclusion_prob=1.0, stratum=None, source="own", layout=None,
    )  # fmt: skip


def _combine(values: np.ndarray, spec: CombinedSpec) -> np.ndarray:
    if isinstance(spec, JurySpec):
        if spec.by == "median":
            return np.asarray(np.median(values, axis=1))
        mean = values.mean(axis=1)
    else:
        mean = np.average(values, axis=1, weights=list(spec.of.values()))
    # A mean is between its members to the last digit: it must not leave the scale.
    return np.asarray(np.clip(mean, values.min(axis=1), values.max(axis=1)))


def _member_kinds(scores: pd.DataFrame, name: str, spec: CombinedSpec) -> set[str]:
    pairs = scores[["scorer", "scorer_kind"]].drop_duplicates()
    kinds = dict(zip(pairs["scorer"], pairs["scorer_kind"], strict=True))
    section, what, members, allowed = (
        ("juries", "jury", "judges", {"judge"})
        if isinstance(spec, JurySpec)
        else ("composites", "composite", "metrics and judges", {"judge", "metric"})
    )
    if name in kinds:
        raise StudyError(
            f'study.toml: {section}."{name}" has the name of a {kinds[name]} scorer of the study; '
            f"give the {what} another name."
        )
    for member in spec.of:
        if kinds.get(member, "judge") not in allowed:
            raise StudyError(
                f'study.toml: {section}."{name}" names {member!r}, whose scores are '
                f"{kinds[member]}; a {what} is made of {members}."
            )
    return {kinds[member] for member in spec.of if member in kinds}


def without_scores(spec: CombinedSpec, scorers: Mapping[str, object]) -> list[str]:
    """Return a sentence for each member of a jury or composite that is not among these scorers."""
    return [
        f"{member!r} has no scores yet {nearest(member, scorers)}".rstrip().removesuffix("?")
        for member in spec.of
        if member not in scorers
    ]
