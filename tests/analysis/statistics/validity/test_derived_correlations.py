"""Fisher averages, differences and HTMT."""

import numpy as np
import pytest

from analysis.core.resampling import QueryResampling
from analysis.statistics.distribution.published import published
from analysis.statistics.validity.correlation_family import CorrelationFamily, prepared
from analysis.statistics.validity.derived_correlations import (
    Variable,
    averaged_by_fisher,
    common_items,
    fisher_average,
    htmt,
    kind,
    smallest_eigenvalue,
    with_derived,
)


def test_figure_3a_of_the_paper_follows_from_its_tables_7_to_12() -> None:
    tables = published("table7_12_correlations")
    for pair, printed in published("figure3_avg_pearson").items():
        i, j = (tables["order"].index(key) for key in pair.split("-"))
        of_systems = np.array([[tables[system]["pearson"][i][j] for system in "ABCDEF"]])
        # The tables are printed to three digits.
        assert fisher_average(of_systems)[0] == pytest.approx(printed, abs=6e-4), pair


def test_a_correlation_of_one_has_no_average() -> None:
    assert np.isnan(fisher_average(np.array([[0.5, 1.0], [0.2, -1.0]]))).all()
    assert fisher_average(np.array([[0.5, 0.5]]))[0] == pytest.approx(0.5)


def _two_systems(loading: float, queries: int, rng: np.random.Generator) -> CorrelationFamily:
    """Two constructs of two systems that share `loading` of what a query gives."""
    shared = rng.normal(size=(queries, 2))
    made = CorrelationFamily(np.tile(np.arange(queries), 2), queries)
    values = [
        np.sqrt(loading) * shared + np.sqrt(1 - loading) * rng.normal(size=(queries, 2))
        for _ in range(2)
    ]
    x, y = np.concatenate(values).T
    for system in range(2):
        items = np.repeat(np.arange(2), queries) == system
        made.add(prepared(x), prepared(y), items)
    return made


def test_the_interval_of_an_average_is_joint_over_systems_that_share_queries() -> None:
    # Correlations of two systems that share .95 of what they have correlate .95 squared: their
    # mean has 1.9 times the variance that two independent ones would give it.
    rng = np.random.default_rng(8)
    resampling = QueryResampling(200, 400)
    wider = []
    for _ in range(8):
        base = _two_systems(0.95, 200, rng).family()
        family = with_derived(base, [averaged_by_fisher((0, 1), ("A", "B"))])
        joint = resampling.interval_of(family.replicates(resampling)[2])
        wider.append((joint.high - joint.low) / (2 * 1.96 / np.sqrt(2 * 197)))
    assert np.mean(wider) == pytest.approx(np.sqrt(1.9), rel=0.1)


def test_htmt_is_withheld_where_a_part_is_not_positive() -> None:
    rng = np.random.default_rng(1)
    trait = rng.normal(size=(60, 2))
    judge, people = (trait + 0.3 * rng.normal(size=(60, 2)) for _ in range(2))
    made = CorrelationFamily(np.arange(60), 60)
    columns = [prepared(v) for v in (judge[:, 0], judge[:, 1], people[:, 0], people[:, 1])]
    for i, j in ((0, 3), (1, 2), (0, 2), (1, 3)):
        made.add(columns[i], columns[j])
    base = made.family()
    points = base.points()
    family = with_derived(base, [htmt((0, 1), (2, 3), ("CC", "QR"))])
    result = family.replicates(QueryResampling(60, 200))[4]
    expected = points[:2].mean() / np.sqrt(points[2] * points[3])
    if points[:2].mean() > 0:
        assert result.point == pytest.approx(expected)
    made.add(columns[0], -columns[2])
    against = with_derived(made.family(), [htmt((2, 3), (4, 3), ("CC", "QR"))])
    assert np.isnan(against.points()[5])
    assert "CC with itself across methods is not positive" in str(against.reasons[5])


def test_htmt_of_known_correlations() -> None:
    from analysis.statistics.validity.derived_correlations import htmt_of

    assert htmt_of(np.array([[0.3, 0.5]]), np.array([[0.8, 0.5]]))[0] == pytest.approx(
        0.4 / np.sqrt(0.4)
    )
    assert np.isnan(htmt_of(np.array([[-0.3, 0.1]]), np.array([[0.8, 0.5]]))[0])


def test_kinds_are_campbell_and_fiskes() -> None:
    values = np.zeros(2)
    judge_cc, judge_qr = (Variable("judge", key, values) for key in ("CC", "QR"))
    people_cc = Variable("people", "CC", values)
    assert kind(judge_cc, people_cc) == "monotrait_heteromethod"
    assert kind(judge_cc, judge_qr) == "heterotrait_monomethod"
    assert kind(judge_qr, people_cc) == "heterotrait_heteromethod"


def test_pairwise_correlations_may_fit_no_variables() -> None:
    # r12 = r13 = .9 and r23 = -.9 can't hold on the same items: eigenvalue 1 - 2 * .9.
    assert smallest_eigenvalue(3, np.array([0.9, 0.9, -0.9])) == pytest.approx(-0.8)
    assert smallest_eigenvalue(2, np.array([0.5])) == pytest.approx(0.5)
    assert np.isnan(smallest_eigenvalue(2, np.array([np.nan])))


def test_common_items_are_used_where_there_are_thirty() -> None:
    full, part = np.arange(40.0), np.arange(40.0)
    part[:11] = np.nan
    variables = [Variable("judge", "CC", full), Variable("people", "CC", part)]
    assert common_items(variables) is None
    part[10] = 1.0
    result = common_items(variables)
    assert result is not None
    assert result.sum() == 30
