"""System means and differences that people would have given: prediction-powered inference.

Angelopoulos, Duchi and Zrnic 2023 (PPI++, arXiv 2311.01453), with queries as clusters and a pool
that the labeled responses belong to.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.core.arrays import BoolArray, FloatArray
from analysis.core.computation import t_quantile, two_sided_p
from analysis.core.degrees_of_freedom import effective_df, rests_on_few
from analysis.core.interval import Interval, withheld
from analysis.core.query_statistic import NEGLIGIBLE, comparable, ratio
from analysis.core.resampling import EQUAL_RESAMPLES, NO_SPREAD, no_spread
from analysis.statistics.correction.query_sums import COUNT, HUMAN, JUDGE, POOL, WEIGHT, QuerySums

#: Labels that lambda = 1 is worth when it is averaged with the learned lambda, which fits the noise
#: of few labels: with 15 of four systems and 78% of the scores at the end of the scale, intervals
#: of means cover .935 by the learned lambda alone, and .95 by the average.
WORTH_OF_ONE = 20

#: Where so many times as many labels have the most common value as have another one, lambda = 1
#: counts whatever the judge tells: the ratings alone cover .91 there (12 labels, 78% at an end).
MOSTLY_ALIKE = 2

#: Without a common scale lambda = 1 means nothing, and lambda is learned from the labels alone:
#: from as many as this, and as many that do not share the most common human value.
LEARNED_FROM, INFORMATIVE_FROM = 30, 15

#: With a smaller share of the pool unlabeled, lambda is 0: the ratings alone. Even a judge that
#: equals people would make their interval only 5% narrower, since 1 - sqrt(1 - .1) = .05.
UNLABELED_FROM = 0.1

#: With fewer labeled responses of a kind that lies apart from the others, lambda is 0: one or two
#: do not show whether the judge sees this kind. Where it sees half of 6% of failures, lambda = 1
#: covers .64 to .97 on such samples, the ratings alone 1.00 (30 labels).
APART_FROM = 3

#: From this share of the pool on that the judge scores far outside all labeled responses, no
#: interval is given: what people think of these responses is unknown.
UNSEEN_FROM = 0.01

METHOD = "query_jackknife_t"


#: One system, or two whose difference is estimated.
Compared = tuple[QuerySums] | tuple[QuerySums, QuerySums]


@dataclass(frozen=True, eq=False)
class LearnedLambda:
    """Lambda of one figure, or of several that share it, and those (Q,) with a query left out."""

    value: float
    without: FloatArray


@dataclass(frozen=True)
class Corrected:
    """A corrected mean or difference (NaN with its reason) with its interval.

    `label_error` is the part of the squared error that more labels make smaller, `pool_error` the
    rest: the pool's own, and its covariance with the labels. `alone` is why the ratings alone are
    the estimate, where the labels allow no correction.
    """

    value: float
    interval: Interval
    lam: float
    n_labeled_queries: int
    df: float
    label_error: float
    pool_error: float
    reason: str | None = None
    alone: str | None = None


def corrected(
    sums: QuerySums,
    minus: QuerySums | None = None,
    lam: float | LearnedLambda | None = None,
    level: float = 0.95,
) -> Corrected:
    """Mean of one system, or its difference to another (`minus`), for queries like these.

    The estimate is H + lambda (P - J): H the weighted mean of the human values, J that of the judge
    scores of the same responses, P the judge's mean over the pool. A number `lam` fixes lambda (0:
    the ratings alone, 1: the judge's mean less its mean error). Otherwise it is 0 where
    `uncorrected`, else `lam` or, by default, what `learned_lambda` learns from this figure alone.

    The error comes from leaving queries out, whether labeled or not.
    """
    tables = [sums] if minus is None else [sums, minus]
    labeled = np.column_stack([table.labeled for table in tables])
    count = int(labeled.sum(axis=0).min())
    fixed = not (lam is None or isinstance(lam, LearnedLambda))
    why_alone = None if fixed else uncorrected(sums, minus)
    reason = _undefined(tables, lam)
    if reason:
        nan = float("nan")
        none = withheld(level, METHOD, reason)
        return Corrected(nan, none, nan, count, nan, nan, nan, reason)
    columns = np.hstack([table.columns for table in tables])
    if why_alone:
        lam = 0.0
    elif lam is None:
        lam = learned_lambda([(sums,) if minus is None else (sums, minus)])
    if not isinstance(lam, LearnedLambda):
        lam = LearnedLambda(lam, np.full(len(columns), lam))
    if lam.value == 0 and not lam.without.any():
        columns = _ratings_alone(columns)
    used = _either(columns[:, WEIGHT::5] > 0) | _either(columns[:, COUNT::5] > 0)
    columns, labeled = columns[used], labeled[used]
    any_label = _either(labeled)
    shift = sums.human_origin - (minus.human_origin if minus else 0.0)
    value = float(_leaving_out(columns, _nothing(columns), np.array([lam.value]))[0]) + shift
    without = _leaving_out(columns, columns, lam.without[used]) + shift
    parts = _squared_error(columns, lam.value)
    # Where the judge misses people's values by the same amount on every one of few labeled queries,
    # lambda = 1 leaves no error, and a lambda near 1 one that is too small: judges that are right
    # on 95% of all responses are right on 15 labeled ones in half of the samples.
    least = parts[0]
    if not fixed and count < LEARNED_FROM:
        least = min(least, _squared_error(columns, 1.0)[0])
    if np.sqrt(least) <= NO_SPREAD * max(1.0, abs(value)) and np.count_nonzero(any_label) > 1:
        why = no_spread("every labeled query gives the same value")
        none = withheld(level, METHOD, why)
        return Corrected(
            value, none, lam.value, count, float("nan"), *parts, reason=None, alone=why_alone
        )
    interval, df = _interval(value, without, labeled, level)
    why_unseen = next(filter(None, map(_unseen, tables)), None)
    if why_unseen and interval.reason is None:
        interval, df = withheld(level, METHOD, why_unseen), float("nan")
    return Corrected(value, interval, lam.value, count, df, *parts, reason=None, alone=why_alone)


def uncorrected(sums: QuerySums, minus: QuerySums | None = None) -> str | None:
    """Why the ratings alone are the estimate; None where they are corrected."""
    tables = [sums] if minus is None else [sums, minus]
    unlabeled = sum(table.n_unlabeled for table in tables)
    labels = sum(table.n_labels for table in tables)
    if unlabeled < UNLABELED_FROM * (unlabeled + labels):
        return f"{labels:,} of {unlabeled + labels:,} responses are rated"
    few = [table.n_apart for table in tables if 0 < table.n_apart < APART_FROM]
    if few:
        return (
            f"{few[0]} of the rated responses {'is' if few[0] == 1 else 'are'} more than half the "
            "scale away from the others, too few to learn whether the judge sees such responses"
        )
    return None


def _unseen(table: QuerySums) -> str | None:
    """Why the labels say too little about the pool; None where they do not."""
    if table.n_unseen < max(1, UNSEEN_FROM * table.n_pool):
        return None
    return (
        f"the judge scores {table.n_unseen:,} of {table.n_pool:,} responses far outside its scores "
        "of all rated ones: rate some of these"
    )


def learned_lambda(figures: Sequence[Compared], *, one_scale: bool = True) -> LearnedLambda:
    """The lambda that these means, or differences, share; on one scale averaged with lambda = 1.

    It minimizes the squared error summed over queries and figures (Angelopoulos, Duchi and Zrnic
    2023, section 6), anew for every query left out. Any lambda leaves a figure unbiased, so that
    sharing it supposes nothing of the systems; where the judge serves some better than others,
    their intervals are wider than they could be.

    P includes the labeled responses, so that P - J is the unlabeled share times the gap between
    the unlabeled and the labeled: lambda times that share is PPI++'s weight, which falls with the
    number of unlabeled responses. The error of P - J is estimated twice, from the labeled queries
    and from all, and the larger estimate counts, which shrinks lambda where they disagree. In
    standard deviations lambda is bounded to 0 to 1 as in PPI++; as a slope, which leads from the
    judge's points to people's, to 0 to the ratio of people's standard deviation to the judge's.

    On one scale the result is (n lambda + 20 c) / (n + 20), n the labels whose human value (or
    difference) is not the most common one. c is how far the labels show that the judge
    tells anything: 1 - 1 / t^2, t that of its correlation with people, and 0 for t below 1 (the
    positive part of James and Stein). Where most values are the same it is 1: intervals of the
    ratings alone cover too little there.
    """
    counts = [informative(*figure) for figure in figures]
    differing = _independent(figures) * sum(few for few, _ in counts)
    alike = _independent(figures) * sum(most for _, most in counts)
    crowded = alike > MOSTLY_ALIKE * differing

    def columns() -> Iterator[FloatArray]:
        # One figure at a time: all pairs of systems would take many times the sums themselves.
        return (np.hstack([table.columns for table in figure]) for figure in figures)

    def shared(parts: Iterable[tuple[FloatArray, FloatArray]]) -> FloatArray:
        slope, shown = _tuned(parts, differing + alike)
        if not one_scale:
            return slope
        share = differing / (differing + WORTH_OF_ONE)
        return np.asarray(share * slope + (1 - share) * (1.0 if crowded else shown))

    whole = shared((of, _nothing(of)) for of in columns())
    return LearnedLambda(float(whole[0]), shared((of, of) for of in columns()))


def learnable(figures: Sequence[Compared]) -> bool:
    """Whether there are labels enough to learn a lambda for people and a judge on two scales."""
    share = _independent(figures)
    labels = sum(min(int(table.labeled.sum()) for table in figure) for figure in figures)
    differing = sum(informative(*figure)[0] for figure in figures)
    return share * labels >= LEARNED_FROM and share * differing >= INFORMATIVE_FROM


def _independent(figures: Sequence[Compared]) -> float:
    """Share of figures that do not follow from the others: k systems have k - 1 differences."""
    if all(len(figure) == 1 for figure in figures):
        return 1.0
    return (len({id(table) for figure in figures for table in figure}) - 1) / len(figures)


def informative(sums: QuerySums, minus: QuerySums | None = None) -> tuple[int, int]:
    """How many labeled queries do not have the most common human value, and how many have it."""
    tables = [sums] if minus is None else [sums, minus]
    labeled = _either(np.column_stack([table.labeled for table in tables]))
    values = np.zeros(labeled.size)
    for table, sign in zip(tables, (1.0, -1.0), strict=False):
        human, weight = table.columns[:, HUMAN], table.columns[:, WEIGHT]
        np.add(values, sign * human / np.where(weight > 0, weight, 1.0), out=values)
    counts = np.unique(comparable(values[labeled]), return_counts=True)[1]
    most = int(counts.max(initial=0))
    return int(counts.sum()) - most, most


def _undefined(tables: list[QuerySums], lam: float | LearnedLambda | None) -> str | None:
    for table in tables:
        if table.n_labels == 0:
            return "no labeled response"
        if lam != 0 and table.n_pool == 0:
            return "no response in the pool"
        if lam != 0 and table.n_unjudged == table.n_pool:
            return "no judge score"
    return None


def _either(in_tables: BoolArray) -> BoolArray:
    """Whether it is true of any of one or two tables (Q, 1 or 2)."""
    return np.asarray(in_tables[:, 0] | in_tables[:, -1])


def _ratings_alone(columns: FloatArray) -> FloatArray:
    """The sums with no judge, so that only labeled queries are left out."""
    columns = columns.copy()
    for column in (JUDGE, POOL):
        columns[:, column::5] = 0.0
    columns[:, COUNT::5] = columns[:, WEIGHT::5] > 0
    return columns


def _nothing(columns: FloatArray) -> FloatArray:
    """A row of sums (1, 5 or 10) that leaves no query out."""
    return np.zeros((1, columns.shape[1]))


def _leaving_out(columns: FloatArray, out: FloatArray, lams: FloatArray) -> FloatArray:
    """Estimates (m,), each without one row of sums (m, 5 or 10) and its own lambda."""
    _, _, _, point, gap, defined = _influences(columns.sum(axis=0) - out)
    return np.where(defined, point + lams * gap, np.nan)


def _tuned(
    parts: Iterable[tuple[FloatArray, FloatArray]], labels: float
) -> tuple[FloatArray, FloatArray]:
    """Lambdas (m,) with the least squared error summed over figures: columns, rows to leave out.

    Also how far this many labels show that the judge tells anything of people's values, 0 to 1.
    """
    people_squares, judge_squares, cross = (np.zeros(1) for _ in range(3))
    gained, spread, scale = (np.zeros(1) for _ in range(3))
    for columns, out in parts:
        human, judge, pool, *_ = _influences(columns.sum(axis=0) - out)
        moments = columns.T @ columns

        def product(
            a: FloatArray, b: FloatArray, moments: FloatArray = moments, out: FloatArray = out
        ) -> FloatArray:
            """Sum over the queries that are left of two influences' products."""
            left_out_products = np.einsum("ij,ij->i", a, out) * np.einsum("ij,ij->i", b, out)
            return np.asarray(np.einsum("ij,ij->i", a @ moments, b) - left_out_products)

        drift, score_squares = pool - judge, product(judge, judge)
        # Two estimates of the squared error of P - J, from the labeled queries and from all. Few
        # unlabeled queries make the second small by chance.
        spread = spread + np.maximum(-product(judge, drift), product(drift, drift))
        gained = gained - product(human, drift)
        people_squares = people_squares + product(human, human)
        judge_squares = judge_squares + score_squares
        cross = cross + product(human, judge)
        scale = scale + product(pool, pool) + score_squares
    # A pool that is all labeled, or a constant judge, adds no information.
    # Where it has no spread at all, rounding may leave a scale below 0.
    some = (spread > np.maximum(0.0, NEGLIGIBLE * scale)) & (judge_squares > 0)
    steepest = np.sqrt(np.maximum(ratio(people_squares, judge_squares, some), 0.0))
    slope = np.where(some, np.clip(ratio(gained, spread, some), 0.0, steepest), 0.0)
    related = some & (cross > 0) & (people_squares > 0)
    square = np.where(related, ratio(cross**2, people_squares * judge_squares, related), 0.0)
    # 1 - 1 / t^2, t^2 = (n - 2) r^2 / (1 - r^2).
    related = related & (square > NEGLIGIBLE)
    noise = ratio(1 - square, max(1.0, labels - 2) * square, related)
    return slope, np.where(related, np.clip(1 - noise, 0.0, 1.0), 0.0)


