"""Values a day, each rater's values beside those of others, and the time an item takes."""

from datetime import UTC, date, datetime, timedelta

import pytest
from flask import Flask
from sqlalchemy import insert, select

from annotate_ui.monitoring.campaign_progress import campaign_progress
from annotate_ui.participants.enrolment_links import list_links
from annotate_ui.web.owner import blueprint
from study import Study
from study.schema import now
from study.schema.tables import assignments, rater_answers
from tests.annotate_ui.rated_campaign import fill, give
from tests.annotate_ui.web.conftest import Browser
from tests.annotate_ui.web.owner.test_pages import ids

MONDAY = datetime(2026, 3, 2, 23, 59, tzinfo=UTC)


def entered(
    study: Study, code: str, values: list[tuple[float | None, datetime, float | None]]
) -> None:
    """Let a rater give these values on QR, each with its time and active seconds."""
    rater = give(study, code, keys=("QR",))
    with study.write() as connection:
        mine = select(assignments.c.id).where(assignments.c.rater_id == rater)
        for assignment, (value, at, seconds) in zip(
            connection.execute(mine.order_by(assignments.c.response_id)).scalars(),
            values,
            strict=False,
        ):
            row = {"assignment_id": assignment, "construct_key": "QR", "config_hash": "x"}
            status = "cannot_judge" if value is None else "rated"
            row |= {"value": value, "status": status, "active_seconds": seconds}
            connection.execute(insert(rater_answers).values(**row, created_at=at))


def campaign(study: Study) -> None:
    tuesday = MONDAY + timedelta(minutes=2)
    entered(study, "eva", [(10.0, MONDAY, 60.0), (20.0, tuesday, 120.0), (None, tuesday, 30.0)])
    entered(study, "fay", [(40.0, tuesday, None)])


def test_days_minutes_and_the_values_of_others_on_the_same_responses(any_study: Study) -> None:
    fill(any_study, queries=2, systems=2)
    campaign(any_study)
    eva, fay = campaign_progress(any_study).activity
    assert dict(eva.days) == {date(2026, 3, 2): 1, date(2026, 3, 3): 2}
    assert sorted(eva.minutes) == [0.5, 1.0, 2.0]
    assert eva.quartiles == (0.75, 1.0, 1.5)
    assert (eva.values, eva.others) == ({"QR": (10.0, 20.0)}, {"QR": (40.0,)})
    # No time is known, which is not 0 minutes.
    assert (fay.minutes, fay.quartiles) == ((), None)
    assert fay.others == {"QR": (10.0,)}


def test_the_pages_show_them_with_a_chart_for_each(owner: Browser, protected: Study) -> None:
    campaign(protected)
    owner.submit("/owner/pause", message="")
    page = owner.get("/owner/activity").text
    assert "2026-03-03" in page
    assert "1.5 <span" in page
    eva = ids(protected)["eva"]
    page = owner.get(f"/owner/raters/{eva}").text
    assert "Values of this rater and of others" in page
    assert "12.5 · 15.0 · 17.5" in page
    for chart in (
        "days-light.svg",
        f"days-dark.svg?rater={eva}",
        f"values-light.svg?rater={eva}&construct=QR",
    ):
        drawn = owner.get(f"/owner/chart/{chart}")
        assert (drawn.status_code, drawn.mimetype) == (200, "image/svg+xml")
        assert "style" not in drawn.text
    for missing in (
        f"days-light.svg?rater={ids(protected)['anna']}",
        "days-blue.svg",
        "days-light.svg?rater=x",
        f"values-light.svg?rater={eva}&construct=CC",
        f"values-light.svg?rater={eva}&construct=x",
    ):
        assert owner.get(f"/owner/chart/{missing}").status_code == 404


def test_a_page_that_refreshes_itself_does_not_renew_the_session(
    app: Flask, owner: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = blueprint._now()
    for minutes, automatic, signed_in in (
        (20, True, True), (31, True, False), (31, False, False),
    ):  # fmt: skip
        monkeypatch.setattr(blueprint, "_now", lambda at=minutes: start + 60 * at)
        headers = {"X-Refresh": "1"} if automatic else {}
        answer = owner.client.get("/owner/activity", headers=headers)
        assert (answer.status_code == 200) == signed_in


def test_a_link_that_is_made_there_may_end_by_itself(owner: Browser, protected: Study) -> None:
    del protected
    made = {"name": "spring", "quota": "5"}
    assert "not a date" in owner.submit("/owner/enrolment", **made, until="soon").text
    assert "is past" in owner.submit("/owner/enrolment", **made, until="2020-01-31").text
    day = (now() + timedelta(days=2)).date()
    assert "/enrol/" in owner.submit("/owner/enrolment", **made, until=f"{day}").text
    (link,) = list_links(owner.client.application.config["STUDY"])
    assert link.ends == datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1)
    assert f"{day + timedelta(days=1)} 00:00" in owner.get("/owner/raters").text
