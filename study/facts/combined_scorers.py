"""Scorers that combine others: juries of judges, and composites.

Their scores are computed with the score table and not stored, so they follow every new score of a
member.
"""

from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd
from sqlalchemy import Connection, select

from study.columns import EXPECTED
from study.errors import StudyError, nearest
from study.facts.judgments import LOW_IS_GOOD
from study.schema.tables import judge_runs, scores
from study.settings.scorer_sections import CombinedMember, CombinedSpec, JurySpec
from study.settings.study_toml import StudyConfig

MEMBER_MISSING = "member_missing"
"""Last part of the reason of a missing score: a member was scored and has no value."""
NOT_SCORED = {"jury": "member_not_judged", "composite": "member_not_scored"}
"""Last part of the reason of a missing score: a member was not asked (yet)."""

_OF_RESPONSE = ["response", "construct"]


def low_is_good(connection: Connection, config: StudyConfig) -> frozenset[str]:
    """Return the scorers of which a low value is a good sign.

    As study.toml declares; of the others those whose metric declared it when it was measured.
    """
    stored = select(scores.c.scorer).where(scores.c.low_is_good).distinct()
    names = set(connection.execute(stored).scalars())
    runs = connection.execute(select(judge_runs.c.name, judge_runs.c.observed))
    names.update(name for name, observed in runs if (observed or {}).get(LOW_IS_GOOD))
    declared = {name: spec.low_is_good for name, spec in config.scorers.items()}
    names.difference_update(name for name, low in declared.items() if low is False)
    return frozenset(names.union(name for name, low in declared.items() if low))


def combined_scores(
    scores: pd.DataFrame, config: StudyConfig, low: Collection[str]
) -> list[pd.DataFrame]:
    """Return the scores of each jury and composite, as rows of the scorer with its name.

    Parameters
    ----------
    scores
        `response`, `construct`, `scorer`, `scorer_kind`, `repeat`, `value`, `missing_reason` and
        further columns, a row for each response, construct, scorer and repeat.
    config
        The study's juries, composites and scales.
    low
        Scorers of which a low value is a good sign: as members they are turned, so that the ends
        of their scale change places.

    Returns
    -------
    list of pandas.DataFrame
        A jury has one score, of its judges' first scores (repeat 0), wherever one of them has a
        row; a composite likewise on constructs on which all of its members have rows, or on its
        own construct where all of them have rows on theirs. Where a member lacks a value or a row,
        the value is missing: fewer members would be another scorer.

    Raises
    ------
    StudyError
        A jury or composite has the name of another scorer, or members of a kind that it can't have.
    """
    return [_scores_of(scores, name, config, low) for name in config.combined]


def in_words(spec: CombinedSpec, low: Collection[str] = ()) -> str:
    """Return how the members are combined, as in "the median of a, b and c"."""
    how = f"the {spec.by} of" if isinstance(spec, JurySpec) else "the weighted mean of"
    members = []
    for scorer, construct, weight in spec.members:
        remarks = [] if isinstance(spec, JurySpec) else [f"weight {weight:g}"]
        remarks += ["turned: low is good"] if scorer in low else []
        name = scorer if construct is None else f"{scorer} on {construct}"
        members.append(f"{name} ({', '.join(remarks)})" if remarks else name)
    *others, last = members
    return f"{how} {', '.join(others)} and {last}"


def _scores_of(
    scores: pd.DataFrame, name: str, config: StudyConfig, low: Collection[str]
) -> pd.DataFrame:
    spec = config.combined[name]
    what, on = ("jury", None) if isinstance(spec, JurySpec) else ("composite", spec.on)
    kinds = _member_kinds(scores, name, spec)
    first = scores[scores["repeat"].eq(0)]
    parts = [_member_rows(first, member, on, config, low) for member in spec.members]
    if what == "composite":
        common = set.intersection(*(set(part["construct"]) for part in parts))
        parts = [part[part["construct"].isin(common)] for part in parts]
    rows = pd.concat(parts, ignore_index=True).drop_duplicates(_OF_RESPONSE)
    index = pd.MultiIndex.from_frame(rows[_OF_RESPONSE])
    values = np.full((len(rows), len(parts)), np.nan)
    scored = np.zeros(values.shape, dtype=bool)
    for column, part in enumerate(parts):
        places = index.get_indexer(pd.MultiIndex.from_frame(part[_OF_RESPONSE]))
        values[places, column] = part["value"].to_numpy(dtype=float)
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


def _member_rows(
    first: pd.DataFrame,
    member: CombinedMember,
    on: str | None,
    config: StudyConfig,
    low: Collection[str],
) -> pd.DataFrame:
    """Return the rows of a member, high values good, on the construct `on` and its scale if any."""
    chosen = first["scorer"].eq(member.scorer)
    if member.construct is not None:
        chosen &= first["construct"].eq(member.construct)
    rows = first[chosen].copy()
    rows["construct"] = rows["construct"].astype("object")
    turned = member.scorer.removesuffix(EXPECTED) in low
    for key in rows["construct"].unique() if turned or on is not None else ():
        scale = config.scale(key, member.scorer)
        assert scale is not None  # noqa: S101  (these rows are on the study's constructs)
        on_construct = rows["construct"].eq(key)
        values = rows.loc[on_construct, "value"]
        if turned:
            values = scale.min + scale.max - values
        if on is not None:
            target = config.scale(on, "")
            assert target is not None  # noqa: S101  (checked with the settings)
            values = values.map(lambda v, to=target, of=scale: to.converted(v, of))
        rows.loc[on_construct, "value"] = values
    return rows if on is None else rows.assign(construct=on)


def _combine(values: np.ndarray, spec: CombinedSpec) -> np.ndarray:
    if isinstance(spec, JurySpec):
        if spec.by == "median":
            return np.asarray(np.median(values, axis=1))
        mean = values.mean(axis=1)
    else:
        mean = np.average(values, axis=1, weights=[member.weight for member in spec.members])
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
    for member, _, _ in spec.members:
        if kinds.get(member, "judge") not in allowed:
            raise StudyError(
                f'study.toml: {section}."{name}" names {member!r}, whose scores are '
                f"{kinds[member]}; a {what} is made of {members}."
            )
    return {kinds[member] for member, _, _ in spec.members if member in kinds}


def lacking(spec: CombinedSpec, scored: Mapping[str, Collection[str]]) -> list[str]:
    """Return a sentence for each reason for which a jury or composite has no scores at all.

    `scored` are the constructs on which each scorer has scores.
    """
    reasons = []
    for scorer, construct, _ in spec.members:
        if scorer not in scored:
            hint = nearest(scorer, scored)
            reasons.append(f"{scorer!r} has no scores yet {hint}".rstrip().removesuffix("?"))
        elif construct is not None and construct not in scored[scorer]:
            reasons.append(f"{scorer!r} has no scores on {construct} yet")
    if reasons or isinstance(spec, JurySpec) or spec.on is not None:
        return reasons
    member_constructs = [(member.scorer, set(scored[member.scorer])) for member in spec.members]
    if set.intersection(*(keys for _, keys in member_constructs)):
        return []
    where = ", ".join(
        f"{scorer} on {' and '.join(sorted(keys))}" for scorer, keys in member_constructs
    )
    return [
        f"its members have no construct in common ({where}); name the construct of each as "
        "SCORER:CONSTRUCT, and that of the composite with `on`"
    ]
