"""The stopping rule on a study: which queries count, in which order, and when it is met."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sqlalchemy import insert, select, update

from analysis.planning.stopping_rule import stop_by_width
from annotate_ui.monitoring.stopping_rule import completed_queries, stopping_state
from study import Study, StudyError
from study.facts.rating_progress import read_records
from study.schema import now
from study.schema.tables import (
    assignments,
    rater_answers,
    ratings,
    responses as response_table,
    scorer_answers,
)
from study.settings.report import StoppingSpec
from tests.annotate_ui.monitoring.simulated_campaign import simulate

RATERS = {"a": "careful", "b": "careful", "c": "careful"}


def under(study: Study, **rule: Any) -> Study:
    """The same study under a stopping rule."""
    config = study.config.model_copy(update={"stopping": StoppingSpec(**rule)})
    changed = replace(study, config=config)
    changed.__dict__["engine"] = study.engine
    return changed


def filled(study: Study, **options: Any) -> None:
    simulate(study, RATERS, **{"systems": 2, "keys": ("QR",), "queries": 60, **options})


def complete(study: Study) -> list[int]:
    with study.read() as connection:
        versions = study.construct_versions(connection)
        return completed_queries(read_records(connection, versions), "QR")


def test_the_rule_is_that_of_analysis_on_one_mean_a_query(any_study: Study) -> None:
    filled(any_study, share=0.8)
    state = stopping_state(under(any_study, half_width=9, constructs=("QR",)))
    with any_study.read() as connection:
        rows = connection.execute(
            select(response_table.c.query_id, response_table.c.id, ratings.c.value)
            .join_from(ratings, assignments, ratings.c.assignment_id == assignments.c.id)
            .join(response_table, response_table.c.id == assignments.c.response_id)
        ).all()
    means = []
    for query in complete(any_study):
        by_response: dict[int, list[float]] = {}
        for row in rows:
            if row.query_id == query and row.value is not None:
                by_response.setdefault(row.id, []).append(row.value)
        means.append(np.mean([np.mean(values) for values in by_response.values()]))
    expected = stop_by_width(means, 9, (0, 100))
    (construct,) = state.constructs
    assert construct.low == pytest.approx(expected.low)
    assert construct.high == pytest.approx(expected.high)
    assert construct.value == pytest.approx(float(np.mean(means)))
    assert (construct.stop, construct.more_queries, construct.reason) == (
        expected.stop,
        expected.more,
        expected.reason,
    )
    assert construct.queries_complete == len(means) < construct.queries_assigned == 60
    assert state.stop == expected.stop


def test_queries_come_in_the_order_of_their_last_first_value(study: Study) -> None:
    filled(study, share=0.8)
    done = complete(study)
    with study.read() as connection:
        rows = connection.execute(
            select(response_table.c.query_id, ratings.c.id)
            .join_from(ratings, assignments, ratings.c.assignment_id == assignments.c.id)
            .join(response_table, response_table.c.id == assignments.c.response_id)
        ).all()
    last = {query: max(row.id for row in rows if row.query_id == query) for query in done}
    assert done == sorted(done, key=last.__getitem__)
    changed = rows[0]
    with study.write() as connection:
        # A value that is changed later does not complete its query anew.
        old = connection.execute(select(ratings).where(ratings.c.id == changed.id)).one()._mapping
        again = {name: old[name] for name in old if name not in {"id", "revision"}}
        connection.execute(insert(rater_answers).values(**again, revision=2))
    assert complete(study) == done


def test_a_slot_that_was_taken_back_is_not_waited_for(study: Study) -> None:
    filled(study, share=0.8)
    before = complete(study)
    with study.write() as connection:
        unrated = assignments.c.id.not_in(select(ratings.c.assignment_id))
        connection.execute(update(assignments).where(unrated).values(released_at=now()))
    after = complete(study)
    assert set(before) < set(after)


@pytest.mark.parametrize("after_reveal", [True, False], ids=["after-the-reveal", "before"])
def test_a_value_first_entered_after_the_reveal_completes_no_query(
    study: Study, after_reveal: bool
) -> None:
    filled(study, share=0.8)
    before = complete(study)
    with study.write() as connection:
        old = connection.execute(select(ratings).limit(1)).one()._mapping
        row = {name: old[name] for name in old if name not in {"id", "assignment_id"}}
        unrated = select(assignments.c.id).where(
            assignments.c.id.not_in(select(ratings.c.assignment_id))
        )
        for assignment in connection.execute(unrated).scalars().all():
            late = {**row, "assignment_id": assignment, "after_reveal": after_reveal}
            connection.execute(insert(rater_answers).values(**late))
    assert len(complete(study)) == (len(before) if after_reveal else 60)


def test_a_judge_is_compared_where_people_rated_the_response(study: Study) -> None:
    filled(study, queries=40)
    with study.write() as connection:
        responses = connection.execute(select(response_table.c.id)).scalars().all()
        connection.execute(
            insert(scorer_answers),
            [
                {
                    "response_id": response,
                    "construct_key": "QR",
                    "construct_version": 1,
                    "scorer": "J",
                    "scorer_kind": "judge",
                    "repeat": 0,
                    "value": 100.0,
                    "inclusion_prob": 1.0,
                }
                for response in responses
            ],
        )
    rule = {"half_width": 5, "constructs": ("QR",), "judge": "J"}
    error = stopping_state(under(study, quantity="judge_error", **rule)).constructs[0]
    mean = stopping_state(under(study, **rule)).constructs[0]
    assert error.value == pytest.approx(100 - (mean.value or 0))
    # The range of a difference is twice as wide, and so is what a bound can rest on.
    assert (error.half_width or 0) > (mean.half_width or 0)


def test_undeclared_rules_and_missing_data_are_named(study: Study) -> None:
    filled(study, queries=10)
    undeclared = stopping_state(study)
    assert (undeclared.declared, undeclared.stop) == (False, False)
    assert "stopping.half_width" in (undeclared.reason or "")
    with pytest.raises(StudyError, match="unknown construct 'XX'"):
        stopping_state(under(study, half_width=3, constructs=("XX",)))
    with pytest.raises(StudyError, match=r"stopping\.judge names 'J'"):
        stopping_state(under(study, half_width=3, quantity="judge_error", judge="J"))
    few = stopping_state(under(study, half_width=50, constructs=("QR",))).constructs[0]
    assert "too few to stop at" in (few.reason or "")
