"""The session's cookie is set when a session begins and ends, and by nothing in between.

Answers reach a browser in any order. One to a request of before Begin, such as the page's icon,
that set its session once more would undo what came after: the rater's first press fails, or a
rater who signed out is in again.
"""

from collections.abc import Callable

from flask import Flask

from annotate_ui.participants.invitation import invite
from study import Study
from tests.annotate_ui.web.conftest import Browser

Come = Callable[[str], Browser]


def test_begin_sets_the_whole_session_at_once(app: Flask, campaign: Study) -> None:
    (made, *_) = invite(campaign)
    browser = Browser(app.test_client())
    browser.get("/join")
    answer = browser.client.post(
        "/join", data={"csrf_token": browser.csrf, "token": made.link.partition("#")[2]}
    )
    assert answer.headers.getlist("Set-Cookie")
    with browser.client.session_transaction() as session:
        assert {"rater", "invitation", "csrf_token"} <= session.keys()


def test_nothing_sets_it_before_the_session_ends(app: Flask, come: Come) -> None:
    browser = come("anna")
    static = app.static_url_path
    answers = [browser.get(path) for path in (f"{static}/icon.svg", "/rate", "/join", "/")]
    answers += [browser.go_on(), browser.save("QR", 5.0), browser.get("/nothing")]
    for answer in answers:
        assert answer.headers.getlist("Set-Cookie") == [], answer.request.path
        answer.close()
    ended = browser.client.post("/leave", data={"csrf_token": browser.csrf})
    assert ended.headers.getlist("Set-Cookie")


def test_a_copied_cookie_opens_nothing_after_signing_out(app: Flask, come: Come) -> None:
    browser, elsewhere = come("anna"), come("anna")
    copied = app.test_client()
    with browser.client.session_transaction() as session:
        content = dict(session)
    with copied.session_transaction() as session:
        session.update(content)
    assert copied.get("/rate").status_code == 200
    browser.submit("/leave")
    assert copied.get("/rate").status_code == 401
    # A session of the same rater on another device goes on.
    assert elsewhere.get("/rate").status_code == 200


def test_a_link_signs_in_again_where_an_ended_cookie_is_left(
    app: Flask, campaign: Study, come: Come
) -> None:
    browser, copied = come("anna"), Browser(app.test_client())
    with browser.client.session_transaction() as session:
        content = dict(session)
    with copied.client.session_transaction() as session:
        session.update(content)
    browser.submit("/leave")
    (made,) = invite(campaign, ["anna"], renew=True)
    copied.begin(made.link)
    assert copied.get("/rate").status_code == 200
