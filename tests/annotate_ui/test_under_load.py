"""Raters save while the server is killed: nothing confirmed is lost, nothing stored twice.

`python -m tests.benchmarks.rating_load` measures how long it takes, with more raters.
"""

import pytest

from study import Study
from tests.benchmarks.rating_load import under_load

pytestmark = pytest.mark.server


def test_a_killed_server_loses_and_doubles_nothing(any_study: Study) -> None:
    load = under_load(any_study, raters=8, seconds=10, every=0.5)
    assert load.lost == []
    assert load.doubled == []
    assert load.unexplained == 0
    # How many saves a rater manages before and after the death is the machine's.
    assert load.confirmed > load.raters
    assert load.sent_again > 0, "the death was in the middle of the work"
