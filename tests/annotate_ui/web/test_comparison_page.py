"""The pages of comparisons: one rater's own, opened, and changed only with tokens."""

from collections.abc import Callable
from uuid import uuid4

import pytest

from annotate_ui.tasks.comparison_view import Option
from annotate_ui.web.rater.rating_pages import option_words
from study import Study
from tests.annotate_ui.compared_campaign import decisions, open_one, pair_up
from tests.annotate_ui.web.conftest import Browser

Come = Callable[[str], Browser]


def body(value: float | None = 1.0, **more: object) -> dict[str, object]:
    return {
        "construct": "QR",
        "value": value,
        "status": "rated",
        "reason": None,
        "comment": None,
        "input_kind": "button",
        "active_seconds": 1.0,
        "wall_seconds": 2.0,
        "base_revision": 0,
        "key": uuid4().hex,
    } | more


def test_a_comparison_is_shown_saved_and_shown_again(campaign: Study, come: Come) -> None:
    anna, browser = pair_up(campaign, "anna"), come("anna")
    page = open_one(campaign, anna)
    shown = browser.get(f"/compare/{page}")
    text = shown.get_data(as_text=True)
    assert shown.status_code == 200
    assert "response-0-0" in text
    assert "response-0-1" in text
    assert "system-0" not in text
    assert "reference-0" not in text
    assert "passage-0" not in text
    saved = browser.send(f"/compare/{page}/save", body(comment="<b>no</b>"))
    assert saved.status_code == 200
    assert saved.json is not None
    assert saved.json["revision"] == 1
    assert saved.json["progress"] == {"done": 1, "total": 2}
    again = browser.get(f"/compare/{page}").get_data(as_text=True)
    assert 'value="1.0" checked' in again
    assert "&lt;b&gt;no" in again
    stale = browser.send(f"/compare/{page}/save", body(-1.0))
    assert stale.status_code == 409
    assert stale.json is not None
    assert stale.json["current"]["value"] == 1.0
    assert len(decisions(campaign)) == 1


def test_the_overview_counts_decisions_and_history_leads_back(campaign: Study, come: Come) -> None:
    anna, browser = pair_up(campaign, "anna"), come("anna")
    assert "0 of 2 comparisons made" in browser.get("/rate").get_data(as_text=True)
    assert "Nothing yet" in browser.get("/rate/history").get_data(as_text=True)
    first = open_one(campaign, anna)
    browser.get(f"/compare/{first}")
    browser.send(f"/compare/{first}/save", body(-1.0))
    browser.send(f"/compare/{first}/save", body(-2.0, base_revision=1))
    second = open_one(campaign, anna)
    skipped = body(None, construct="AC", status="skipped", reason="<i>same</i>")
    browser.send(f"/compare/{second}/save", skipped)
    overview = browser.get("/rate").get_data(as_text=True)
    assert "2 of 2 comparisons made" in overview
    assert "What you have rated" in overview
    page = browser.get("/rate/history").get_data(as_text=True)
    newer, older = page.index(f'"/compare/{second}"'), page.index(f'"/compare/{first}"')
    assert newer < older
    assert "skipped: <bdi>&lt;i&gt;same" in page[newer:older]
    assert "1 is much better" in page[older:]
    assert "changed 1 time" in page[older:]
    ben = come("ben")
    assert "comparison" not in ben.get("/rate").get_data(as_text=True)
    assert "/compare/" not in ben.get("/rate/history").get_data(as_text=True)


def test_other_raters_strangers_and_forged_requests_get_no_comparison(
    campaign: Study, come: Come
) -> None:
    anna = pair_up(campaign, "anna")
    page = open_one(campaign, anna)
    browser, ben = come("anna"), come("ben")
    browser.get(f"/compare/{page}")
    ben.get("/rate")
    assert ben.get(f"/compare/{page}").status_code == 404
    assert ben.send(f"/compare/{page}/save", body(), **{"X-Rater": browser.rater}).status_code in {
        404,
        409,
    }
    forged = browser.client.post(f"/compare/{page}/save", json=body())
    assert forged.status_code == 400
    assert browser.send(f"/compare/{page}/save", body(), **{"X-Rater": "0"}).status_code == 409
    assert browser.send(f"/compare/{page}/save", {"no": "choice"}).status_code == 422
    assert browser.send(f"/compare/{page}/save", body(float("nan"))).status_code == 422
    stranger = browser.client.application.test_client()
    assert stranger.get(f"/compare/{page}").status_code == 401
    assert decisions(campaign) == []


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (Option(-2, 1, 2, 2), "1 is much better"),
        (Option(-1, 1, 1, 2), "1 is better"),
        (Option(0, 0, 1, 1), "Both are equally good"),
        (Option(1, 2, 1, 1), "2 is better"),
        (Option(1, 2, 1, 3), "2 is slightly better"),
        (Option(3, 2, 3, 3), "2 is much better"),
        (Option(3, 2, 3, 5), "2 is better, 3 of 5"),
    ],
    ids=["much", "better", "equal", "only", "slightly", "much of three", "many"],
)
def test_points_have_words(campaign_words: None, option: Option, words: str) -> None:
    assert option_words(option) == words


@pytest.fixture
def campaign_words(app: object) -> object:
    """Push the application, whose words they are."""
    from flask import Flask

    assert isinstance(app, Flask)
    with app.app_context():
        yield
