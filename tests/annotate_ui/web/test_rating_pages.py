"""The pages of the work, as bytes on the wire."""

import re
from collections.abc import Callable

import pytest
from flask import Flask

from annotate_ui.participants.invitation import invite
from annotate_ui.web.app import create_app
from study import Study
from study.facts.passages_opened import FOLDED_LENGTH
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, PassageRow, ResponseRow
from tests.annotate_ui.rated_campaign import give, ratings
from tests.annotate_ui.web.conftest import Browser

Come = Callable[[str], Browser]
TEXTS = (
    "question-0",
    "response-0-0",
    "response-0-1",
    "passage-0-shared",
    "passage-0-0",
    "passage-0-1",
    "reference-0",
)


def seen(browser: Browser) -> set[str]:
    everything = b"".join(browser.received).decode()
    return {text for text in TEXTS if text in everything}


def test_the_bytes_hold_nothing_before_its_turn(come: Come) -> None:
    browser = come("anna")
    assert seen(browser) == set()
    browser.go_on()
    shown = {"question-0", "response-0-0"}
    assert seen(browser) == shown
    # A request for a page that is not open yet returns no content of it.
    first = browser.at
    for stage in (2, 3):
        assert browser.client.get(f"{first[:-1]}{stage}").status_code == 404
    browser.go_on()
    assert browser.at == first
    browser.save("QR", 1.0)
    assert seen(browser) == shown
    browser.go_on()
    shown |= {"response-0-1"}
    assert seen(browser) == shown
    browser.save("QR", 1.0)
    browser.go_on()
    shown |= {"passage-0-shared", "passage-0-0"}
    assert seen(browser) == shown
    for key in ("CC", "ID"):
        browser.save(key, 1.0)
    browser.go_on()
    shown |= {"passage-0-1"}
    assert seen(browser) == shown
    for key in ("CC", "ID"):
        browser.save(key, 1.0)
    browser.go_on()
    assert seen(browser) == set(TEXTS)
    # The judge sees the first reference only, and so do people.
    assert b"another-0" not in b"".join(browser.received)


def test_no_page_names_a_system_a_response_or_a_number_of_the_database(
    campaign: Study, come: Come
) -> None:
    browser = come("anna")
    while b"Thank you" not in browser.go_on().data:
        for key in re.findall(rb'data-key="(\w+)"', browser.received[-1]):
            assert browser.save(key.decode(), 50.0).status_code == 200
    everything = b"".join(browser.received)
    assert b"system-" not in everything
    assert b"q0:" not in everything
    addresses = set(re.findall(rb"/rate/(\w+)/\d", everything))
    assert len(addresses) == 2
    assert all(len(address) == 32 for address in addresses)
    assert len(ratings(campaign)) == 10


def test_a_save_is_answered_with_what_is_stored(campaign: Study, come: Come) -> None:
    browser = come("anna")
    browser.go_on()
    answer = browser.save("QR", 85, comment="good")
    assert answer.status_code == 200
    stored = answer.get_json()
    assert (stored["revision"], stored["value"], stored["comment"]) == (1, 85.0, "good")
    assert stored["progress"] == {"done": 1, "total": 10}
    stale = browser.save("QR", 90)
    assert stale.status_code == 409
    assert stale.get_json()["error"]["code"] == "stale"
    assert stale.get_json()["current"]["value"] == 85.0
    page = browser.get(browser.at).get_data(as_text=True)
    assert 'data-revision="1"' in page


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"input_kind": 5}, 422, "invalid"),
        ({"base_revision": "0"}, 422, "invalid"),
        ({"comment": "x" * 5001}, 422, "invalid"),
        ({"unknown": 1}, 422, "invalid"),
        ({"comment": "x" * 200_000}, 413, "too_large"),
    ],
)
def test_what_cannot_be_stored_is_refused_with_the_field(
    campaign: Study, come: Come, change: dict[str, object], status: int, code: str
) -> None:
    browser = come("anna")
    browser.go_on()
    answer = browser.save("QR", 85, **change)
    assert answer.status_code == status
    error = answer.get_json()["error"]
    assert error["code"] == code
    if "comment" in change and status == 422:
        assert error["message"] == "comment: has more than 5,000 characters"
    assert ratings(campaign) == []


def test_a_body_that_is_not_a_json_object_is_refused(come: Come) -> None:
    browser = come("anna")
    browser.go_on()
    headers = {"X-CSRFToken": browser.csrf, "X-Rater": browser.rater}
    for body in (b"{", b"[]", b"7", b'{"value": NaN}', b"\xff"):
        answer = browser.client.post(
            f"{browser.at}/save", data=body, headers=headers, content_type="application/json"
        )
        assert answer.status_code in {400, 422}, body
        assert "error" in answer.get_json()


