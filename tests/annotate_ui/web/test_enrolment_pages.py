"""Joining by a shared link: nothing by opening it, once by Begin, and never by an id alone."""

from collections.abc import Callable, Iterator

import pytest
from flask import Flask
from sqlalchemy import func, select

from annotate_ui.participants.enrolment import close_link, list_links, make_link
from annotate_ui.participants.invitation import invite
from annotate_ui.participation import pause, resume
from annotate_ui.web.app import create_app
from annotate_ui.web.rate_limits import limiter
from study import Study
from study.schema import Enrolment, Invitation, Rater, table
from study.schema.tables import enrolments
from tests.annotate_ui.rated_campaign import fill, give
from tests.annotate_ui.web.conftest import Browser

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "x{{ config.SECRET_KEY }}",
    "\u202egnp.exe",
    "'; DROP TABLE rater; --",
)


def path_of(url: str) -> str:
    """Return the path of an address of the campaign."""
    return url.removeprefix("http://127.0.0.1:8350")


@pytest.fixture
def link(any_study: Study) -> str:
    """Return the path of a link with three places, to a campaign with open slots."""
    fill(any_study, queries=1, systems=2)
    give(any_study, None)
    return path_of(make_link(any_study, "spring", 3)[1])


@pytest.fixture
def app(any_study: Study) -> Iterator[Flask]:
    """Return the application."""
    yield create_app(any_study, b"k" * 32)
    limiter.reset()


@pytest.fixture
def visitor(app: Flask) -> Callable[[], Browser]:
    """Return what makes a browser of a stranger."""
    return lambda: Browser(app.test_client())


def count(study: Study) -> tuple[int, ...]:
    with study.read() as connection:
        return tuple(
            int(connection.execute(select(func.count()).select_from(table(noun))).scalar_one())
            for noun in (Rater, Enrolment, Invitation)
        )


def personal_link(page: bytes) -> str:
    link: str = page.decode().split("readonly")[1].partition(">")[2].partition("<")[0]
    return link


def test_begin_creates_a_rater_with_a_personal_link_for_other_devices(
    any_study: Study, link: str, visitor: Callable[[], Browser]
) -> None:
    browser = visitor()
    offered = browser.get(f"{link}?PROLIFIC_PID=5f3c")
    assert offered.status_code == 200
    assert b"Begin" in offered.data
    assert count(any_study) == (0, 0, 0)
    begun = browser.submit(link, external_id="5f3c")
    assert begun.status_code == 200
    assert count(any_study) == (1, 1, 1)
    personal = personal_link(begun.data)
    assert personal.startswith("http://127.0.0.1:8350/join#")
    assert b"rater-1" in browser.get("/rate").data
    elsewhere = visitor()
    assert b"rater-1" in elsewhere.begin(personal).data
    # Shown once: no page has it again.
    for page in (browser.get(link), browser.get("/rate"), browser.go_on()):
        assert personal.encode() not in page.data
        assert b"5f3c" not in page.data
    assert browser.at.startswith("/rate/")


def test_a_browser_that_is_signed_in_goes_on(
    any_study: Study, link: str, visitor: Callable[[], Browser]
) -> None:
    browser = visitor()
    browser.get(link)
    browser.submit(link, external_id="5f3c")
    for address in (link, f"{link}?PROLIFIC_PID=5f3c"):
        assert b"You have joined already" in browser.get(address).data
    browser.get("/rate")
    again = browser.client.post(link, data={"csrf_token": browser.csrf, "external_id": "5f3c"})
    assert again.headers["Location"] == "/rate"
    assert count(any_study) == (1, 1, 1)
    # Another person at the same computer is another rater.
    other = browser.get(f"{link}?PROLIFIC_PID=other")
    assert b"You have joined already" not in other.data
    browser.submit(link, external_id="other")
    assert b"rater-2" in browser.get("/rate").data


