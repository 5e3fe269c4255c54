"""The rule for ranking systems without each of its parts: what the committed table shows."""

import pytest

from tests.coverage.choice_parts import POWER, cells, chosen_p, simulated
from tests.coverage.tables import read_rows

ROWS = read_rows("choice_parts.csv")


def test_every_cell_is_in_the_table() -> None:
    known = [(row["kind"], row["design"]) for row in ROWS]
    assert known == [(cell.kind, str(cell.design)) for cell in cells()]


def test_the_correction_holds_back_false_answers_and_the_pair_costs_little() -> None:
    power = next(row for row in ROWS if row["kind"] == POWER)
    assert float(power["no_pair"]) - float(power["rule"]) <= 0.03
    assert float(power["no_correction"]) - float(power["rule"]) >= 0.15
    sizes = [row for row in ROWS if row["kind"] != POWER]
    assert max(float(row["rule"]) for row in sizes) <= 0.055
    assert max(float(row["estimated"]) for row in sizes) <= 0.055
    far_below = [float(r["no_correction"]) for r in sizes if "far below" in r["kind"]]
    assert max(far_below) > 0.09


def test_a_choice_without_a_shared_error_needs_no_correction_and_with_all_of_it_the_largest() -> (
    None
):
    assert chosen_p(0.02, 3, 0.0, 0.5) == pytest.approx(0.02, abs=1e-6)
    # The largest of three independent values: 1 - .98^3.
    assert chosen_p(0.02, 3, 0.9999, 0.0) == pytest.approx(1 - 0.98**3, abs=1e-3)


@pytest.mark.slow
def test_a_false_yes_is_rare_where_the_choice_follows_the_errors() -> None:
    cell = next(c for c in cells() if "far below" in c.kind and c.design.systems == 6)
    rule, _, no_pair, *_ = simulated(cell, 60)
    # Of 60 studies at .05, 9 have one once in 300 runs.
    assert rule <= no_pair < 9 / 60
