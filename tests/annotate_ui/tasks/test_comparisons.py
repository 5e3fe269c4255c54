"""Comparisons are opened one after another, shown as their construct sees them, and saved once."""

from typing import Any

import pytest
from sqlalchemy import select, update

from annotate_ui.participants.withdrawal import leave
from annotate_ui.tasks.comparison_view import ComparisonView, show_comparison
from annotate_ui.tasks.comparisons import (
    ComparisonPayload,
    comparisons_done,
    next_comparison,
    points,
)
from annotate_ui.tasks.refusals import (
    InvalidError,
    KeyReusedError,
    LeftError,
    NotYoursError,
    StaleError,
)
from annotate_ui.tasks.save import save
from study import Study
from study.base.scales import Scale
from study.facts.rating_progress import comparisons
from study.schema import now
from study.schema.tables import comparisons as comparison_table
from tests.annotate_ui.compared_campaign import choice, decisions, open_one, pair_up
from tests.annotate_ui.rated_campaign import fill


@pytest.fixture
def campaign(any_study: Study) -> Study:
    """Return a campaign of two queries with two responses each."""
    fill(any_study)
    return any_study


def show(study: Study, rater: int, public_id: str) -> ComparisonView:
    with study.read() as connection:
        return show_comparison(connection, study, rater, public_id)


def test_comparisons_come_in_their_order_and_each_is_opened_once(campaign: Study) -> None:
    anna = pair_up(campaign, "anna")
    first = open_one(campaign, anna)
    assert open_one(campaign, anna) == first
    save(campaign, anna, ComparisonPayload(first, choice("QR", 1.0)))
    second = open_one(campaign, anna)
    assert second != first
    with campaign.write() as connection:
        assert comparisons_done(connection, campaign, anna) == (1, 4)
        opened = (
            connection.execute(select(comparison_table.c.opened_at).order_by(comparison_table.c.id))
            .scalars()
            .all()
        )
    assert [moment is not None for moment in opened] == [True, True, False, False]


def test_nothing_is_left_once_all_are_decided(campaign: Study) -> None:
    anna = pair_up(campaign, "anna", ["QR"])
    for _ in range(2):
        save(campaign, anna, ComparisonPayload(open_one(campaign, anna), choice("QR", 0.0)))
    with campaign.write() as connection:
        assert next_comparison(connection, campaign, anna) is None
        assert next_comparison(connection, campaign, 99) is None


def test_a_page_shows_what_its_construct_sees_and_no_more(campaign: Study) -> None:
    anna = pair_up(campaign, "anna")
    page = open_one(campaign, anna)
    view = show(campaign, anna, page)
    assert (view.question, view.passages, view.reference) == ("question-0", None, None)
    assert [side.response for side in view.sides] == ["response-0-0", "response-0-1"]
    assert all(side.passages is None for side in view.sides)
    save(campaign, anna, ComparisonPayload(page, choice("QR", -2.0)))
    view = show(campaign, anna, open_one(campaign, anna))
    # The judge's AC prompt hides the question.
    assert (view.question, view.reference) == (None, "reference-0")
    assert [side.passages for side in view.sides] == [
        ("passage-0-shared", "passage-0-0"),
        ("passage-0-shared", "passage-0-1"),
    ]
    assert view.before == page
    assert show(campaign, anna, page).after == view.public_id


def test_all_fields_are_shown_where_nothing_is_disclosed_in_stages(campaign: Study) -> None:
    path = campaign.folder / "study.toml"
    path.write_text(f'{path.read_text()}\n[rating]\ndisclosure = "all"\n')
    together = Study.open(campaign.folder)
    anna = pair_up(together, "anna", ["QR"])
    view = show(together, anna, open_one(together, anna))
    assert view.fields == ("question", "response", "context", "reference")
    assert view.reference == "reference-0"
    assert view.passages or all(side.passages for side in view.sides)
    together.close()


def test_a_value_speaks_of_a_and_b_whatever_is_shown_first(campaign: Study) -> None:
    anna = pair_up(campaign, "anna", ["QR"])
    first = open_one(campaign, anna)
    straight = show(campaign, anna, first)
    assert [(o.value, o.better) for o in straight.options] == [
        (-2, 1), (-1, 1), (0, 0), (1, 2), (2, 2)
    ]  # fmt: skip
    save(campaign, anna, ComparisonPayload(first, choice("QR", 2.0)))
    swapped = show(campaign, anna, open_one(campaign, anna))
    assert [side.response for side in swapped.sides] == ["response-1-1", "response-1-0"]
    assert [(o.value, o.better, o.strength) for o in swapped.options] == [
        (2, 1, 2), (1, 1, 1), (0, 0, 1), (-1, 2, 1), (-2, 2, 2)
    ]  # fmt: skip