def test_a_form_that_is_sent_twice_makes_one_rater(
    any_study: Study, link: str, visitor: Callable[[], Browser]
) -> None:
    browser = visitor()
    browser.get(link)
    before = browser.client.get_cookie(cookie_name(browser))
    assert before is not None
    first = browser.submit(link, external_id="5f3c")
    # The second was on its way with the cookie of before.
    csrf = form_token(browser, link, before.value)
    browser.client.set_cookie(cookie_name(browser), before.value)
    second = browser.client.post(link, data={"csrf_token": csrf, "external_id": "5f3c"})
    assert second.status_code == 200
    assert personal_link(second.data) == personal_link(first.data)
    assert count(any_study) == (1, 1, 1)
    # After the owner renewed it, the earlier link opens nothing and creates no rater.
    invite(any_study, ["rater-1"], renew=True)
    browser.client.set_cookie(cookie_name(browser), before.value)
    third = browser.client.post(link, data={"csrf_token": csrf, "external_id": "5f3c"})
    assert third.status_code == 409
    assert count(any_study)[:2] == (1, 1)


def test_reloading_the_page_of_the_link_leads_on(
    any_study: Study, link: str, visitor: Callable[[], Browser]
) -> None:
    browser = visitor()
    browser.get(link)
    sent = {"csrf_token": browser.csrf, "external_id": "5f3c"}
    personal = personal_link(browser.submit(link, external_id="5f3c").data)
    again = browser.client.post(link, data=sent, follow_redirects=True)
    assert again.status_code == 200
    assert b"Your personal link was shown once" in again.data
    assert personal.encode() not in again.data
    assert b"rater-1" in browser.get("/rate").data
    assert count(any_study) == (1, 1, 1)
    # Another person's form must be sent again by them, and creates no rater by itself.
    other = browser.client.post(link, data=sent | {"external_id": "other"}, follow_redirects=True)
    assert b"You are invited to rate" in other.data
    assert b'name="external_id" value="other"' in other.data
    assert count(any_study) == (1, 1, 1)


def cookie_name(browser: Browser) -> str:
    name: str = browser.client.application.config["SESSION_COOKIE_NAME"]
    return name


def form_token(browser: Browser, link: str, cookie: str) -> str:
    """Return the token of a form that was shown under this cookie."""
    other = Browser(browser.client.application.test_client())
    other.client.set_cookie(cookie_name(browser), cookie)
    other.get(link)
    return other.csrf


def test_an_id_alone_never_resumes(
    any_study: Study, link: str, visitor: Callable[[], Browser]
) -> None:
    for name in ("PROLIFIC_PID", "external_id", "workerId", "participant"):
        browser = visitor()
        page = browser.get(f"{link}?{name}=5f3c").get_data(as_text=True)
        assert '<input type="hidden" name="external_id" value="5f3c">' in page
        begun = browser.submit(link, external_id="5f3c")
        assert begun.status_code == (200 if name == "PROLIFIC_PID" else 409)
    assert b"with this ID has already joined" in begun.data
    assert b"join#" not in begun.data
    assert browser.get("/rate").status_code == 401
    assert count(any_study) == (1, 1, 1)


def test_a_hostile_id_is_text(any_study: Study, visitor: Callable[[], Browser]) -> None:
    link = path_of(make_link(any_study, "many", len(HOSTILE))[1])
    for external_id in HOSTILE:
        browser = visitor()
        offered = browser.client.get(link, query_string={"PROLIFIC_PID": external_id})
        page = offered.get_data(as_text=True)
        assert "<img" not in page
        assert "<script>alert" not in page
        browser.get(link)
        assert browser.submit(link, external_id=external_id).status_code == 200
        assert external_id.encode() not in browser.get("/rate").data
    with any_study.read() as connection:
        stored = connection.execute(
            select(enrolments.c.external_id).order_by(enrolments.c.id)
        ).scalars()
        # Invisible format characters are no part of an id.
        assert tuple(stored) == tuple(text.replace("\u202e", "") for text in HOSTILE)


def test_an_invalid_id_is_refused(
    any_study: Study, link: str, visitor: Callable[[], Browser]
) -> None:
    for external_id in ("x" * 201, "a\x00b", "{{%PROLIFIC_PID%}}"):
        browser = visitor()
        asked = browser.client.get(link, query_string={"PROLIFIC_PID": external_id})
        assert asked.status_code == 400
        browser.get(link)
        assert browser.submit(link, external_id=external_id).status_code == 400
    assert count(any_study) == (0, 0, 0)