def test_saves_are_throttled_by_rater(come: Come) -> None:
    anna, ben = come("anna"), come("ben")
    anna.go_on()
    ben.go_on()
    codes = [anna.send(f"{anna.at}/save", {}).status_code for _ in range(301)]
    assert codes == [422] * 300 + [429]
    answer = anna.send(f"{anna.at}/save", {})
    assert int(answer.headers["Retry-After"]) > 0
    assert answer.get_json()["error"]["code"] == "too_many"
    assert ben.save("QR", 5.0).status_code == 200


HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'; alert(1); '",
    "{{ 7331 * 7331 }}{% raw %}",
    "<svg/onload=alert(1)>",
    "</textarea></script><b>",
    "\u202eevil\u202c",
    "javascript:alert(1)",
)


def test_texts_are_shown_as_texts(study: Study) -> None:
    everything = "".join(HOSTILE)
    row = ResponseRow(
        query_id="q",
        query=everything,
        system=everything[:20],
        response=everything,
        passages=(PassageRow(text=everything),),
        references=(everything,),
    )
    import_rows(study, [LocatedRow(1, row)], source="t", sha256="0" * 64, importer="responses")
    give(study, "anna")
    (made,) = invite(study)
    browser = Browser(create_app(study, b"k" * 32).test_client())
    browser.begin(made.link)
    for _ in range(3):
        page = browser.go_on().get_data(as_text=True)
        for key in re.findall(r'data-key="(\w+)"', page):
            assert browser.save(key, 5.0, comment=everything).status_code == 200
        page += browser.get(browser.at).get_data(as_text=True)
        for sign in ("<script>alert", "<img src=x", "<svg/", "</script><b>", "53743561"):
            assert sign not in page
        assert page.count("&lt;script&gt;alert(1)") >= 3


def test_what_needs_no_opening_is_shown_whole(study: Study) -> None:
    """A value on a response of short passages is not said to be given without opening one."""
    texts = ("s" * FOLDED_LENGTH, "l" * (FOLDED_LENGTH + 1))
    passages = tuple(PassageRow(text=text) for text in texts)
    row = ResponseRow(query_id="q", query="?", system="s", response="r", passages=passages)
    import_rows(study, [LocatedRow(1, row)], source="x", sha256="x", importer="responses")
    give(study, "anna", keys=["CC"])
    (made,) = invite(study, ["anna"])
    browser = Browser(create_app(study, b"k" * 32).test_client())
    browser.begin(made.link)
    page = browser.go_on().text
    assert re.findall(r'class="(excerpt[a-z ]*)"', page) == ["excerpt whole", "excerpt"]


def test_open_slots_are_handed_out_and_then_one_waits(study: Study) -> None:
    from tests.annotate_ui.rated_campaign import fill

    fill(study, queries=1, systems=1)
    give(study, None)
    links = invite(study, new=2)
    app: Flask = create_app(study, b"k" * 32)
    first, second = (Browser(app.test_client()) for _ in links)
    first.begin(links[0].link)
    second.begin(links[1].link)
    assert b"response-0-0" in first.go_on().data
    waiting = second.go_on()
    assert waiting.request.path == "/rate"
    assert b"nothing for you to rate at the moment" in waiting.data


def test_the_last_question_is_stored_and_can_be_changed(campaign: Study, come: Come) -> None:
    from sqlalchemy import select

    from study import study_status
    from study.schema.tables import closing_answers

    browser = come("anna")
    assert browser.get("/rate/end").location == "/rate"
    while b"Thank you" not in browser.go_on().data:
        for key in re.findall(rb'data-key="(\w+)"', browser.received[-1]):
            browser.save(key.decode(), 50.0)
    browser.submit("/rate/end", recognized="yes", comment="the long one")
    browser.submit("/rate/end", recognized="yes", comment="the long one")
    last = browser.submit("/rate/end", recognized="unsure", comment="")
    assert b"Your answer is stored" in last.data
    assert browser.submit("/rate/end", recognized="perhaps").status_code == 400
    with campaign.read() as connection:
        rows = connection.execute(
            select(closing_answers.c.recognized, closing_answers.c.comment).order_by(
                closing_answers.c.id
            )
        ).all()
    assert [tuple(row) for row in rows] == [("yes", "the long one"), ("unsure", None)]
    rating = study_status(campaign).rating
    assert rating is not None
    assert rating.recognized == {"unsure": 1}


def test_one_goes_back_to_earlier_steps_and_forward_again(come: Come) -> None:
    browser = come("anna")
    browser.go_on()
    first = browser.at
    browser.save("QR", 10.0)
    browser.go_on()
    second = browser.at
    page = browser.get(second).get_data(as_text=True)
    assert f'href="{first}"' in page
    assert second in browser.get(first).get_data(as_text=True)