def test_a_changed_decision_is_a_revision_and_an_unchanged_one_nothing(campaign: Study) -> None:
    anna = pair_up(campaign, "anna")
    page = open_one(campaign, anna)
    sent = choice("QR", 1.0, comment="  ", active_seconds=2.5, wall_seconds=3e6)
    assert save(campaign, anna, ComparisonPayload(page, sent)).revision == 1
    assert save(campaign, anna, ComparisonPayload(page, sent)).revision == 1
    with pytest.raises(KeyReusedError):
        save(campaign, anna, ComparisonPayload(page, sent.model_copy(update={"value": 2.0})))
    assert save(campaign, anna, ComparisonPayload(page, choice("QR", 1.0, 1))).unchanged
    with pytest.raises(StaleError) as stale:
        save(campaign, anna, ComparisonPayload(page, choice("QR", 2.0)))
    assert stale.value.current is not None
    assert stale.value.current.value == 1.0
    skipped = choice("QR", None, 1, status="skipped", reason="the same text")
    assert save(campaign, anna, ComparisonPayload(page, skipped)).revision == 2
    stored = decisions(campaign)
    assert [(row.revision, row.value, row.status) for row in stored] == [
        (1, 1.0, "rated"), (2, None, "skipped")
    ]  # fmt: skip
    assert stored[0].revealed == ["question", "response"]
    assert (stored[0].active_seconds, stored[0].wall_seconds) == (2.5, 3e6)
    assert stored[0].comment is None
    assert stored[0].rules_hash


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"construct": "AC", "value": 1.0}, "construct"),
        ({"construct": "QR", "value": 1.5}, "value"),
        ({"construct": "QR", "value": 3.0}, "value"),
        ({"construct": "QR"}, "value"),
        ({"construct": "QR", "status": "skipped"}, "reason"),
        ({"construct": "QR", "value": 1.0, "reason": "why"}, "reason"),
    ],
    ids=["other construct", "between", "outside", "nothing", "skipped", "reason"],
)
def test_an_invalid_decision_is_refused(study: Study, sent: dict[str, Any], field: str) -> None:
    fill(study)
    anna = pair_up(study, "anna")
    page = open_one(study, anna)
    body = {"status": "rated", **sent}
    with pytest.raises(InvalidError) as refused:
        save(study, anna, ComparisonPayload(page, choice(body.pop("construct"), **body)))
    assert refused.value.field == field
    assert decisions(study) == []


@pytest.mark.parametrize("why", ["another's", "not opened", "taken back", "made up", "no id"])
def test_only_an_own_and_opened_comparison_is_there(study: Study, why: str) -> None:
    fill(study)
    anna, ben = pair_up(study, "anna"), pair_up(study, "ben")
    page = open_one(study, anna)
    with study.write() as connection:
        if why == "taken back":
            connection.execute(update(comparison_table).values(released_at=now()))
        if why == "not opened":
            page = connection.execute(
                select(comparison_table.c.public_id)
                .where(comparison_table.c.rater_id == anna, comparison_table.c.opened_at.is_(None))
                .limit(1)
            ).scalar_one()
    page = {"made up": "0" * 32, "no id": "é\x00"}.get(why, page)
    rater = ben if why == "another's" else anna
    with pytest.raises(NotYoursError):
        show(study, rater, page)
    with pytest.raises(NotYoursError):
        save(study, rater, ComparisonPayload(page, choice("QR", 1.0)))


@pytest.mark.parametrize(
    ("scale", "offered"),
    [
        (Scale(min=-1, max=1, step=1), (-1, 0, 1)),
        (Scale(min=-0.3, max=0.3, step=0.1), (-0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3)),
        (Scale(min=-1, max=1), (-1, -0.5, 0, 0.5, 1)),
        (Scale(min=-100, max=50, step=1), (-100, -50, 0, 25, 50)),
    ],
    ids=["three", "tenths", "without steps", "many"],
)
def test_points_that_are_offered(scale: Scale, offered: tuple[float, ...]) -> None:
    assert points(scale) == pytest.approx(offered)


def test_a_rater_who_left_makes_no_decisions(campaign: Study) -> None:
    anna = pair_up(campaign, "anna")
    page = open_one(campaign, anna)
    save(campaign, anna, ComparisonPayload(page, choice("QR", 1.0)))
    leave(campaign, anna, "withdrew")
    with pytest.raises(LeftError):
        save(campaign, anna, ComparisonPayload(page, choice("QR", 2.0, 1)))
    with campaign.read() as connection:
        # What was not decided went back; what was decided stays theirs.
        assert comparisons_done(connection, campaign, anna) == (1, 1)


def test_comparisons_that_were_taken_back_undecided_are_nobodys_work(study: Study) -> None:
    fill(study)
    anna = pair_up(study, "anna")
    save(study, anna, ComparisonPayload(open_one(study, anna), choice("QR", 1.0)))
    with study.read() as connection:
        assert comparisons(connection)[anna] == (1, 4)
    leave(study, anna, "withdrew")
    with study.read() as connection:
        assert comparisons(connection)[anna] == (1, 1)