def _influences(
    total: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, BoolArray]:
    """Coefficients (m, 5k) of a query's influence on H, J and P; then H, P - J, where defined."""
    human, judge, pool = (np.zeros_like(total) for _ in range(3))
    point, gap = np.zeros(len(total)), np.zeros(len(total))
    defined = np.ones(len(total), dtype=bool)
    for start, sign in zip(range(0, total.shape[1], 5), (1.0, -1.0), strict=False):
        sums = total[:, start : start + 5]
        weight, count = sums[:, WEIGHT], sums[:, COUNT]
        present = (weight > NEGLIGIBLE) & (count > 0.5)
        defined &= present
        scale = np.where(present, sign / np.where(present, weight, 1.0), 0.0)
        share = np.where(present, sign / np.where(present, count, 1.0), 0.0)
        for of, column, unit, base in (
            (human, HUMAN, scale, WEIGHT),
            (judge, JUDGE, scale, WEIGHT),
            (pool, POOL, share, COUNT),
        ):
            mean = sums[:, column] * unit
            of[:, start + column] = unit
            of[:, start + base] = -mean * unit * sign
            if column == HUMAN:
                point += mean
            else:
                gap += mean if column == POOL else -mean
    return human, judge, pool, point, gap, defined


def _squared_error(columns: FloatArray, lam: float) -> tuple[float, float]:
    """Squared error by influences: what the labels add, and all the rest."""
    human, judge, pool, *_ = _influences(columns.sum(axis=0)[None, :])
    labels = columns @ (human - lam * judge)[0]
    others = lam * (columns @ pool[0])
    return float(labels @ labels), float(others @ others + 2 * (labels @ others))


