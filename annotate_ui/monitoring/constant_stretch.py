"""A rater who stops reading: the values repeat on all constructs from some response on.

The run of one value on all items is known as longstring (Curran 2016, Methods for the detection of
carelessly invalid responses in survey data, Journal of Experimental Social Psychology 66, 4-19).
Easy items deserve the same values one after the other, so a stretch is compared with two
things: with other raters on the same queries, and with the rater's own other queries.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import betaln

from analysis.core.arrays import BoolArray, FloatArray, IntArray
from annotate_ui.monitoring.signals import LEAST_QUERIES, LEAST_VALUES, Signal, too_few
from study.text import counted

#: A query is constant if this share of its values repeats the rater's response before.
_REPEATED = 0.85

#: Constructs on which the others' values repeat more often tell nothing about a rater.
_ALWAYS = 0.9

#: With fewer constant queries in a row, or queries that others rated too, there is no verdict.
_LEAST_STRETCH = 3

#: A stretch is flagged if it is as unlikely by the others' queries and by the rater's own ones.
_UNLIKELY = 0.05

#: From so many queries on, the chance by the rater's own queries is that among all raters as well.
#: With fewer, nobody could be found where many rate.
_MANY_QUERIES = 16


@dataclass(frozen=True, eq=False)
class RatedResponses:
    """A rater's responses in the order of rating, each with a value on a construct or more.

    `query` is (n,), `value` (n, constructs), NaN without a value. The rows of a query are adjacent.
    """

    query: IntArray
    value: FloatArray


@dataclass(frozen=True, eq=False)
class _Queries:
    """A rater's queries in order: which they are, and how much each repeats what came before."""

    query: IntArray
    share: FloatArray
    responses: tuple[FloatArray, ...]
    """The values (responses, constructs) of each."""

    def equal_to(self, expected: FloatArray) -> BoolArray:
        """Return whether the values of each query are those expected (constructs,), mostly."""
        shares = [np.mean((of == expected)[np.isfinite(of)]) for of in self.responses]
        return np.asarray(shares, dtype=np.float64) >= _REPEATED

    @property
    def constant(self) -> BoolArray:
        return np.asarray(self.share >= _REPEATED)


def responses_in_order(rows: pd.DataFrame) -> dict[int, RatedResponses]:
    """Return each rater's responses from rows with a value, one a construct, numbered by `order`.

    A rater of a campaign in stages comes back to a response: its place is that of its first value.
    """
    keys = ["rater_id", "query", "response"]
    first = rows.groupby(keys)["order"].min().rename("first")
    table = rows.pivot_table(index=keys, columns="construct", values="value", sort=False)
    table = table.join(first)
    begun = table.groupby(level=["rater_id", "query"])["first"].transform("min")
    order = np.lexsort((table["first"], begun))
    rater, query = (table.index.get_level_values(key).to_numpy()[order] for key in keys[:2])
    value = table.drop(columns="first").to_numpy(dtype=np.float64)[order]
    return {
        int(one): RatedResponses(query[rater == one], value[rater == one])
        for one in np.unique(rater)
    }


def repeats(value: FloatArray) -> FloatArray:
    """Return whether values (n, constructs) equal the one before on their construct: 1 or 0.

    NaN where there is no value, or none before it.
    """
    before = pd.DataFrame(value).ffill().shift().to_numpy(dtype=np.float64)
    known = np.isfinite(value) & np.isfinite(before)
    return np.where(known, value == before, np.nan)


def constant_stretches(raters: Mapping[int, RatedResponses]) -> dict[int, Signal]:
    """Return for each rater whether the values of all constructs stop changing at some response.

    The longest row of queries whose values repeat those before is flagged if it is unlikely twice:
    given how many of the others' same queries have the row's values, for any rater of the
    campaign; and given how many of the rater's queries outside of it have them, without the one
    or two that bound it. Each chance is that of so many such queries in a row (beta-binomial with
    Jeffreys' prior) times the number of places where the row could begin.
    """
    repeated = {rater: repeats(own.value) for rater, own in raters.items()}
    sums = {rater: np.nansum(of, axis=0) for rater, of in repeated.items()}
    counts = {rater: np.isfinite(of).sum(axis=0) for rater, of in repeated.items()}
    all_sums, all_counts = sum(sums.values()), sum(counts.values())
    signals, by_constructs = {}, dict[bytes, dict[int, _Queries]]()
    for rater, own in raters.items():
        others = np.maximum(all_counts - counts[rater], 1)
        telling = np.asarray((all_sums - sums[rater]) / others <= _ALWAYS)
        queries = by_constructs.get(telling.tobytes())
        if queries is None:
            # For most raters the same constructs are left out.
            queries = by_constructs[telling.tobytes()] = {
                key: _query_runs(of.query, of.value[:, telling], repeated[key][:, telling])
                for key, of in raters.items()
            }
        other_queries = [of for key, of in queries.items() if key != rater]
        signals[rater] = _signal(own, repeated[rater][:, telling], queries[rater], other_queries)
    return signals


