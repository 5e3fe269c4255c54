"""Leaving the study from the overview, and what the last page shows to those who stay."""

from collections.abc import Iterator

import pytest
from sqlalchemy import select

from annotate_ui.participants.invitation import invite
from annotate_ui.web.app import create_app
from annotate_ui.web.rate_limits import limiter
from study import Study
from study.schema.tables import departures as departure_table, raters
from tests.annotate_ui.participants.enrolled_raters import assignments, opened, rate
from tests.annotate_ui.rated_campaign import fill, give, ratings
from tests.annotate_ui.web.conftest import Browser


@pytest.fixture
def paying(any_study: Study) -> Iterator[tuple[Study, Browser, str]]:
    """Return a campaign that ends with a code, anna in front of it, and her link."""
    fill(any_study, queries=1, systems=2)
    give(any_study, "anna")
    study = opened(
        any_study,
        'completion_code = "DONE <42>"\n'
        'completion_url = "https://recruiter.example/complete?cc={code}&a=1"\n'
        'return_code = "RETURN-3"\nreturn_url = "https://recruiter.example/return?cc={code}"\n',
    )
    (made,) = invite(study)
    browser = Browser(create_app(study, b"k" * 32).test_client())
    browser.begin(made.link)
    yield study, browser, made.link
    limiter.reset()
    study.close()


def rater_id(study: Study) -> int:
    with study.read() as connection:
        return int(connection.execute(select(raters.c.id)).scalar_one())


def departures(study: Study) -> list[str]:
    with study.read() as connection:
        return list(connection.execute(select(departure_table.c.kind)).scalars())


def test_leaving_asks_first_and_keeps_what_is_rated(paying: tuple[Study, Browser, str]) -> None:
    study, anna, link = paying
    anna.go_on()
    step = anna.at
    assert anna.save("QR", 40.0).status_code == 200
    page = anna.get("/withdraw")
    assert b"anna" in page.data
    assert anna.submit("/withdraw").request.path == "/withdraw", "not without the tick"
    assert departures(study) == []
    gone = anna.submit("/withdraw", confirmed="yes")
    assert gone.request.path == "/withdrawn"
    assert b"RETURN-3" in gone.data
    assert b'href="https://recruiter.example/return?cc=RETURN-3"' in gone.data
    stranger = Browser(anna.client.application.test_client())
    assert b"RETURN-3" not in stranger.get("/withdrawn").data
    assert departures(study) == ["withdrew"]
    assert [row.value for row in ratings(study)] == [40.0]
    assert all(row.released_at is not None for row in assignments(study, rater_id(study)))
    anna.at = step
    assert anna.save("QR", 41.0, base=1).status_code in {400, 401}
    assert anna.get("/rate").status_code == 401
    assert anna.begin(link).status_code == 403
    assert len(ratings(study)) == 1


def test_a_code_is_for_work_that_is_done(paying: tuple[Study, Browser, str]) -> None:
    study, anna, _ = paying
    early = anna.client.get("/rate/end")
    assert early.headers["Location"] == "/rate"
    anna.go_on()
    rate(study, rater_id(study), least=1)
    assert anna.get("/rate/end").headers["Location"] == "/rate"
    assert not any(b"DONE" in data or b"recruiter" in data for data in anna.received)


def test_the_last_page_asks_first_and_gives_the_code_all_the_same(
    paying: tuple[Study, Browser, str],
) -> None:
    study, anna, _ = paying
    rate(study, rater_id(study))
    page = anna.get("/rate/end").get_data(as_text=True)
    assert "DONE &lt;42&gt;" in page
    assert 'href="https://recruiter.example/complete?cc=DONE%20%3C42%3E&amp;a=1"' in page
    assert page.index("did you recognize") < page.index("completion code")
    again = anna.submit("/rate/end", recognized="no").get_data(as_text=True)
    assert "Your answer is stored" in again
    assert "DONE &lt;42&gt;" in again


def test_without_a_code_the_last_page_has_none(study: Study) -> None:
    fill(study, queries=1, systems=1)
    give(study, "anna")
    browser = Browser(create_app(study, b"k" * 32).test_client())
    browser.begin(invite(study)[0].link)
    rate(study, rater_id(study))
    page = browser.get("/rate/end")
    assert page.status_code == 200
    assert b"ompletion" not in page.data
    limiter.reset()
