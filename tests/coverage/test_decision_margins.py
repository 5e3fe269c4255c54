"""Answers on simulated studies: a few new ones, and what the committed tables must show."""

import numpy as np
import pytest

from analysis.core.statistic import ORDER
from analysis.statistics.agreement.human_ceiling import human_ceiling
from tests.coverage.decision_margins import (
    PLAIN,
    Cell,
    answer,
    at_regret,
    plain,
    powers,
    read,
    run,
    sizes,
)
from tests.coverage.decision_studies import (
    Design,
    error_at,
    order_difference,
    points_behind,
    population,
)
from tests.coverage.decision_tables import PAGE, page_with, tables

#: The largest share of false answers of one cell, and on average over a table.
OF_A_CELL, OF_A_TABLE = 0.09, 0.055

FEW = [cell for cell in sizes() if cell.design.queries == 30 or cell.design.systems == 2]


@pytest.mark.slow
@pytest.mark.parametrize("cell", FEW, ids=lambda cell: " ".join(cell.key))
def test_a_judge_at_a_margin_seldom_gets_yes_or_no(cell: Cell) -> None:
    found = [run(cell, number).answer for number in range(10_000, 10_015)]
    # Of 15 studies at .05, 5 have one once in 1,600 runs.
    assert found.count("yes") < 5
    assert found.count("no") < 5


@pytest.mark.slow
@pytest.mark.parametrize("raters", [3, 5])
def test_the_judge_at_the_margin_of_the_order_is_there(raters: int) -> None:
    """Also on queries that were not those by which its error was found."""
    error = error_at(-0.1, raters)
    assert order_difference(error, raters) == pytest.approx(-0.1, abs=0.001)
    found = []
    for seed in range(2, 8):
        d = population(error, raters, 50_000, seed)
        ceiling = human_ceiling(d.ratings, d.judge, d.query, "within_query", ORDER)
        assert ceiling.difference is not None
        found.append(ceiling.difference.point)
    # Three standard errors of 300,000 queries.
    assert np.mean(found) == pytest.approx(-0.1, abs=0.0035)


def test_the_choice_at_the_margin_costs_five_points_of_the_scale() -> None:
    """After values are rounded and end at 0 and 100."""
    assert points_behind(5.0) > 5.1
    d = at_regret(Design(200_000, 3, 3), np.random.default_rng(8))
    best, *others = (d.ratings[d.system == system].mean() for system in range(3))
    assert [best - other for other in others] == pytest.approx([5, 5], abs=0.2)
    assert d.judge[d.system == 1].mean() > d.judge[d.system == 0].mean()


@pytest.mark.parametrize("word", ["yes", "no"])
def test_false_answers_are_rare_at_the_margins(word: str) -> None:
    table = {key: counts for key, counts in read().items() if key[0] == "size"}
    assert set(table) == {cell.key for cell in sizes()}
    shares = {key: counts[word] / counts["studies"] for key, counts in table.items()}
    assert {key for key, share in shares.items() if share > OF_A_CELL} == set()
    assert np.mean(list(shares.values())) <= OF_A_TABLE


#: What a good judge must get at least: use and judge, study, share with a yes.
WANTED = (
    ("choose_between_responses: equal to a rater, 5 constructs", "100 x 4 x 5", 0.40),
    ("rank_systems: equal to a rater, 5 constructs", "100 x 4 x 5", 0.60),
    ("report_level: equal to a rater, 5 constructs", "100 x 4 x 5", 0.80),
    ("choose_between_responses: half a rater's error, 5 constructs", "30 x 4 x 3", 0.65),
    ("choose_between_responses: half a rater's error, 1 construct", "100 x 4 x 1", 0.80),
)


def test_true_answers_are_given() -> None:
    table = {key[1:]: counts for key, counts in read().items() if key[0] == "power"}
    assert set(table) == {cell.key[1:] for cell in powers()}
    for kind, design, share in WANTED:
        counts = table[kind, "these_raters", design]
        assert counts["yes"] >= share * counts["studies"], kind
    for (kind, *_), counts in table.items():
        if "noise" in kind or "report_level: 12 points kind" in kind:
            assert counts["yes"] <= 0.055 * counts["studies"], kind


def test_the_chance_is_calibrated() -> None:
    """Over all bands and spreads the share that is true is the mean probability."""
    bands = [
        counts
        for key, counts in read().items()
        if key[0] == "chance" and key[3] != "studies" and counts["studies"]
    ]
    expected = sum(counts["mean"] * counts["studies"] for counts in bands)
    true = sum(counts["yes"] for counts in bands)
    total = sum(counts["studies"] for counts in bands)
    # Three Monte Carlo errors, and .03 for spreads that are not flat.
    error = 3 * (expected / total * (1 - expected / total) / total) ** 0.5
    assert abs(true - expected) / total < error + 0.03


@pytest.mark.parametrize(
    ("judge", "use", "expected"),
    [
        ("noise, 5", "choose_between_responses", "no"),
        ("half a rater's error, 1", "choose_between_responses", "yes"),
        ("12 points kind, 5", "report_level", "no"),
        ("equal to a rater, 5", "rank_systems", "yes"),
    ],
)
def test_the_plain_reference_answers_clear_cases(judge: str, use: str, expected: str) -> None:
    cell = next(c for c in powers() if c.kind.startswith(f"{use}: {judge}"))
    assert [answer(plain(cell), number)[0] for number in range(3)] == [expected] * 3


def test_the_plain_reference_stands_beside_every_cell() -> None:
    known = read()
    for cell in (*sizes(), *powers()):
        assert known[plain(cell).key]["studies"] >= 100, cell.key
    assert {key[0].removeprefix(PLAIN) for key in known} == {"size", "power", "chance"}


def test_a_sample_of_the_judged_queries_decides_more() -> None:
    """100 of 2,000 judged queries are rated, in place of 100 of 100."""
    table = read()
    for systems in (2, 4, 6):
        kind = "rank_systems: equal to a rater, systems 4 points apart"
        yes = [
            counts["yes"] / counts["studies"]
            for queries in ("100", "100 of 2000")
            for counts in [table["power", kind, "these_raters", f"{queries} x {systems} x 1"]]
        ]
        assert yes[1] > yes[0] + 0.05, systems


def test_the_page_has_the_tables() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert page_with(text, tables()) == text