def _query_runs(query: IntArray, value: FloatArray, repeated: FloatArray) -> _Queries:
    known = np.isfinite(repeated)
    names, place = np.unique(query, return_inverse=True)
    total = np.bincount(place, known.sum(axis=1), names.size)
    same = np.bincount(place, np.nansum(repeated, axis=1), names.size)
    order = np.argsort(np.unique(query, return_index=True)[1])
    order = order[total[order] > 0]
    values = tuple(value[query == name] for name in names[order])
    return _Queries(names[order], same[order] / total[order], values)


def _signal(
    own: RatedResponses, repeated: FloatArray, queries: _Queries, others: list[_Queries]
) -> Signal:
    count = queries.query.size
    if count < LEAST_QUERIES:
        return too_few("straight_lining", None, count, "queries")
    if own.query.size < LEAST_VALUES:
        return too_few("straight_lining", None, own.query.size, "responses")
    constant = queries.constant
    start, length = _longest(constant)
    stretch = queries.query[start : start + length]
    if length < _LEAST_STRETCH:
        return _fine(queries, length)
    expected = _most_frequent(np.concatenate(queries.responses[start : start + length]))
    theirs = [of.equal_to(expected)[np.isin(of.query, stretch)] for of in others]
    same = np.concatenate(theirs) if theirs else np.zeros(0, dtype=bool)
    shares = [of.share[np.isin(of.query, stretch)] for of in others]
    if same.size < _LEAST_STRETCH:
        return too_few("straight_lining", None, same.size, "queries that others rated too")
    alike = queries.equal_to(expected)
    rest = np.concatenate([alike[: max(start - 1, 0)], alike[start + length + 1 :]])
    places, raters = count - length + 1, len(others) + 1
    by_others = places * raters * _chance(same, length)
    by_own = places * (raters if count >= _MANY_QUERIES else 1) * _chance(rest, length)
    if max(by_others, by_own) > _UNLIKELY:
        return _fine(queries, length)
    first, last = _bounds(own.query, repeated, stretch)
    responses = last - first + 1
    outside = np.ones(own.query.size, dtype=bool)
    outside[first : last + 1] = False
    share = float(np.nanmean(repeated[first + 1 : last + 1]))
    usual = float(np.mean(np.concatenate(shares)))
    before = float(np.nanmean(repeated[outside]))
    return Signal(
        "straight_lining",
        None,
        "flagged",
        float(responses),
        usual,
        own.query.size,
        f"from response {first + 1} of {own.query.size} on, {counted(responses, 'response')} in a "
        f"row with the same values: {share:.0%} of the values repeat the response before, "
        f"{before:.0%} of the rater's others, and {usual:.0%} of other raters' on these queries. "
        "Read some of these responses beside their values, and ask the rater before giving them "
        "more work",
    )


def _fine(queries: _Queries, length: int) -> Signal:
    return Signal(
        "straight_lining",
        None,
        "fine",
        float(length),
        None,
        queries.query.size,
        f"at most {counted(length, 'query', 'queries')} in a row with the same values on all "
        f"constructs, of {queries.query.size}",
    )


def _most_frequent(value: FloatArray) -> FloatArray:
    """Return the most frequent value of each construct (n, constructs); the lowest of equals."""
    modes = []
    for column in value.T:
        values, counts = np.unique(column[np.isfinite(column)], return_counts=True)
        modes.append(values[np.argmax(counts)] if values.size else np.nan)
    return np.array(modes)


def _longest(constant: BoolArray) -> tuple[int, int]:
    """Return the place and length of the longest row of constant queries; the later of equals."""
    edges = np.diff(np.concatenate([[0], constant.astype(np.int64), [0]]))
    starts, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    if not starts.size:
        return 0, 0
    lengths = ends - starts
    place = starts.size - 1 - int(np.argmax(lengths[::-1]))
    return int(starts[place]), int(lengths[place])


def _chance(constant: BoolArray, length: int) -> float:
    """Return the chance that the next queries, `length` of them, are all constant."""
    yes, no = float(constant.sum()) + 0.5, float((~constant).sum()) + 0.5
    return float(np.exp(betaln(yes + length, no) - betaln(yes, no)))


def _bounds(query: IntArray, repeated: FloatArray, stretch: IntArray) -> tuple[int, int]:
    """Return the places of the first and last response with the same values."""
    inside = np.flatnonzero(np.isin(query, stretch))
    first, last = int(inside[0]), int(inside[-1])
    whole = np.nanmin(np.where(np.isfinite(repeated), repeated, 1.0), axis=1) == 1.0
    # The change may be within a query, and its first response differs from the one before.
    while first > 0 and whole[first]:
        first -= 1
    while last + 1 < query.size and whole[last + 1]:
        last += 1
    return first, last
