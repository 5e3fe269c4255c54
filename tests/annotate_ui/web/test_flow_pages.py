"""The pages of a whole campaign: training, side by side, notices, and requests that come twice."""

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest
from flask import Flask
from sqlalchemy import func, select

from annotate_ui.participants.invitation import invite
from annotate_ui.participants.withdrawal import leave
from annotate_ui.participation import pause
from annotate_ui.web.app import create_app
from annotate_ui.web.rate_limits import limiter
from study import Study
from study.errors import StorageError
from study.schema import OpenedPassage, Reveal, table
from study.schema.tables import raters, responses
from tests.annotate_ui.designed_campaign import assign_one, configure, new_rater, teach
from tests.annotate_ui.faked_clock import fake_clock
from tests.annotate_ui.rated_campaign import fill, give, ratings
from tests.annotate_ui.web.conftest import Browser

Come = Callable[[Study, str], Browser]


@pytest.fixture
def visit() -> Iterator[Come]:
    """Return a function that lets a rater of a study in."""

    def coming(study: Study, code: str) -> Browser:
        app: Flask = create_app(study, b"k" * 32)
        (made,) = invite(study, [code])
        browser = Browser(app.test_client())
        assert browser.begin(made.link).status_code == 200
        return browser

    yield coming
    limiter.reset()


def rate_all(browser: Browser, value: float) -> None:
    """Give every construct of the page that is open the same value, column by column."""
    page = browser.received[-1].decode()
    for save_url, key in columns(page):
        body = {
            "construct": key,
            "value": value,
            "input_kind": "typed",
            "active_seconds": 2.0,
            "wall_seconds": 3.5,
            "base_revision": 0,
            "key": uuid4().hex,
        }
        assert browser.send(save_url, body).status_code == 200


def columns(page: str) -> list[tuple[str, str]]:
    """Return address and construct of everything that a page asks."""
    places = []
    for tag in re.findall(r'<section [^>]*class="construct[^>]*>', page, re.S):
        key = re.search(r'data-key="([^"]+)"', tag)
        url = re.search(r'data-save-url="([^"]+)"', tag)
        assert key is not None
        assert url is not None
        places.append((url[1], key[1]))
    return places


def count(study: Study, noun: Any) -> int:
    with study.read() as connection:
        return int(connection.execute(select(func.count()).select_from(table(noun))).scalar_one())


def test_training_is_failed_once_and_passed(any_study: Study, visit: Come) -> None:
    fill(any_study, queries=1, systems=1)
    give(any_study, "anna", keys=["QR"])
    teach(any_study, 2, keys=["QR"])
    configure(any_study, design={"training": 1})
    browser = visit(any_study, "anna")
    browser.go_on()
    rate_all(browser, 10)
    feedback = browser.go_on()
    assert re.fullmatch(r"/rate/[0-9a-f]{32}/feedback", browser.at)
    text = feedback.get_data(as_text=True)
    assert "60 to 80" in text
    assert "because-QR" in text
    assert "0% of your values" in text
    assert "Another attempt" in text
    # The page stays where it is, and shows the same.
    assert "because-QR" in browser.get(browser.at).get_data(as_text=True)
    browser.go_on()
    rate_all(browser, 70)
    text = browser.go_on().get_data(as_text=True)
    assert "100% of your values" in text
    assert "You have passed" in text
    page = browser.go_on().get_data(as_text=True)
    assert "response-0-0" in page
    rate_all(browser, 5)
    assert browser.go_on().request.path == "/rate/end"
    assert [row.wall_seconds for row in ratings(any_study)] == [3.5] * 3


def test_training_shows_how_far_it_is(study: Study, visit: Come) -> None:
    fill(study, queries=1, systems=1)
    give(study, "anna", keys=["QR"])
    teach(study, 2, keys=["QR"])
    configure(study, design={"training": 2})
    browser = visit(study, "anna")
    for place in ("Practice 1 of 2", "Practice 2 of 2"):
        assert place in browser.go_on().text
        assert place in browser.get("/rate").text
        page = browser.go_on().text
        assert "left</span>" not in page, "values of the main work do not move here"
        rate_all(browser, 70)
        browser.go_on()
    assert "0 of 1 value, 1 left" in browser.go_on().text


