"""Who is let into the owner's pages, for how long, and how often one may try."""

import re
import time
from collections.abc import Callable
from threading import Thread

import pytest
from click.testing import CliRunner
from flask import Flask
from werkzeug.routing import Rule

from annotate_ui.web.owner import blueprint
from annotate_ui.web.owner.password import owner_pages_line, set_password
from study import Study
from study.cli.root import cli
from study.errors import StudyError
from tests.annotate_ui.web.conftest import Browser
from tests.annotate_ui.web.owner.conftest import PASSWORD

OPEN = {"owner.sign_in", "owner.begin"}
MINUTE = 60


def routes(app: Flask) -> list[tuple[str, str, str]]:
    """Return endpoint, method and an address of every route of the owner's pages."""
    return [
        (rule.endpoint, method, _address(rule))
        for rule in app.url_map.iter_rules()
        if rule.endpoint.startswith("owner.")
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})
    ]


def _address(rule: Rule) -> str:
    # As an address that exists: a rater's random id, a response, a kind, a theme.
    filled = {"public_id": "0" * 32, "response_id": "1", "kind": "agreement", "theme": "light"}
    return re.sub(r"<(?:\w+:)?(\w+)>", lambda match: filled[match[1]], rule.rule)


def test_the_owner_has_as_many_routes_as_pages_need(app: Flask) -> None:
    assert len(routes(app)) > 20


def test_without_a_password_there_are_no_such_pages(app: Flask, campaign: Study) -> None:
    visitor = Browser(app.test_client())
    visitor.get("/join")
    for endpoint, method, address in routes(app):
        for sent in ({"csrf_token": visitor.csrf}, {}):
            answer = visitor.client.open(address, method=method, data=sent)
            assert answer.status_code == 404, endpoint
            assert "/owner" not in answer.get_data(as_text=True)
    assert "ccrs owner-password" in owner_pages_line(campaign)
    set_password(campaign, PASSWORD)
    assert owner_pages_line(campaign).endswith("/owner")


@pytest.mark.usefixtures("protected")
def test_a_slash_at_the_end_of_an_address_makes_no_difference(app: Flask, visitor: Browser) -> None:
    for address in ("/owner/", "/owner/raters/"):
        answer = visitor.client.get(address)
        assert (answer.status_code, answer.location) == (303, "/owner/sign-in"), address
    assert "Password" in visitor.get("/owner/sign-in/").text
    for endpoint, method, address in routes(app):
        same = [visitor.client.open(a, method=method) for a in (address, f"{address}/")]
        assert same[0].status_code == same[1].status_code, endpoint


@pytest.mark.usefixtures("protected")
def test_no_route_answers_without_the_owners_session(app: Flask, visitor: Browser) -> None:
    visitor.get("/owner/sign-in")
    for endpoint, method, address in routes(app):
        if endpoint not in OPEN:
            answer = visitor.client.open(address, method=method, data={"csrf_token": visitor.csrf})
            assert (answer.status_code, answer.location) == (303, "/owner/sign-in"), endpoint


@pytest.mark.usefixtures("protected")
def test_a_raters_session_opens_none_of_them(app: Flask, come: Callable[[str], Browser]) -> None:
    anna = come("anna")
    for endpoint, method, address in routes(app):
        if endpoint not in OPEN:
            answer = anna.client.open(address, method=method, data={"csrf_token": anna.csrf})
            assert (answer.status_code, answer.location) == (303, "/owner/sign-in"), endpoint
    # And the rater is signed in as before.
    assert anna.get("/rate").status_code == 200


def test_no_change_is_made_without_the_token(app: Flask, owner: Browser) -> None:
    for endpoint, method, address in routes(app):
        if method == "POST":
            answer = owner.client.post(address, data={"csrf_token": "other"})
            assert answer.status_code == 400, endpoint
            assert owner.client.post(address).status_code == 400, endpoint
    assert owner.get("/owner").status_code == 200


def test_an_owners_session_does_not_rate(
    app: Flask, owner: Browser, come: Callable[[str], Browser]
) -> None:
    assert owner.get("/rate").status_code == 401
    assert owner.client.post("/rate/next", data={"csrf_token": owner.csrf}).status_code == 401
    # Who comes in as a rater afterwards is the owner no more, and the other way round.
    anna = come("anna")
    anna.get("/owner/sign-in")
    anna.submit("/owner/sign-in", password=PASSWORD)
    assert anna.at == "/owner"
    assert anna.get("/rate").status_code == 401
    with anna.client.session_transaction() as session:
        session["rater"], session["invitation"] = 1, 1
    assert anna.client.get("/owner").status_code == 303


def test_pages_are_kept_nowhere_and_raters_pages_name_none_of_them(
    owner: Browser, come: Callable[[str], Browser]
) -> None:
    for address in ("/owner", "/owner/raters", "/owner/items", "/owner/running"):
        assert owner.get(address).headers["Cache-Control"] == "no-store"
    anna = come("anna")
    anna.get("/rate")
    anna.go_on()
    assert not any(b"/owner" in page for page in anna.received)


SPANS = {
    "used": (29 * MINUTE, 1, True),
    "idle": (31 * MINUTE, 1, False),
    "long": (25 * MINUTE, 28, True),
    "too long": (25 * MINUTE, 29, False),
    "clock set back": (-2 * MINUTE, 1, False),
}


