"""Links, sessions, and who may see what."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from flask import Flask
from sqlalchemy import select

from annotate_ui.participants.invitation import invite, list_links, revoke
from annotate_ui.web.app import create_app
from study import Study
from study.schema import now
from study.schema.tables import invitations
from tests.annotate_ui.rated_campaign import ratings
from tests.annotate_ui.web.conftest import Browser

Come = Callable[[str], Browser]


def test_opening_a_link_changes_nothing_and_begin_lets_in(app: Flask, campaign: Study) -> None:
    (made, _) = invite(campaign)
    browser = Browser(app.test_client())
    opened = browser.get("/join")
    assert b"Begin" in opened.data
    with campaign.read() as connection:
        used = connection.execute(select(invitations.c.used_at)).scalars().all()
    assert used == [None, None]
    inside = browser.submit("/join", token=made.link.partition("#")[2])
    assert inside.request.path == "/rate"
    assert made.rater.encode() in inside.data


def test_the_first_use_of_a_link_is_what_is_noted(app: Flask, campaign: Study) -> None:
    (made, _) = invite(campaign)
    used = []
    for _ in range(2):
        browser = Browser(app.test_client())
        browser.get("/join")
        assert browser.submit("/join", token=made.link.partition("#")[2]).status_code == 200
        with campaign.read() as connection:
            moments = connection.execute(
                select(invitations.c.used_at).where(invitations.c.used_at.is_not(None))
            )
            used.append(moments.scalar_one())
    assert used[0] == used[1]


def test_a_link_leads_to_the_configured_address_whatever_the_host_header(
    app: Flask, campaign: Study
) -> None:
    answer = app.test_client().get("/join", headers={"Host": "evil.example"})
    assert answer.status_code == 400
    assert b"evil" not in answer.data
    assert all(made.link.startswith("http://127.0.0.1:8350/join#") for made in invite(campaign))


@pytest.mark.parametrize("token", ["", "x", "x" * 43, "é", "\x00", "a" * 10_000])
def test_an_invalid_link_is_refused(app: Flask, token: str) -> None:
    browser = Browser(app.test_client())
    browser.get("/join")
    refused = browser.submit("/join", token=token)
    assert refused.status_code == 403
    # A separate address: from here the next link is a page to load.
    assert refused.request.path == "/join/refused"
    assert browser.get("/rate").status_code == 401


def test_failed_links_are_throttled_by_address_and_good_ones_are_not(
    app: Flask, campaign: Study, come: Come
) -> None:
    for _ in range(15):
        come("anna")
    browser = Browser(app.test_client())
    browser.get("/join")
    codes = [browser.submit("/join", token=f"wrong{n}").status_code for n in range(12)]
    assert codes == [403] * 10 + [429] * 2
    answer = browser.submit("/join", token="wrong")
    assert int(answer.headers["Retry-After"]) > 0
    # A good link lets in, whatever others have tried behind the same address.
    come("anna")


def test_a_revoked_link_ends_running_sessions(campaign: Study, come: Come) -> None:
    browser = come("anna")
    browser.go_on()
    revoke(campaign, "anna")
    refused = browser.save("QR", 5.0)
    assert refused.status_code == 401
    assert refused.get_json()["error"]["code"] == "signed_out"
    assert browser.get("/rate").status_code == 401
    assert ratings(campaign) == []


def test_a_link_that_ends_by_itself_ends_its_sessions(
    campaign: Study, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    (made,) = invite(campaign, ["anna"], renew=True, until=now() + timedelta(hours=1))
    browser = Browser(app.test_client())
    browser.begin(made.link)
    assert browser.get("/rate").status_code == 200

    def later() -> datetime:
        return now() + timedelta(hours=2)

    monkeypatch.setattr("annotate_ui.web.rater_session.now", later)
    monkeypatch.setattr("study.facts.links.now", later)
    assert browser.get("/rate").status_code == 401
    assert list_links(campaign)[0].live is False
    # Those without a live link are invited again.
    assert "anna" in {person.rater for person in invite(campaign)}


def test_signing_out_ends_the_session(come: Come) -> None:
    browser = come("anna")
    left = browser.submit("/leave")
    assert left.request.path == "/left"
    assert browser.get("/rate").status_code == 401


def test_coming_in_again_keeps_the_first_tab_alive(campaign: Study, come: Come, app: Flask) -> None:
    browser = come("anna")
    browser.go_on()
    csrf, at = browser.csrf, browser.at
    (again,) = invite(campaign, ["anna"], renew=True)
    # The renewed link ends the session; coming in with it anew revives the tab's token or not,
    # but a second visit with the same link leaves the first tab valid.
    browser.begin(again.link)
    browser.go_on()
    csrf, at = browser.csrf, browser.at
    browser.begin(again.link)
    browser.csrf, browser.at = csrf, at
    assert browser.save("QR", 5.0).status_code == 200


def test_another_raters_page_is_refused_in_the_same_browser(come: Come, app: Flask) -> None:
    anna = come("anna")
    anna.go_on()
    at = anna.at
    ben = come("ben")
    # Also with the token of the session that was there before.
    for csrf in (ben.csrf, anna.csrf):
        ben.csrf = csrf
        refused = ben.send(f"{at}/save", {}, **{"X-Rater": anna.rater})
        assert refused.status_code == 409
        assert refused.get_json()["error"]["code"] == "other_rater"


def test_raters_can_neither_see_nor_rate_the_work_of_others(campaign: Study, come: Come) -> None:
    anna, ben = come("anna"), come("ben")
    anna.go_on()
    at = anna.at
    assert ben.get(at).status_code == 404
    for route in ("save", "passages"):
        refused = ben.send(f"{at}/{route}", {"position": 0})
        assert refused.status_code in {404, 422}
    ben.at = at
    assert ben.save("QR", 5.0).status_code == 404
    assert ratings(campaign) == []


@pytest.mark.parametrize(
    ("method", "address"),
    [
        ("post", "/join"),
        ("post", "/leave"),
        ("post", "/consent"),
        ("post", "/instructions"),
        ("post", "/withdraw"),
        ("post", "/rate/next"),
        ("post", "/rate/end"),
        ("post", "/rate/0/1/save"),
        ("post", "/rate/0/1/passages"),
    ],
)
def test_every_change_asks_for_the_token_of_the_session(
    come: Come, method: str, address: str
) -> None:
    browser = come("anna")
    for headers in ({}, {"X-CSRFToken": "wrong"}):
        answer = getattr(browser.client, method)(address, json={}, headers=headers)
        assert answer.status_code == 400
        assert answer.get_json()["error"]["code"] == "csrf"


def test_enrolment_without_the_token_leads_back_to_what_is_offered(come: Come) -> None:
    # The form may have been opened before its sender signed in; it enrols no one.
    answer = come("anna").client.post("/enrol/none", headers={"X-CSRFToken": "wrong"})
    assert (answer.status_code, answer.location) == (303, "/enrol/none")


def test_every_route_but_the_way_in_asks_for_a_rater(app: Flask) -> None:
    browser = Browser(app.test_client())
    browser.get("/join")
    ways_in_and_out = {"/", "/join", "/join/refused", "/leave", "/left"}
    ways_in_and_out |= {"/enrol/<token>", "/withdrawn"}
    for rule in app.url_map.iter_rules():
        if rule.rule in ways_in_and_out or rule.endpoint.startswith(("static", "owner")):
            continue
        address = rule.rule.replace("<public_id>", "0" * 32).replace("<int:stage>", "1")
        answer = (
            browser.get(address) if "GET" in (rule.methods or ()) else browser.send(address, {})
        )
        assert answer.status_code == 401, rule.rule


def test_answers_carry_the_headers_that_a_page_of_secrets_needs(come: Come) -> None:
    browser = come("anna")
    for answer in (browser.get("/join"), browser.get("/rate"), browser.get("/none")):
        headers = answer.headers
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"
        assert headers["X-Content-Type-Options"] == "nosniff"


def test_the_session_cookie_is_out_of_reach_of_scripts_and_other_sites(
    app: Flask, campaign: Study
) -> None:
    (made, _) = invite(campaign)
    browser = Browser(app.test_client())
    token = made.link.partition("#")[2]
    browser.get("/join")
    answer = browser.client.post("/join", data={"csrf_token": browser.csrf, "token": token})
    assert answer.location == "/rate"
    (cookie,) = answer.headers.getlist("Set-Cookie")
    name, *attributes = cookie.split("; ")
    assert name.startswith(app.config["SESSION_COOKIE_NAME"])
    assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= set(attributes)


def test_behind_tls_the_cookie_is_secure(study: Study, tmp_path: object) -> None:
    path = study.folder / "study.toml"
    path.write_text(path.read_text() + '\n[rating]\nbase_url = "https://rate.example"\n')
    secured = Study.open(study.folder)
    app = create_app(secured, b"k" * 32)
    answer = app.test_client().get("/join", base_url="https://rate.example")
    assert answer.status_code == 200
    assert "Secure" in answer.headers["Set-Cookie"]
    assert "max-age" in answer.headers["Strict-Transport-Security"]
    secured.close()


def test_static_files_are_named_after_their_content_and_kept(app: Flask) -> None:
    client = app.test_client()
    page = client.get("/join").get_data(as_text=True)
    address = page.split('<link rel="stylesheet" href="')[1].split('"')[0]
    assert address.startswith("/static/")
    with client.get(address) as answer:
        assert answer.status_code == 200
        assert "immutable" in answer.headers["Cache-Control"]
        assert "Set-Cookie" not in answer.headers


def test_no_page_shows_a_trace(app: Flask, come: Come, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = come("anna")

    def broken(*_: object) -> None:
        raise RuntimeError("a secret thing")

    monkeypatch.setattr("annotate_ui.web.rater.rating_pages.rater_work", broken)
    answer = browser.get("/rate")
    assert answer.status_code == 500
    assert b"secret" not in answer.data
    assert b"Traceback" not in answer.data


@pytest.mark.parametrize("host", ["[::1]:8350", "127.0.0.1", "LOCALHOST:1", "rate_1.example"])
def test_a_server_answers_under_its_own_names(study: Study, host: str) -> None:
    path = study.folder / "study.toml"
    path.write_text(path.read_text() + '\n[rating]\nbase_url = "http://rate_1.example"\n')
    named = Study.open(study.folder)
    client = create_app(named, b"k" * 32).test_client()
    assert client.get("/join", headers={"Host": host}).status_code == 200
    for other in ("", "evil.example", "[", "127.0.0.1.evil.example"):
        assert client.get("/join", headers={"Host": other}).status_code == 400
    named.close()


def test_deep_nesting_is_refused(come: Come) -> None:
    browser = come("anna")
    browser.go_on()
    answer = browser.client.post(
        f"{browser.at}/save",
        data="[" * 30_000,
        headers={"X-CSRFToken": browser.csrf, "X-Rater": browser.rater},
        content_type="application/json",
    )
    assert answer.status_code == 400
