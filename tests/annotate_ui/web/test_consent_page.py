"""No content of the study is sent before the rater has agreed to take part."""

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from annotate_ui.participants.invitation import invite
from annotate_ui.web.app import create_app
from annotate_ui.web.rate_limits import limiter
from study import Study
from study.schema.tables import assignments, consents as consent_table
from tests.annotate_ui.participants.enrolled_raters import opened
from tests.annotate_ui.rated_campaign import fill, give
from tests.annotate_ui.web.conftest import Browser

CONSENT = "# Purpose\n\nYou read **answers**.\n\n| right | how |\n|---|---|\n| stop | any time |\n"
MATERIAL = (b"question-0", b"response-0", b"passage-0", b"reference-0", b"another-0")
OPEN = {"access", "enrolling", "consenting"}


@pytest.fixture
def asking(any_study: Study) -> Iterator[tuple[Study, Browser]]:
    """Return a campaign that asks for consent, and anna in front of it with a step opened before.

    Her step was opened while the study asked for no consent, so there is something to leak.
    """
    fill(any_study, queries=1, systems=2)
    give(any_study, "anna")
    (link,) = [made.link for made in invite(any_study)]
    plain = Browser(create_app(any_study, b"k" * 32).test_client())
    plain.begin(link)
    assert MATERIAL[0] in plain.go_on().data
    study = opened(
        any_study,
        'screen_out_code = "OUT-8"',
        consent=CONSENT,
        instructions="# How\n\nRead slowly.",
    )
    anna = Browser(create_app(study, b"k" * 32).test_client())
    anna.at = plain.at
    assert anna.begin(link).request.path == "/consent"
    yield study, anna
    limiter.reset()
    study.close()


def text_of(browser: Browser) -> str:
    return browser.get("/consent").get_data(as_text=True).split('name="text" value="')[1][:64]


def consents(study: Study) -> list[Any]:
    with study.read() as connection:
        return list(
            connection.execute(
                select(consent_table.c.agreed, consent_table.c.text_hash).order_by(
                    consent_table.c.id
                )
            )
        )


def test_every_route_leads_to_consent_and_sends_nothing_else(
    asking: tuple[Study, Browser],
) -> None:
    study, anna = asking
    app: Flask = anna.client.application
    with study.read() as connection:
        public_ids = list(connection.execute(select(assignments.c.public_id)).scalars())
    asked = 0
    for rule in app.url_map.iter_rules():
        blueprint = rule.endpoint.partition(".")[0]
        if rule.endpoint.startswith("static") or blueprint in OPEN or blueprint.startswith("owner"):
            continue
        for public_id in public_ids:
            address = rule.rule.replace("<public_id>", public_id).replace("<int:stage>", "1")
            assert "<" not in address, f"{rule.rule}: this test does not know how to ask for it"
            if "GET" in (rule.methods or ()):
                answer = anna.client.get(address)
            else:
                answer = anna.client.post(address, data={"csrf_token": anna.csrf})
                # As the page's script asks.
                reply = anna.send(address, {})
                assert reply.get_json()["url"] == "/consent"
                assert reply.status_code == (200 if address == "/rate/next" else 401)
                anna.received.append(reply.data)
            anna.received.append(answer.data)
            assert answer.status_code == 303, rule.rule
            assert answer.headers["Location"] == "/consent", rule.rule
            asked += 1
    assert asked >= 8
    for way in ("/instructions", "/withdraw", "/consent", "/consent/declined"):
        anna.get(way)
    assert not any(word in data for data in anna.received for word in MATERIAL)


def test_after_consent_come_the_instructions_and_the_rating(asking: tuple[Study, Browser]) -> None:
    study, anna = asking
    page = anna.get("/consent").get_data(as_text=True)
    assert "<h2>Purpose</h2>" in page
    assert "<strong>answers</strong>" in page
    assert "<td>any time</td>" in page
    agreed = anna.submit("/consent", text=text_of(anna), answer="agree")
    assert agreed.request.path == "/instructions"
    assert consents(study) == [(True, text_of_file(CONSENT))]
    assert anna.go_on().request.path == "/instructions", "read first"
    sent = anna.get("/instructions").get_data(as_text=True).split('name="text" value="')[1][:64]
    assert anna.submit("/instructions", text=sent).request.path == "/rate"
    desk = anna.get("/rate").get_data(as_text=True)
    assert 'href="/instructions"' in desk
    assert 'href="/consent"' in desk
    assert 'href="/withdraw"' in desk
    assert MATERIAL[0] in anna.go_on().data
    # Both can be read again, without a form.
    for again in ("/consent", "/instructions"):
        assert b'name="text"' not in anna.get(again).data
    assert len(consents(study)) == 2


def text_of_file(text: str) -> str:
    from hashlib import sha256

    return sha256(text.encode()).hexdigest()


def test_a_rater_who_declines_is_thanked_and_may_return(asking: tuple[Study, Browser]) -> None:
    study, anna = asking
    declined = anna.submit("/consent", text=text_of(anna), answer="decline")
    assert declined.request.path == "/consent/declined"
    assert b"You do not take part" in declined.data
    assert b"OUT-8" in declined.data
    assert [row.agreed for row in consents(study)] == [False]
    assert anna.get("/rate").headers["Location"] == "/consent"
    anna.submit("/consent", text=text_of(anna), answer="agree")
    assert [row.agreed for row in consents(study)] == [False, True]
    # An old page's No changes nothing: the way out is to leave the study.
    anna.submit("/consent", text=text_of_file(CONSENT), answer="decline")
    assert [row.agreed for row in consents(study)] == [False, True]
    assert anna.get("/consent/declined").headers["Location"] == "/consent"


def test_consent_to_a_text_that_was_not_shown_is_refused(asking: tuple[Study, Browser]) -> None:
    study, anna = asking
    shown = text_of_file(CONSENT)
    wrong: tuple[dict[str, str], ...] = (
        {"answer": "agree"},
        {"text": "0" * 64, "answer": "agree"},
        {"text": shown, "answer": "maybe"},
        {"text": shown},
    )
    for fields in wrong:
        anna.get("/consent")
        assert anna.submit("/consent", **fields).request.path == "/consent"
    assert consents(study) == []


def test_the_instructions_wait_for_consent(asking: tuple[Study, Browser]) -> None:
    study, anna = asking
    for answer in (
        anna.get("/instructions"),
        anna.client.post("/instructions", data={"csrf_token": anna.csrf}),
    ):
        assert answer.headers["Location"] == "/consent"
    assert consents(study) == []


def test_without_texts_the_pages_lead_to_the_overview(study: Study) -> None:
    fill(study, queries=1, systems=1)
    give(study, "anna")
    browser = Browser(create_app(study, b"k" * 32).test_client())
    browser.begin(invite(study)[0].link)
    for way in ("/consent", "/instructions"):
        assert browser.get(way).headers["Location"] == "/rate"
        sent = browser.client.post(way, data={"csrf_token": browser.csrf, "answer": "agree"})
        assert sent.status_code == 303
    assert browser.get("/consent/declined").headers["Location"] == "/consent"
    assert consents(study) == []
    limiter.reset()