def _interval(
    value: float, without: FloatArray, labeled: BoolArray, level: float
) -> tuple[Interval, float]:
    """Jackknife with a t quantile; degrees of freedom from the queries that inform the figure.

    `labeled` (Q, 1 or 2) are the queries with labels of each system. Those of the system that has
    fewer, the other's further ones, and the pool are independent parts of the error, each with its
    degrees of freedom (Satterthwaite): most of the error is that of the system with few labels,
    and rests on these, however many the other has.
    """
    nan = float("nan")
    any_label = _either(labeled)
    few = int(np.count_nonzero(any_label))
    if few < 2:
        why = "an interval needs at least 2 labeled queries, there is 1"
        return withheld(level, METHOD, why), nan
    if np.isnan(without).any():
        why = "a system's labels all belong to one query"
        return withheld(level, METHOD, why), nan
    if why_few := rests_on_few(int(labeled.sum(axis=0).min()), len(labeled)):
        return withheld(level, METHOD, why_few), nan
    squares = (without - without.mean()) ** 2
    # The jackknife has (n - 1) / n, n the queries that a part rests on: those of the pool would
    # make the labels' part too large by n / (n - 1).
    squares[any_label] *= (few - 1) / few
    total = float(squares.sum())
    if np.sqrt(total) <= NO_SPREAD * max(1.0, abs(value)):
        return withheld(level, METHOD, EQUAL_RESAMPLES), nan
    fewer = labeled[:, np.argmin(labeled.sum(axis=0))]
    below = float(squares[~any_label].sum()) ** 2 / max(1, len(labeled) - few)
    for part in (fewer, any_label & ~fewer):
        if part.any():
            below += float(squares[part].sum()) ** 2 / max(1.0, effective_df(without[part]))
    df = total**2 / below
    reach = t_quantile((1 + level) / 2, df) * np.sqrt(total)
    p = two_sided_p(value / np.sqrt(total), df)
    return Interval(float(value - reach), float(value + reach), level, METHOD, p=p), float(df)


