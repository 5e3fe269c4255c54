"""The multitrait-multimethod matrix."""

import numpy as np
import pytest

from analysis.statistics.validity.multitrait import (
    Variable,
    common_items,
    kind,
    smallest_eigenvalue,
)


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
    found = common_items(variables)
    assert found is not None
    assert found.sum() == 30
