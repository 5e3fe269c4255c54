"""What may not change a figure: order, names, origin and unit of the points, rows said twice.

Values agree to 1e-9. So do jackknife intervals; those of the bootstrap need the queries in the same
order, since a resample is drawn by their places. Figures of seeded draws (permutation tests, folds
and splits of raters) are compared where the places stay.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from analysis import Options, Scale, analyse
from analysis.core.arrays import FloatArray
from analysis.core.estimates import Estimate
from analysis.core.pairs import Scope
from analysis.core.query_statistic import QueryStatistic
from analysis.core.resampling import QueryResampling
from analysis.statistics.agreement.association import Measure, association
from analysis.statistics.agreement.human_ceiling import human_ceiling
from analysis.statistics.reliability.alpha import alpha_of_weights, krippendorff_alpha
from analysis.statistics.reliability.icc import icc, icc_interval, icc_undefined_reason
from analysis.statistics.reliability.variance_components import bias_for_raters_like_these
from tests.analysis.ragged import ratings, tables
from tests.analysis.scores import POINTS, simulated, table
from tests.conftest import examples

CLOSE = {"rel": 1e-9, "abs": 1e-9}

#: Figures of seeded draws over places: queries or raters in another order are drawn otherwise.
DRAWN = (
    "randomized_tukey_hsd",
    "discriminative_power",
    "hypothesis",
    "system_difference",
    "recalibrated_",
    "pairwise_accuracy",
    "soft_pairwise_accuracy",
    "error_by_level",
    "error_by_system",
    "missing_differs",
)

#: What neither origin nor unit of the points may change.
OF_ORDER_AND_SHAPE = (
    "pearson",
    "spearman",
    "kendall_tau_b",
    "krippendorff_alpha",
    "icc",
    "human_ceiling",
    "human_ceiling_difference",
    "judge_against_others",
    "rater_against_others",
    "tie_probability",
    "recalibration_slope",
    "human_construct_correlation",
    "construct_correlation",
    "construct_correlation_average",
    "share_at_max",
)

#: Parameters that are sentences with names of raters, or one name.
TEXTS = ("excluded", "replaced", "note", "name")

Key = tuple[Any, ...]


def base(**changes: Any) -> pd.DataFrame:
    return simulated(**({"queries": 9, "missing": 0.15, "constructs": ("QR", "AC")} | changes))


def analysed(frame: pd.DataFrame, scale: Scale | None = POINTS) -> list[Estimate]:
    return list(analyse(table(frame, scale), options=Options(resamples=100)).estimates)


def keyed(
    result: Sequence[Estimate], names: Mapping[str, str] | None = None
) -> dict[Key, Estimate]:
    """Estimates by what they are of, whatever the order; `names` are translated."""
    known = {} if names is None else names
    by_key: dict[Key, Estimate] = {}
    for e in result:
        parts = (e.scorers, e.systems, e.constructs)
        named = [[known.get(name, name) for name in part] for part in parts]
        # One rater beside the others: which one is the first.
        first = named[0][: e.statistic.startswith("rater_")]
        whose = (*(tuple(sorted(part)) for part in named), *first)
        scope = "".join(e.scope.partition(":")[:2]) + known.get(*[e.scope.partition(":")[2]] * 2)
        params = tuple(
            sorted(
                (k, known.get(v, v) if isinstance(v, str) else v)
                for k, v in e.params.items()
                if isinstance(v, str | int) and k not in TEXTS
            )
        )
        key: Key = (e.statistic, *whose, scope, e.target, params)
        while key in by_key:
            key = (*key, "again")
        by_key[key] = e
    return by_key


def same(
    result: Mapping[Key, Estimate], wanted: Mapping[Key, Estimate], leave_out: Sequence[str] = ()
) -> None:
    """Equal keys, values and intervals, but for statistics whose names begin as said.

    Where some are left out, so are intervals that hold for several figures at once: their critical
    value is drawn.
    """
    skipped = tuple(leave_out)
    assert {k for k in result if not k[0].startswith(skipped)} == {
        k for k in wanted if not k[0].startswith(skipped)
    }
    for key, entry in result.items():
        if skipped and entry.statistic.startswith(skipped):
            continue
        drawn = bool(skipped) and str(entry.method).startswith("max_t")
        alike(entry, wanted[key], ends=not drawn)


def alike(single: Estimate, other: Estimate, by: float = 1.0, *, ends: bool = True) -> None:
    for name in ("value", "ci_low", "ci_high") if ends else ("value",):
        expected = getattr(other, name) * by
        assert getattr(single, name) == pytest.approx(expected, nan_ok=True, **CLOSE), (
            single,
            other,
        )
    assert (single.reason is None) == (other.reason is None), (single, other)


@pytest.fixture(scope="module")
def usual() -> list[Estimate]:
    return analysed(base())


def test_order_of_rows(usual: list[Estimate]) -> None:
    # Constructs stand in order of appearance, and pairs of constructs are named in that order.
    shuffled = base().groupby("construct", sort=False).sample(frac=1, random_state=1)
    same(keyed(analysed(shuffled)), keyed(usual), DRAWN)


def test_rows_in_another_order_with_the_queries_in_place(usual: list[Estimate]) -> None:
    backwards = base().iloc[::-1].sort_values("construct", ascending=False, kind="stable")
    in_place = backwards.sort_values("query_id", key=lambda q: q.str[1:].astype(int), kind="stable")
    assert list(dict.fromkeys(in_place["construct"])) == ["QR", "AC"]
    same(keyed(analysed(in_place)), keyed(usual), ("error_by_level",))


@pytest.mark.parametrize("column", ["response_id", "query_id", "scorer", "system"])
def test_names_that_sort_alike_change_no_figure(column: str, usual: list[Estimate]) -> None:
    frame = base()
    analysis = analysed(frame.assign(**{column: "the " + frame[column]}))
    assert len(analysis) == len(usual)
    for entry, other in zip(analysis, usual, strict=True):
        assert entry.statistic == other.statistic
        alike(entry, other)


@pytest.mark.parametrize("column", ["scorer", "system"])
def test_names_that_sort_otherwise_change_no_figure(column: str, usual: list[Estimate]) -> None:
    frame = base()
    old = sorted(set(frame[column]) - {"judge"})
    new = dict(zip(old, (f"n{9 - place}" for place in range(len(old))), strict=True))
    analysis = analysed(frame.assign(**{column: frame[column].replace(new)}))
    back = {name: was for was, name in new.items()}
    # A difference turns around with the order of its two systems.
    same(keyed(analysis, back), keyed(usual), DRAWN)


def test_rows_said_twice(usual: list[Estimate]) -> None:
    twice = pd.concat([base(), base()])
    same(keyed(analysed(twice)), keyed(usual))


def test_a_missing_cell_is_an_absent_row(usual: list[Estimate]) -> None:
    # Absent rows are unknown to what describes missing values, and to nothing else.
    frame = base()
    absent = analysed(frame[frame["value"].notna()])
    same(keyed(absent), keyed(usual), ("missing_", "mean_bounds"))


def test_origin_and_unit_of_the_points(usual: list[Estimate]) -> None:
    frame = base()
    moved = analysed(frame.assign(value=10 + 2 * frame["value"]), Scale(10, 210))
    compared = set()
    for entry, other in zip(moved, usual, strict=True):
        assert entry.statistic == other.statistic
        if entry.statistic in OF_ORDER_AND_SHAPE:
            alike(entry, other)
        elif entry.statistic in {"bias", "mae"}:
            alike(entry, other, by=2)
        else:
            continue
        compared.add(entry.statistic)
    assert {"pearson", "krippendorff_alpha", "human_ceiling_difference", "bias", "mae"} <= compared


def test_perfect_agreement_is_1() -> None:
    frame = base(missing=0)
    truth = frame[frame["scorer"] == "judge"].set_index(["response_id", "construct"])["value"]
    alone = frame.set_index(["response_id", "construct"])
    perfect = frame.assign(value=truth.reindex(alone.index).to_numpy())
    ones = {"pearson", "spearman", "kendall_tau_b", "krippendorff_alpha", "icc", "human_ceiling"}
    seen = set()
    for entry in analysed(perfect):
        if entry.defined and entry.statistic in ones:
            assert entry.value == pytest.approx(1, **CLOSE), entry
        if entry.defined and entry.statistic in {"bias", "mae", "human_ceiling_difference"}:
            assert entry.value == pytest.approx(0, **CLOSE), entry
        seen.add(entry.statistic)
    assert ones <= seen


@pytest.mark.parametrize("measure", ["pearson", "kendall_tau_b"])
def test_a_judge_that_equals_a_rater_stands_where_the_rater_does(measure: Any) -> None:
    values = ratings(3, n=40, missing=0.2)
    query = np.arange(40) // 4
    for column in range(values.shape[1]):
        ceiling = human_ceiling(values, values[:, column], query, measure=measure)
        rater, judge = ceiling.by_rater[column]
        assert judge == pytest.approx(rater, **CLOSE)


def statistics_of(values: FloatArray, judge: FloatArray, query: Any) -> dict[str, QueryStatistic]:
    """Functions that resample queries, on ragged ratings (n, R) and a judge (n,)."""
    # As many queries whatever they are numbered: how many there are decides which are too few.
    total = max(4, int(query.max()) + 1)
    rated = np.isfinite(values)
    counts = rated.sum(axis=1)
    mean = np.where(counts > 0, np.where(rated, values, 0).sum(axis=1) / np.maximum(counts, 1), 0)
    mean = np.where(counts > 0, mean, np.nan)
    scopes: tuple[Scope, ...] = ("pooled", "between_queries", "within_query")
    measures: tuple[Measure, ...] = ("pearson", "spearman", "kendall_tau_b", "mae")
    by_name = {
        f"{measure} {scope}": association(measure, judge, mean, query, scope, n_queries=total)
        for measure in measures
        for scope in scopes
    }
    for level in ("nominal", "ordinal", "interval", "ratio"):
        by_name[level] = alpha_of_weights(values, query, level, total)
    ceiling = human_ceiling(values, judge, query, n_queries=total)
    assert ceiling.difference is not None
    return by_name | {"ceiling": ceiling.rater, "difference": ceiling.difference}


@settings(max_examples=examples(40))
@given(values=tables(), seed=st.integers(0, 2**16))
def test_order_of_responses_raters_and_queries(values: FloatArray, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, raters = values.shape
    query = rng.integers(0, 4, n)
    judge = rng.integers(0, 6, n).astype(float)
    rows, columns, names = rng.permutation(n), rng.permutation(raters), rng.permutation(4)
    query[0] = 3
    plain = statistics_of(values, judge, query)
    other = statistics_of(values[rows][:, columns], judge[rows], names[query[rows]])
    for name, statistic in plain.items():
        single, two = (
            (s.point, QueryResampling(s.contributing.size).interval(s, None, "jackknife"))
            for s in (statistic, other[name])
        )
        assert two[0] == pytest.approx(single[0], nan_ok=True, **CLOSE), name
        ends = [(i.low, i.high) for i in (single[1], two[1])]
        assert ends[1] == pytest.approx(ends[0], nan_ok=True, rel=1e-6, abs=1e-9), name


@settings(max_examples=examples(40))
@given(values=tables(), seed=st.integers(0, 2**16))
def test_variance_components_know_no_order(values: FloatArray, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, raters = values.shape
    rows, columns = rng.permutation(n), rng.permutation(raters)
    judge, query = rng.normal(size=n), np.arange(n) // 2
    moved = values[rows][:, columns]
    bias, other = (
        bias_for_raters_like_these(*category)
        for category in ((judge, values, query), (judge[rows], moved, query[rows]))
    )
    assert other.value == pytest.approx(bias.value, nan_ok=True, **CLOSE)
    assert other.interval.high == pytest.approx(bias.interval.high, nan_ok=True, rel=1e-4)
    if icc_undefined_reason(values, "A,1") is None:
        assert icc(moved, "A,1") == pytest.approx(icc(values, "A,1"), rel=1e-4, abs=1e-5)
        ends = icc_interval(values, query, "A,1"), icc_interval(moved, query[rows], "A,1")
        assert ends[1].high == pytest.approx(ends[0].high, nan_ok=True, rel=1e-6, abs=1e-9)


@settings(max_examples=examples(40))
@given(values=tables(), shift=st.integers(-50, 50), by=st.sampled_from([0.01, 0.5, 3, 100, -1]))
def test_alpha_has_no_origin_and_no_unit(values: FloatArray, shift: int, by: float) -> None:
    for level in ("nominal", "ordinal", "interval"):
        plain = krippendorff_alpha(values, level)
        assert krippendorff_alpha(shift + by * values, level) == pytest.approx(
            plain, nan_ok=True, **CLOSE
        )


@settings(max_examples=examples(40))
@given(values=tables())
def test_items_said_twice_keep_every_mean(values: FloatArray) -> None:
    n = len(values)
    query, judge = np.arange(n) // 2, np.arange(n) % 5.0
    twice = np.tile(np.arange(n), 2)
    plain = statistics_of(values, judge, query)
    # Each copy under a query of its own, as a weight of 2 would say it.
    other = statistics_of(values[twice], judge[twice], np.r_[query, query + query.max() + 1])
    for name in ("pearson within_query", "kendall_tau_b within_query", "mae pooled"):
        if plain[name].reason is None:
            point = pytest.approx(plain[name].point, nan_ok=True, **CLOSE)
            assert other[name].point == point, name
    weighted = plain["ordinal"](np.full((1, plain["ordinal"].contributing.size), 2.0))[0]
    assert other["ordinal"].point == pytest.approx(weighted, nan_ok=True, **CLOSE)
