"""Careless raters are flagged, each for their habit; careful ones are not."""

import numpy as np
import pytest
from sqlalchemy import func, insert, select

from annotate_ui.monitoring.attention_checks import checks_missed
from annotate_ui.monitoring.campaign_progress import campaign_progress
from annotate_ui.monitoring.careless_responding import rater_signals, too_fast
from annotate_ui.monitoring.people import PEOPLE_COLUMNS, people_rows
from annotate_ui.participants.rejection import reject, restore
from study import Study
from study.schema.tables import assignments, rater_answers, raters, responses as response_table
from tests.annotate_ui.monitoring.simulated_campaign import (
    KEYS,
    Habit,
    assignment_row,
    rating_rows,
    simulate,
)

CAREFUL: dict[str, Habit] = {f"c{number:02}": "careful" for number in range(12)}
EXPECTED: dict[Habit, str] = {
    "tired": "straight_lining",
    "clicks": "little_variation",
    "one_value": "little_variation",
    "hurries": "too_fast",
    "guesses": "low_agreement",
    "skips": "many_missing",
    "unread": "passages_unopened",
}


def test_careless_raters_are_found_among_careful_ones(any_study: Study) -> None:
    simulate(any_study, CAREFUL | {habit: habit for habit in EXPECTED}, checks=5)
    kinds = {
        rater.rater: {signal.kind for signal in rater.flagged} for rater in rater_signals(any_study)
    }
    for habit, kind in EXPECTED.items():
        assert kind in kinds[habit], habit
    # Who guesses misses half of 5 checks, which careful raters may do once in a while.
    assert "checks_missed" in kinds["one_value"]
    assert [rater for rater in CAREFUL if kinds[rater]] == []


def test_one_of_two_raters_who_stops_reading_is_found_on_all_constructs_at_once(
    study: Study,
) -> None:
    simulate(study, {"a": "tired", "b": "careful"}, queries=15, systems=3, per_item=2)
    tired, careful = rater_signals(study)
    over_all = [one for one in tired.flagged if one.construct is None]
    assert [one.kind for one in over_all] == ["straight_lining"]
    assert over_all[0].explanation.startswith("from response 29 of 45 on, 17 responses in a row")
    assert careful.flagged == ()


def test_the_signals_of_a_rejected_rater_stay_to_be_seen(any_study: Study) -> None:
    simulate(any_study, CAREFUL | {habit: habit for habit in EXPECTED}, checks=5)
    before = {rater.rater: rater for rater in rater_signals(any_study)}
    assert len(before["guesses"].flagged) > 1
    with any_study.read() as connection:
        keys = {row.code: row.id for row in connection.execute(select(raters.c.code, raters.c.id))}
    reject(any_study, keys["guesses"])
    after = {rater.rater: rater for rater in rater_signals(any_study)}
    assert after["guesses"] == before["guesses"]
    (person,) = (p for p in people_rows(any_study) if p[0] == "guesses")
    assert "low_agreement" in str(person[PEOPLE_COLUMNS.index("signals")])
    # Others are compared with what counts.
    assert after["c00"] != before["c00"]
    assert "guesses" not in {item.subject for item in campaign_progress(any_study).action_items}
    restore(any_study, keys["guesses"])
    assert {rater.rater: rater for rater in rater_signals(any_study)} == before


@pytest.mark.slow
def test_of_100_careful_raters_at_most_two_are_flagged(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    # 5 campaigns of 20 raters, each with 12 queries of 4 responses.
    flagged = 0
    for seed in range(5):
        study = Study.create(tmp_path_factory.mktemp("careful") / "study")
        raters: dict[str, Habit] = {f"c{number:02}": "careful" for number in range(20)}
        simulate(study, raters, queries=80, checks=5, seed=seed)
        flagged += sum(bool(rater.flagged) for rater in rater_signals(study))
        study.close()
    assert flagged <= 2, "1 of 200 when this was measured"


def test_with_few_data_there_is_no_verdict(study: Study) -> None:
    simulate(study, {"a": "guesses", "b": "hurries", "c": "careful"}, queries=4, checks=1)
    for rater in rater_signals(study):
        assert {signal.verdict for signal in rater.signals} == {"too_few"}
        assert all(signal.value is None for signal in rater.signals)
        assert rater.as_json()["signals"][0]["explanation"].startswith("too few")


@pytest.mark.parametrize(
    ("purpose", "repeat", "after_reveal"),
    [
        pytest.param("repeat", 1, False, id="repeats"),
        pytest.param("main", 1, False, id="second-values-of-the-main-part"),
        pytest.param("main", 0, True, id="first-entered-after-the-reveal"),
    ],
)
def test_only_first_values_that_count_enter_the_signals(
    study: Study, purpose: str, repeat: int, after_reveal: bool
) -> None:
    simulate(study, dict.fromkeys("abcd", "careful"), queries=40, systems=2, checks=4)
    before = rater_signals(study)
    assert {signal.verdict for rater in before for signal in rater.signals} >= {"fine"}
    with study.write() as connection:
        rated = set(
            connection.execute(
                select(assignments.c.response_id).where(assignments.c.rater_id == 1)
            ).scalars()
        )
        responses = set(connection.execute(select(response_table.c.id)).scalars())
        number = int(connection.execute(select(func.max(assignments.c.id))).scalar_one())
        for response in sorted(responses if repeat else responses - rated):
            number += 1
            row = assignment_row(number, 0, response - 1, KEYS, purpose, number)
            connection.execute(insert(assignments).values({**row, "repeat": repeat}))
            ratings = rating_rows(np.random.default_rng(1), "hurries", number, KEYS, [100.0] * 5)
            connection.execute(
                insert(rater_answers), [{**row, "after_reveal": after_reveal} for row in ratings]
            )
    assert rater_signals(study) == before


def test_a_study_without_ratings_has_no_signals(study: Study) -> None:
    assert rater_signals(study) == []


@pytest.mark.parametrize(
    ("missed", "total", "verdict"),
    [
        pytest.param(2, 2, "too_few", id="two-checks"),
        # sf(2, 5, .1) = .0086
        pytest.param(3, 5, "flagged", id="three-of-five"),
        # sf(1, 5, .1) = .081
        pytest.param(2, 5, "fine", id="two-of-five"),
        # sf(3, 10, .1) = .0128
        pytest.param(4, 10, "flagged", id="four-of-ten"),
        pytest.param(3, 10, "fine", id="three-of-ten"),
    ],
)
def test_missed_checks_are_compared_with_a_tenth(missed: int, total: int, verdict: str) -> None:
    signal = checks_missed([True] * missed + [False] * (total - missed))
    assert signal.verdict == verdict
    assert signal.count == total


def test_a_quarter_of_the_queries_below_a_third_of_the_reading_time_is_too_fast() -> None:
    assert too_fast([0.2] * 4).verdict == "too_few"
    assert too_fast([0.2] * 3 + [0.5] * 9).verdict == "flagged"
    assert too_fast([0.2] * 2 + [0.5] * 6).verdict == "fine"
    assert too_fast([0.2] * 3 + [0.5] * 10).verdict == "fine"