def labels_saved(corrected: Corrected, alone: Corrected, n_labels: int, n_unlabeled: int) -> float:
    """Ratings spared: n (width of the ratings alone / width of the corrected)^2 - n.

    At most the unlabeled responses: a judge that equals people saves these, none more. Negative
    where the judge's scores made the interval wider; NaN without both intervals.
    """
    plain = alone.interval.high - alone.interval.low
    powered = corrected.interval.high - corrected.interval.low
    if not powered > 0:
        return math.nan
    return min(n_labels * (plain / powered) ** 2 - n_labels, float(n_unlabeled))


def labels_needed(
    corrected: Corrected, half_width: float, n_labels: int, level: float = 0.95
) -> tuple[float, str | None]:
    """Labeled responses at which the interval reaches so far to each side; NaN with the reason.

    The labels' part of the squared error falls with their number, that of the pool stays; the t
    quantile has one degree of freedom less than there are labeled queries. The number of
    labeled responses per query is kept.
    """
    if not math.isfinite(corrected.label_error) or corrected.n_labeled_queries < 2:
        return math.nan, corrected.reason or corrected.interval.reason or "too few labels"
    if not half_width > 0:
        raise ValueError(f"a half-width of {half_width:g} is not above 0")
    queries, per_query = corrected.n_labeled_queries, n_labels / corrected.n_labeled_queries

    def reach(count: float) -> float:
        squared = corrected.label_error * queries / count + corrected.pool_error
        return t_quantile((1 + level) / 2, count - 1) * math.sqrt(max(squared, 0.0))

    if t_quantile((1 + level) / 2, 1e9) ** 2 * corrected.pool_error >= half_width**2:
        return math.nan, "the judged responses alone are too few for this width"
    low, high = 1.0, 2.0
    while reach(high) > half_width:
        low, high = high, 2 * high
        if high > 1e9:
            return math.nan, "the judged responses alone are too few for this width"
    while high - low > 0.5:
        middle = (low + high) / 2
        low, high = (middle, high) if reach(middle) > half_width else (low, middle)
    return float(math.ceil(math.ceil(high) * per_query)), None