def test_a_session_ends_when_idle_and_in_any_case(
    sign_in: Callable[[], Browser], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, (idle, steps, there) in SPANS.items():
        monkeypatch.undo()
        owner, moment = sign_in(), time.time()
        for step in range(1, steps + 1):
            later = int(moment + step * idle)
            monkeypatch.setattr(blueprint, "_now", lambda later=later: later)
            answer = owner.client.get("/owner/enough")
        assert answer.status_code == (200 if there else 303), name
        if not there:
            assert answer.location == "/owner/sign-in?why=ended"
            assert "The session has ended" in owner.get(answer.location).text


def test_background_requests_do_not_extend_a_session(
    owner: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = time.time()
    for minutes in (10, 20, 29):
        later = int(moment + minutes * MINUTE)
        monkeypatch.setattr(blueprint, "_now", lambda later=later: later)
        assert owner.client.get("/owner/running").status_code == 200
    monkeypatch.setattr(blueprint, "_now", lambda: int(moment + 31 * MINUTE))
    assert owner.client.get("/owner/running").status_code == 303


def test_a_new_password_ends_the_sessions_under_the_old_one(
    owner: Browser, protected: Study
) -> None:
    set_password(protected, "another password altogether")
    assert owner.get("/owner").status_code == 303
    owner.get("/owner/sign-in")
    assert owner.submit("/owner/sign-in", password=PASSWORD).status_code == 403
    assert owner.submit("/owner/sign-in", password="another password altogether").status_code == 200


def test_signing_out_ends_the_session(app: Flask, owner: Browser) -> None:
    copied = app.test_client()
    with owner.client.session_transaction() as session:
        content = dict(session)
    with copied.session_transaction() as session:
        session.update(content)
    assert copied.get("/owner").status_code == 200
    assert "You are signed out" in owner.submit("/owner/sign-out").text
    assert owner.get("/owner").status_code == 303
    assert copied.get("/owner").status_code == 303


@pytest.mark.usefixtures("protected")
def test_a_session_of_another_form_is_not_accepted(app: Flask) -> None:
    for session in ({}, {"password": 1}, {"password": "1", "began": 1, "seen": 1}, 1, None):
        client = app.test_client()
        with client.session_transaction() as cookie:
            cookie["owner"] = session
        assert client.get("/owner").status_code == 303


@pytest.mark.usefixtures("protected")
def test_wrong_passwords_look_alike_and_are_throttled(visitor: Browser) -> None:
    visitor.get("/owner/sign-in")
    answers = [
        visitor.submit("/owner/sign-in", password=password)
        for password in ("", "no", PASSWORD[:-1], "x" * 5000, f"{PASSWORD}\x00")
    ]
    assert {answer.status_code for answer in answers} == {403}
    texts = {re.sub(r'value="[^"]+"', "", answer.text) for answer in answers}
    assert len(texts) == 1
    # The right one is refused as well: else the throttle would not slow a search.
    assert visitor.submit("/owner/sign-in", password=PASSWORD).status_code == 429
    assert visitor.submit("/owner/sign-in", password="no").status_code == 429


@pytest.mark.usefixtures("protected")
def test_guesses_that_are_sent_at_once_are_throttled(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    statuses: list[int] = []

    def guess() -> None:
        browser = Browser(app.test_client())
        browser.get("/owner/sign-in")
        statuses.append(browser.submit("/owner/sign-in", password="guess").status_code)

    def slow_hash(*_: object) -> bool:
        # Before this guess is answered, the next one arrives.
        if len(begun) < 8:
            thread = Thread(target=guess)
            begun.append(thread)
            thread.start()
            thread.join()
        return False

    begun: list[Thread] = []
    monkeypatch.setattr("annotate_ui.web.owner.blueprint.is_right", slow_hash)
    guess()
    assert sorted(statuses) == [403] * 5 + [429]


@pytest.mark.usefixtures("protected")
def test_many_addresses_together_are_throttled(
    app: Flask, visitor: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotate_ui.web.owner.blueprint.is_right", lambda *_: False)
    visitor.get("/owner/sign-in")
    statuses = []
    for number in range(105):
        answer = visitor.client.post(
            "/owner/sign-in",
            data={"csrf_token": visitor.csrf, "password": "guess"},
            environ_base={"REMOTE_ADDR": f"10.0.{number}.1"},
        )
        statuses.append(answer.status_code)
    assert statuses == [403] * 100 + [429] * 5


def test_a_weak_password_is_refused(study: Study) -> None:
    weak = (
        "",
        "eleven char",
        "a" * 40,
        "abcabcabcabc",
        "x" * 1001,
        "twelve chars\udc80",
        "a\x00" * 9,
    )
    for password in weak:
        with pytest.raises(StudyError):
            set_password(study, password)
    assert "ccrs owner-password" in owner_pages_line(study)


def test_the_command_asks_twice_and_shows_nothing(study: Study) -> None:
    words = ["owner-password", str(study.folder)]
    done = CliRunner().invoke(cli, words, input=f"{PASSWORD}\n{PASSWORD}\n")
    assert done.exit_code == 0
    assert PASSWORD not in done.output
    assert f"Next: ccrs serve {study.folder}" in done.output
    piped = CliRunner().invoke(cli, [*words, "--stdin", "--json"], input=f"{PASSWORD}\n")
    assert '"address": "http://127.0.0.1:8350/owner"' in piped.output
    short = CliRunner().invoke(cli, [*words, "--stdin"], input="short\n")
    assert isinstance(short.exception, StudyError) or short.exit_code == 2