def test_a_failed_training_is_explained_and_does_not_end_as_done(
    any_study: Study, visit: Come
) -> None:
    fill(any_study, queries=1, systems=1)
    give(any_study, "anna", keys=["QR"])
    teach(any_study, 1, keys=["QR"])
    configure(
        any_study,
        design={"training": 1},
        rating={"completion_code": "SECRET-7", "screen_out_code": "OUT-8"},
    )
    browser = visit(any_study, "anna")
    browser.go_on()
    rate_all(browser, 10)
    assert "no further attempts" in browser.go_on().get_data(as_text=True)
    overview = browser.go_on()
    assert (overview.request.path, overview.request.args["why"]) == ("/rate", "training_failed")
    assert b"The training is over" in overview.data
    assert b"OUT-8" in overview.data
    assert b"OUT-8" not in browser.client.get("/rate").data
    end = browser.client.get("/rate/end", follow_redirects=True)
    assert b"SECRET-7" not in end.data


def test_feedback_is_its_raters_alone_and_only_once_it_is_opened(
    any_study: Study, visit: Come
) -> None:
    fill(any_study, queries=1, systems=1)
    give(any_study, "anna", keys=["QR"])
    give(any_study, "ben", keys=["QR"])
    teach(any_study, 1, keys=["QR"])
    configure(any_study, design={"training": 1})
    anna, ben = visit(any_study, "anna"), visit(any_study, "ben")
    anna.go_on()
    address = anna.at.rpartition("/")[0] + "/feedback"
    assert anna.client.get(address).status_code == 404
    rate_all(anna, 70)
    assert anna.client.get(address).status_code == 404
    anna.go_on()
    assert anna.client.get(address).status_code == 200
    assert ben.client.get(address).status_code == 404
    assert anna.client.get("/rate/0/feedback").status_code == 404
    assert anna.client.get("/rate/%00/feedback").status_code == 404


def test_side_by_side_is_one_page_with_one_address(any_study: Study, visit: Come) -> None:
    fill(any_study, queries=1, systems=2)
    anna = new_rater(any_study, "anna")
    with any_study.read() as connection:
        both = (
            connection.execute(select(responses.c.id).order_by(responses.c.id.desc()))
            .scalars()
            .all()
        )
    for position, response in enumerate(both):
        assign_one(any_study, anna, response, position=position, layout="side_by_side")
    browser = visit(any_study, "anna")
    page = browser.go_on().get_data(as_text=True)
    assert page.index("response-0-1") < page.index("response-0-0")
    assert "passage-" not in page
    assert "reference-" not in page
    asked = columns(page)
    assert [key for _, key in asked] == ["QR", "QR"]
    assert len({url for url, _ in asked}) == 2
    second = asked[1][0].removesuffix("/save")
    moved = browser.client.get(second)
    assert (moved.status_code, moved.location) == (303, browser.at)
    rate_all(browser, 40)
    first = browser.at
    page = browser.go_on().get_data(as_text=True)
    assert "reference-0" in page
    assert f'href="{first}"' in page
    rate_all(browser, 60)
    assert browser.go_on().request.path == "/rate/end"
    assert len(ratings(any_study)) == 4


