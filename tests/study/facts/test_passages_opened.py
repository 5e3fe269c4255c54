"""A passage counts as opened if its rater unfolded it before the value was saved."""

from datetime import timedelta
from typing import Any

import pandas as pd
from sqlalchemy import insert

from study import Study
from study.facts.passages_opened import passages_opened
from study.facts.rating_progress import rating_progress
from study.schema import now
from study.schema.tables import opened_passages
from tests.annotate_ui.monitoring.simulated_campaign import simulate


def test_what_was_opened_before_the_value_was_saved_counts(any_study: Study) -> None:
    simulate(any_study, {"a": "unread"}, queries=3, systems=1, per_item=1)
    at = now()
    with any_study.write() as connection:
        connection.execute(
            insert(opened_passages).values(assignment_id=1, position=0, created_at=at)
        )
        response = connection.exec_driver_sql(
            "SELECT response_id FROM assignment WHERE id = 1"
        ).scalar_one()
    shown = {
        "rater_id": 1,
        "response": response,
        "construct": "CC",
        "construct_version": 1,
        "channel": "own",
        "revealed": ["question", "response", "context"],
        "created_at": at + timedelta(seconds=9),
    }
    # What differs from a value that was saved after the passage was opened.
    cases: list[tuple[dict[str, Any], str | None]] = [
        ({}, "yes"),
        ({"construct": "ID"}, "yes"),
        ({"created_at": at - timedelta(seconds=9)}, "no"),
        ({"response": response % 3 + 1}, "no"),
        ({"rater_id": 2}, "no"),
        ({"construct": "QR"}, None),
        ({"construct": "AC"}, None),
        ({"channel": "label_studio"}, None),
        ({"revealed": ["question", "response"]}, None),
        ({"response": 99}, None),
    ]
    frame = pd.DataFrame([shown | case for case, _ in cases])
    with any_study.read() as connection:
        states = passages_opened(connection, frame)
        progress = rating_progress(connection, any_study.construct_versions(connection))
    assert list(states) == [state for _, state in cases]
    assert progress is not None
    # CC and ID of three responses, all saved before the passage was opened.
    assert (progress.passages_unopened, progress.passages_shown) == (6, 6)
