"""The plain reference beside the answers: queries are resampled, and nothing is corrected.

One figure decides a use, by its 90% percentile interval over resampled queries: yes where it lies
on the right side of the standard, no where it lies on the other side. A judge as a whole has a yes
where every construct has one, and a no where any has. Nothing accounts for few queries, for raters
as a sample, for the choice of a system on the same data, or for several constructs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from analysis.core.arrays import FloatArray, IntArray
from analysis.core.query_statistic import QueryStatistic
from analysis.core.statistic import ORDER
from analysis.decisions.records import Use
from analysis.decisions.standards import ALPHA, CONCORDANCE, LEVEL_SHARE, ORDER_MARGIN
from analysis.statistics.agreement.concordance import concordance
from analysis.statistics.agreement.human_ceiling import human_ceiling

RESAMPLES = 500
POINTS, RATE = 100 * LEVEL_SHARE, 0.8


class _Study(NamedTuple):
    """Ratings (n, raters), judge (n,), and query and system (n,) of one construct.

    Of a rater who rated twice the second column is the repeat.
    """

    ratings: FloatArray
    judge: FloatArray
    query: IntArray
    system: IntArray
    repeated: bool


def plain_answer(table: pd.DataFrame, use: Use, rng: np.random.Generator) -> str:
    """Yes, no or open for the judge as a whole; `table` is one of `decision_studies.frame`."""
    answers = []
    for _, rows in table.groupby("construct", sort=False):
        study = _study(rows)
        queries = int(study.query.max()) + 1
        drawn = rng.multinomial(queries, np.full(queries, 1 / queries), RESAMPLES).astype(float)
        answers.append(_of_construct(study, use, drawn, two_valued=table["value"].max() <= 1))
    if "no" in answers:
        return "no"
    return "yes" if set(answers) == {"yes"} else "open"


def _study(rows: pd.DataFrame) -> _Study:
    """Scorers follow one another, each with its responses in one order; only rated ones count."""
    rows = rows[rows["response_id"].isin(rows.loc[rows["scorer_kind"] == "human", "response_id"])]
    values = rows["value"].to_numpy(dtype=np.float64)
    values = values.reshape(-1, rows["response_id"].nunique())
    first = rows.iloc[: values.shape[1]]
    query, system = (
        pd.factorize(first[name])[0].astype(np.int64) for name in ("query_id", "system")
    )
    return _Study(values[1:].T, values[0], query, system, "repeat" in rows)


def _of_construct(study: _Study, use: Use, drawn: FloatArray, *, two_valued: bool) -> str:
    if use == "rank_systems":
        regret = _interval(_regret(study, drawn))
        return _one_sided(-regret[1], -regret[0], -POINTS)
    if use == "choose_between_responses":
        minimum = CONCORDANCE if study.ratings.shape[1] == 1 else -ORDER_MARGIN
        return _one_sided(*_interval(_order(study)(drawn)), minimum)
    if two_valued:
        rates = [_one_sided(*_interval(of), RATE) for of in _rates(study, drawn)]
        return "no" if "no" in rates else "yes" if set(rates) == {"yes"} else "open"
    low, high = _interval(_means(study.judge - study.ratings.mean(axis=1), study, drawn))
    if low > -POINTS and high < POINTS:
        return "yes"
    return "no" if low > POINTS or high < -POINTS else "open"


def _interval(values: FloatArray) -> tuple[float, float]:
    low, high = np.nanquantile(values, [ALPHA, 1 - ALPHA])
    return float(low), float(high)


def _one_sided(low: float, high: float, minimum: float) -> str:
    return "yes" if low > minimum else "no" if high < minimum else "open"


def _order(study: _Study) -> QueryStatistic:
    if study.repeated:
        first, again = study.ratings.T
        judge, repeat = (
            concordance(of, first, study.query, "within_query") for of in (study.judge, again)
        )
        return judge - repeat
    if study.ratings.shape[1] == 1:
        return concordance(study.judge, study.ratings[:, 0], study.query, "within_query")
    found = human_ceiling(study.ratings, study.judge, study.query, "within_query", ORDER)
    assert found.difference is not None
    return found.difference


def _means(values: FloatArray, study: _Study, drawn: FloatArray) -> FloatArray:
    return np.asarray((drawn[:, study.query] @ values) / drawn[:, study.query].sum(axis=1))


def _rates(study: _Study, drawn: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Share of what people pass, and of what they fail, that the judge does as well."""
    weights, people = drawn[:, study.query], study.ratings[:, 0]
    passed = weights * people
    failed = weights * (1 - people)
    return (
        (passed @ study.judge) / passed.sum(axis=1),
        (failed @ (1 - study.judge)) / failed.sum(axis=1),
    )


def _regret(study: _Study, drawn: FloatArray) -> FloatArray:
    """People's best mean minus that of the system that the judge finds best on the sample."""
    systems = int(study.system.max()) + 1
    people = study.ratings.mean(axis=1).reshape(-1, systems)
    chosen = int(study.judge.reshape(-1, systems).mean(axis=0).argmax())
    means = drawn @ people / drawn.sum(axis=1, keepdims=True)
    return np.asarray(means.max(axis=1) - means[:, chosen])