def test_notices_describe_the_current_state_only(
    study: Study, visit: Come, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = fake_clock(monkeypatch)
    fill(study, queries=2, systems=1)
    give(study, "anna", keys=["QR"])
    give(study, "anna", keys=["QR"], repeat=1)
    configure(study, rating={"session_minutes": 1, "break_minutes": 30})
    browser = visit(study, "anna")
    for why in ("paused", "break", "later", "training_failed", "nonsense", "waiting<script>"):
        assert b'class="note"' not in browser.get(f"/rate?why={why}").data
    pause(study, "Back on <b>Monday</b>.")
    page = browser.go_on().get_data(as_text=True)
    assert "The study is paused" in page
    assert "Back on &lt;b&gt;Monday&lt;/b&gt;." in page
    from annotate_ui.participation import resume

    assert "Finish the page" not in page
    resume(study)
    opened = browser.go_on().request.path
    pause(study, "")
    assert f'<a href="{opened}">Finish the page' in browser.go_on().get_data(as_text=True)
    resume(study)
    browser.go_on()
    browser.save("QR", 5, active_seconds=100)
    page = browser.go_on().get_data(as_text=True)
    assert "Time for a break" in page
    assert time_element("2026-03-01", "09:30") in page
    assert "times.js" in page
    clock.forward(minutes=40)
    browser.go_on()
    browser.save("QR", 5)
    page = browser.go_on().get_data(as_text=True)
    assert "You will have more to rate later" in page
    assert time_element("2026-03-02", "09:00") in page


def time_element(day: str, hour: str) -> str:
    return f'<time datetime="{day}T{hour}:00+00:00">{day} {hour} UTC</time>'


def test_a_rater_who_left_is_signed_out(any_study: Study, visit: Come) -> None:
    fill(any_study, queries=1, systems=1)
    anna = give(any_study, "anna")
    assert anna is not None
    browser = visit(any_study, "anna")
    browser.go_on()
    leave(any_study, anna, "withdrew")
    answer = browser.save("QR", 5)
    assert (answer.status_code, answer.get_json()["error"]["code"]) == (401, "signed_out")
    assert browser.client.get(browser.at).status_code == 401


def test_a_request_under_way_when_its_rater_leaves_is_answered_alike(
    study: Study, visit: Come, monkeypatch: pytest.MonkeyPatch
) -> None:
    from annotate_ui.tasks.refusals import LeftError

    def gone(*_: object) -> None:
        raise LeftError

    fill(study, queries=1, systems=1)
    give(study, "anna")
    browser = visit(study, "anna")
    browser.go_on()
    monkeypatch.setattr("annotate_ui.web.rater.rating_pages.save_within", gone)
    monkeypatch.setattr("annotate_ui.web.rater.rating_pages.open_next", gone)
    answer = browser.save("QR", 5)
    assert (answer.status_code, answer.get_json()["error"]["code"]) == (401, "signed_out")
    assert browser.submit("/rate/next").status_code == 401


def test_next_asked_many_times_at_once_opens_one_page(any_study: Study, visit: Come) -> None:
    fill(any_study, queries=2, systems=2)
    give(any_study, None)
    new_rater(any_study, "anna")
    browser = visit(any_study, "anna")
    browser.get("/rate")
    cookie = browser.client.get_cookie(browser.client.application.config["SESSION_COOKIE_NAME"])
    assert cookie is not None

    def ask(_: int) -> str:
        client = browser.client.application.test_client()
        client.set_cookie(cookie.key, cookie.value)
        headers = {"X-CSRFToken": browser.csrf, "X-Rater": browser.rater}
        answer = client.post("/rate/next", json={}, headers=headers)
        assert answer.status_code == 200
        return str(answer.get_json()["url"])

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(ask, range(16)))) == 1
    assert count(any_study, Reveal) == 1


def test_feedback_and_passages_asked_again_are_recorded_once(any_study: Study, visit: Come) -> None:
    fill(any_study, queries=1, systems=1)
    give(any_study, "anna", keys=["CC"])
    teach(any_study, 1, keys=["QR"])
    configure(any_study, design={"training": 1, "pass_mark": 0.01})
    browser = visit(any_study, "anna")
    browser.go_on()
    practice = browser.at
    rate_all(browser, 70)
    browser.go_on()
    feedback = browser.at
    for _ in range(3):
        browser.get(feedback)
    assert count(any_study, Reveal) == 2
    browser.go_on()
    # An old answer of the way on comes late: it leads to what is open by now.
    assert browser.go_on().request.path == browser.at
    assert count(any_study, Reveal) == 3
    for _ in range(3):
        assert browser.send(f"{browser.at}/passages", {"position": 0}).status_code == 200
    assert count(any_study, OpenedPassage) == 1
    # Reordered: a passage of a page that shows none, and a save for a page long gone.
    assert browser.send(f"{practice}/passages", {"position": 0}).status_code == 422
    late = {
        "construct": "QR",
        "value": 71,
        "input_kind": "typed",
        "base_revision": 1,
        "key": uuid4().hex,
    }
    for _ in range(2):
        answer = browser.send(f"{practice}/save", late)
        assert (answer.status_code, answer.get_json()["revision"]) == (200, 2)
        assert answer.get_json()["kept"].startswith("70 counts;")
    assert [row.after_reveal for row in ratings(any_study)] == [False, True]
    for page in (practice, "/rate/history"):
        assert "70 counts; what you entered after more" in browser.get(page).get_data(as_text=True)


