"""The paper's own figures, and what follows from them."""

import pytest

from analysis.statistics.distribution.published import (
    RESPONSES,
    SOURCE,
    SYSTEMS,
    published,
    published_figure,
)

KEYS = ("CC", "QR", "ID", "AC", "IR")


def test_the_source_is_named() -> None:
    assert published("source").startswith(SOURCE)


def test_figures_are_found_by_system_and_construct() -> None:
    assert published_figure("table13_ties_pct", "A", "QR") == 62.5
    assert published_figure("table5_6_bounds_counts", "A", "CC", "at_0") == 186
    assert published_figure("table4_mean_pct", "A", "P") is None
    assert published_figure("table4_mean_pct", "S1", "CC") is None
    with pytest.raises(KeyError, match="there are"):
        published("table1")


def test_the_means_of_table_4_are_those_of_table_14() -> None:
    for system in SYSTEMS:
        for key in KEYS:
            mean = published_figure("table4_mean_pct", system, key)
            assert published_figure("table14_central_pct", system, key, "mean") == mean


def test_the_maximum_of_ac_is_the_slip_of_a_unit() -> None:
    for system in SYSTEMS:
        most = published_figure("table15_variability_points", system, "AC", "max")
        assert most == pytest.approx(0.3 * 100 + 0.7 * 1)


def test_table_2_counts_the_significant_pairs_of_tables_20_to_24() -> None:
    for key, (count, of) in published("table2_dp").items():
        pairs = published("table20_24_pairwise")[key]
        assert len(pairs) == of
        assert sum(pair["p"] < 0.05 for pair in pairs.values()) == count


def test_ties_at_the_ends_are_possible() -> None:
    # Two of n responses tie at least as often as both lie at the top.
    for system in SYSTEMS:
        for key in KEYS:
            top = published_figure("table5_6_bounds_counts", system, key, "at_1") or 0.0
            ties = published_figure("table13_ties_pct", system, key) or 0.0
            assert (top / RESPONSES) ** 2 <= ties / 100 + 5e-4