def test_without_the_id_that_a_link_asks_for_nobody_joins(
    any_study: Study, visitor: Callable[[], Browser]
) -> None:
    link = path_of(make_link(any_study, "prolific", 3, id_form="prolific")[1])
    right = "5f3c0a1b2c3d4e5f6a7b8c9d"
    browser = visitor()
    for asked in (link, f"{link}?PROLIFIC_PID=", f"{link}?PROLIFIC_PID={right[1:]}"):
        page = browser.get(asked)
        assert page.status_code == 400
        is_wrong = right[1:] in asked
        assert ("The link lacks your ID" in page.text) is not is_wrong
        assert ("not a valid ID" in page.text) is is_wrong
    assert browser.get(f"{link}?PROLIFIC_PID={right}").status_code == 200
    assert browser.submit(link, external_id="").status_code == 400
    assert count(any_study) == (0, 0, 0)
    assert browser.submit(link, external_id=right).status_code == 200
    # The signed-in browser comes back by either form of the address.
    assert browser.get(link).status_code == 200
    assert browser.get(f"{link}?PROLIFIC_PID={right.upper()}").status_code == 200
    assert b"join#" not in browser.submit(link, external_id=right.upper()).data
    assert count(any_study) == (1, 1, 1)


def test_a_full_study_is_reported(
    any_study: Study, link: str, visitor: Callable[[], Browser]
) -> None:
    late = visitor()
    late.get(link)
    for _ in range(3):
        browser = visitor()
        browser.get(link)
        browser.submit(link)
    assert b"The study has enough participants" in visitor().get(link).data
    answer = late.submit(link)
    assert answer.status_code == 410
    assert b"The study has enough participants" in answer.data
    assert count(any_study) == (3, 3, 3)
    # Raters who have joined continue, full or not.
    assert b"You have joined already" in browser.get(link).data
    close_link(any_study, "spring")
    assert b"closed to new participants" in visitor().get(link).data
    assert [state.open for state in list_links(any_study)] == [False]


def test_joining_is_refused_while_the_campaign_is_paused(
    any_study: Study, link: str, visitor: Callable[[], Browser]
) -> None:
    inside, outside = visitor(), visitor()
    for browser in (inside, outside):
        browser.get(link)
    inside.submit(link)
    pause(any_study)
    assert visitor().get(link).status_code == 503
    assert b"The study is paused" in outside.submit(link).data
    assert b"You have joined already" in inside.get(link).data
    resume(any_study)
    assert outside.submit(link).status_code == 200
    assert count(any_study) == (2, 2, 2)


def test_an_invalid_token_is_treated_as_a_bad_link_and_throttled(
    any_study: Study, link: str, visitor: Callable[[], Browser]
) -> None:
    browser = visitor()
    answers = [browser.client.get(f"/enrol/wrong{n}", follow_redirects=True) for n in range(12)]
    assert [answer.status_code for answer in answers] == [403] * 10 + [429] * 2
    assert count(any_study) == (0, 0, 0)
    # A rater with the right link is admitted nonetheless.
    assert browser.get(link).status_code == 200
    assert browser.submit(link).status_code == 200


def test_joining_is_throttled_by_address(
    any_study: Study, link: str, visitor: Callable[[], Browser]
) -> None:
    close_link(any_study, "spring")
    codes = []
    browser = visitor()
    browser.get("/join")
    for _ in range(32):
        codes.append(browser.client.post(link, data={"csrf_token": browser.csrf}).status_code)
    assert codes == [410] * 30 + [429] * 2


def test_joining_asks_for_the_token_of_the_page(
    any_study: Study, link: str, visitor: Callable[[], Browser]
) -> None:
    browser = visitor()
    browser.get(link)
    assert browser.client.post(link, data={}).status_code >= 400
    assert browser.client.post(link, data={"csrf_token": "wrong"}).status_code >= 400
    assert count(any_study) == (0, 0, 0)


def test_a_rater_who_signed_out_needs_the_personal_link(
    any_study: Study, link: str, visitor: Callable[[], Browser]
) -> None:
    browser = visitor()
    browser.get(link)
    personal = personal_link(browser.submit(link, external_id="5f3c").data)
    browser.get("/rate")
    browser.submit("/leave")
    browser.get(f"{link}?PROLIFIC_PID=5f3c")
    assert browser.submit(link, external_id="5f3c").status_code == 409
    assert b"rater-1" in browser.begin(personal).data