def test_a_full_disk_is_reported_and_the_same_save_succeeds_afterwards(
    study: Study, visit: Come, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(study, queries=1, systems=1)
    give(study, "anna")
    browser = visit(study, "anna")
    browser.go_on()
    key = uuid4().hex

    def full(*_: object) -> None:
        raise StorageError("The study's database reports: database or disk is full.")

    with monkeypatch.context() as broken:
        broken.setattr("annotate_ui.web.rater.rating_pages.save_within", full)
        answer = browser.save("QR", 5, key=key)
        assert answer.status_code == 503
        error = answer.get_json()["error"]
        assert error["code"] == "full"
        assert "disk is full or cannot be written" in error["message"]
    assert ratings(study) == []
    for _ in range(2):
        assert browser.save("QR", 5, key=key).status_code == 200
    assert len(ratings(study)) == 1


def test_a_database_that_is_full_refuses_a_save_and_keeps_the_others(
    study: Study, visit: Come
) -> None:
    fill(study, queries=1, systems=1)
    give(study, "anna")
    browser = visit(study, "anna")
    browser.go_on()
    assert browser.save("QR", 5).status_code == 200
    served: Study = browser.client.application.config["STUDY"]

    def limit(pages: int) -> None:
        served.engine.dispose()
        with served.engine.connect() as connection:
            connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")

    with study.read() as connection:
        pages = int(connection.exec_driver_sql("PRAGMA page_count").scalar_one())
    limit(pages)
    answers = []
    for base in range(1, 40):
        answer = browser.save("QR", 5 + base, base, comment="x" * 5000)
        answers.append(answer.status_code)
        if answer.status_code != 200:
            break
    assert answers[-1] == 503, answers
    assert answer.get_json()["error"]["code"] == "full"
    stored = len(ratings(study))
    assert stored == len(answers)
    limit(pages + 1000)
    assert browser.save("QR", 99, stored).get_json()["revision"] == stored + 1


def test_rater_codes_are_on_no_page_of_feedback(any_study: Study, visit: Come) -> None:
    fill(any_study, queries=1, systems=1)
    for code in ("bernadette", "clementine"):
        give(any_study, code, keys=["QR"])
    for code in ("bernadette", "clementine"):
        other = visit(any_study, code)
        other.go_on()
        other.save("QR", 30, comment=f"<i>said by {code[:1]}</i>")
    anna = new_rater(any_study, "anna")
    with any_study.read() as connection:
        response = connection.execute(select(responses.c.id)).scalar_one()
    assign_one(any_study, anna, response, purpose="adjudication", construct_keys=["QR"])
    browser = visit(any_study, "anna")
    browser.go_on()
    assert b"said by" not in b"".join(browser.received)
    step = browser.at
    rate_all(browser, 80)
    page = browser.go_on().get_data(as_text=True)
    assert page.count("&lt;i&gt;said by") == 2
    assert "<i>" not in page
    with any_study.read() as connection:
        codes = connection.execute(select(raters.c.code).where(raters.c.code != "anna")).scalars()
        assert not any(code in page for code in codes)
    assert f'href="{step}"' in page
    browser.get(step)
    assert browser.save("QR", 35, 1).status_code == 200
    assert browser.go_on().request.path == "/rate/end"


def test_a_read_only_database_is_reported_and_the_same_save_succeeds_afterwards(
    study: Study, visit: Come
) -> None:
    fill(study, queries=1, systems=1)
    give(study, "anna")
    browser = visit(study, "anna")
    browser.go_on()
    served: Study = browser.client.application.config["STUDY"]
    key = uuid4().hex

    def only_read(wanted: str) -> None:
        with served.engine.connect() as connection:
            connection.exec_driver_sql(f"PRAGMA query_only={wanted}")

    only_read("on")
    answer = browser.save("QR", 5, key=key)
    assert answer.status_code == 503
    error = answer.get_json()["error"]
    assert error["code"] == "full"
    only_read("off")
    for _ in range(2):
        assert browser.save("QR", 5, key=key).get_json()["revision"] == 1
    assert len(ratings(study)) == 1
