"""Many join by one link: never more than the quota, and each only once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from hashlib import sha256

import pytest
from sqlalchemy import insert, select, update

from annotate_ui.participants import recruiter_ids
from annotate_ui.participants.consent import RaterText, answer
from annotate_ui.participants.enrolment import (
    EnrolmentRefusedError,
    close_link,
    enrol,
    list_links,
    make_link,
    renew_link,
)
from annotate_ui.participants.invitation import list_links as rater_links
from annotate_ui.participants.tokens import rater_of_token
from annotate_ui.participants.withdrawal import leave, readmit
from annotate_ui.server.application import campaign_counts
from annotate_ui.tasks.slot_queue import most_queries
from study import Study, StudyError
from study.schema import now
from study.schema.tables import (
    enrolment_links,
    enrolments as enrolment_table,
    raters as rater_table,
)
from tests.annotate_ui.participants.enrolled_raters import rate
from tests.annotate_ui.rated_campaign import fill, give


def token_of(url: str) -> str:
    return url.rpartition("/")[2]


def made(study: Study, name: str = "spring", quota: int = 5, **more: object) -> str:
    return token_of(make_link(study, name, quota, **more)[1])


def refused(study: Study, token: str, external_id: str | None = None) -> str:
    with pytest.raises(EnrolmentRefusedError) as caught:
        enrol(study, token, external_id)
    return caught.value.reason


def test_enrolling_creates_a_rater_with_a_link_and_the_links_attributes(any_study: Study) -> None:
    link, url = make_link(any_study, "spring", 2, queries_each=3, languages=["de", "en", "de"])
    assert url.startswith("http://127.0.0.1:8350/enrol/")
    assert len(token_of(url)) == 43, "32 bytes in base64 without padding"
    first = enrol(any_study, token_of(url), " PID-1 ")
    second = enrol(any_study, token_of(url))
    with any_study.read() as connection:
        raters = connection.execute(select(rater_table).order_by(rater_table.c.id)).all()
        enrolments = connection.execute(
            select(enrolment_table).order_by(enrolment_table.c.id)
        ).all()
        behind = rater_of_token(connection, first.personal_link.partition("#")[2])
        assert [most_queries(connection, rater.id) for rater in raters] == [3, 3]
    assert [rater.code for rater in raters] == ["rater-1", "rater-2"]
    assert [rater.attributes for rater in raters] == [{"languages": ["de", "en"]}] * 2
    assert [row.external_id for row in enrolments] == ["PID-1", None]
    assert behind == (first.rater_id, first.invitation_id)
    assert (first.rater_id, second.rater_id) == tuple(rater.id for rater in raters)
    (state,) = list_links(any_study)
    assert (state.name, state.joined, state.counted, state.open) == (link.name, 2, 2, False)
    assert state.as_json()["languages"] == ["de", "en"]


def test_the_database_holds_the_hash_of_a_links_token(any_study: Study) -> None:
    token = made(any_study)
    with any_study.read() as connection:
        (stored,) = connection.execute(select(enrolment_links.c.token_hash)).scalars()
    assert stored == sha256(token.encode()).digest()


def test_of_twenty_simultaneous_requests_as_many_join_as_there_are_places(any_study: Study) -> None:
    token = made(any_study, quota=5)

    def come(number: int) -> str:
        try:
            enrol(any_study, token, f"person-{number}")
        except EnrolmentRefusedError as error:
            return error.reason
        return "in"

    with ThreadPoolExecutor(20) as pool:
        outcomes = list(pool.map(come, range(20)))
    assert sorted(outcomes) == ["full"] * 15 + ["in"] * 5
    with any_study.read() as connection:
        assert len(connection.execute(select(rater_table)).all()) == 5


def test_one_id_at_once_from_many_places_joins_once(any_study: Study) -> None:
    token = made(any_study, quota=50)

    def come(_: int) -> str:
        try:
            enrol(any_study, token, "the-same")
        except EnrolmentRefusedError as error:
            return error.reason
        return "in"

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(come, range(8))) == ["in"] + ["joined"] * 7


def test_an_id_never_joins_again_by_this_link_or_another(any_study: Study) -> None:
    first, second = made(any_study), made(any_study, "autumn")
    joined = enrol(any_study, first, "PID")
    assert refused(any_study, first, "PID") == "joined"
    assert refused(any_study, second, "PID") == "joined"
    # A rater who withdrew cannot join again with the same id.
    leave(any_study, joined.rater_id, "withdrew")
    assert refused(any_study, first, "PID") == "joined"


def test_leaving_without_a_finished_response_frees_the_place(any_study: Study) -> None:
    fill(any_study, queries=1, systems=1)
    token = made(any_study, quota=2)
    idle, busy = enrol(any_study, token, "idle"), enrol(any_study, token, "busy")
    with any_study.read() as connection:
        codes = dict(connection.execute(select(rater_table.c.id, rater_table.c.code)).all())
    give(any_study, codes[busy.rater_id])
    rate(any_study, busy.rater_id)
    assert refused(any_study, token, "late") == "full"
    leave(any_study, busy.rater_id, "withdrew")
    assert refused(any_study, token, "late") == "full"
    leave(any_study, idle.rater_id, "removed")
    enrol(any_study, token, "late")
    assert refused(any_study, token, "later") == "full"
    readmit(any_study, codes[idle.rater_id])
    (state,) = list_links(any_study)
    assert (state.joined, state.counted) == (3, 3)


def test_a_rater_without_consent_does_not_take_a_place(any_study: Study) -> None:
    token, text = made(any_study, quota=1), RaterText("Taking part", "0" * 64)
    first = enrol(any_study, token, "first").rater_id
    assert refused(any_study, token, "second") == "full"
    answer(any_study, first, text, agreed=False)
    enrol(any_study, token, "second")
    assert refused(any_study, token, "third") == "full"
    # Who thinks better of it counts again, and is not sent away.
    answer(any_study, first, text, agreed=True)
    (state,) = list_links(any_study)
    assert (state.joined, state.counted) == (2, 2)


def test_a_closed_link_is_refused_and_a_renewed_one_has_another_address(
    any_study: Study,
) -> None:
    token = made(any_study)
    assert close_link(any_study, "spring")
    assert not close_link(any_study, "spring")
    assert refused(any_study, token) == "closed"
    again = token_of(renew_link(any_study, "spring"))
    assert refused(any_study, token) == "unknown"
    enrol(any_study, again)


def test_a_link_ends_by_itself(any_study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StudyError, match="which is past"):
        made(any_study, until=now() - timedelta(minutes=1))
    token = made(any_study, until=now() + timedelta(hours=1))
    enrol(any_study, token)
    (state,) = list_links(any_study)
    assert (state.open, state.closed) == (True, False)
    with monkeypatch.context() as patch:
        patch.setattr("study.facts.links.now", lambda: now() + timedelta(hours=2))
        assert refused(any_study, token) == "closed"
        assert not close_link(any_study, "spring")
        (state,) = list_links(any_study)
        assert (state.open, state.closed) == (False, True)
    assert close_link(any_study, "spring"), "before its end it is closed at once"
    assert refused(any_study, token) == "closed"


def test_a_server_is_sized_for_all_who_may_still_join(any_study: Study) -> None:
    token = made(any_study, quota=30)
    made(any_study, "closed", quota=500)
    close_link(any_study, "closed")
    enrolled = enrol(any_study, token)
    assert campaign_counts(any_study).raters == 30
    leave(any_study, enrolled.rater_id, "withdrew")
    assert campaign_counts(any_study).raters == 31
    assert [(link.live, link.left) for link in rater_links(any_study)] == [(False, True)]


@pytest.mark.parametrize(
    "token", ["", "x", "é" * 43, "\ud800", "a" * 100_000], ids=["empty", "x", "e", "half", "long"]
)
def test_an_invalid_token_does_not_enrol(study: Study, token: str) -> None:
    made(study)
    assert refused(study, token) == "unknown"


@pytest.mark.parametrize(
    "external_id",
    ["x" * 201, "a\x00b", "\ud800", "{{%PROLIFIC_PID%}}", "${workerId}", "%PID%"],
    ids=["long", "nul", "half", "braces", "dollar", "percent"],
)
def test_an_invalid_id_does_not_enrol(study: Study, external_id: str) -> None:
    assert refused(study, made(study), external_id) == "bad_id"


def test_a_hostile_id_is_kept_as_it_is(any_study: Study) -> None:
    hostile = "<script>alert(1)</script>'; DROP TABLE rater;-- gnp"
    enrol(any_study, made(any_study), hostile)
    with any_study.read() as connection:
        assert connection.execute(select(enrolment_table.c.external_id)).scalar_one() == hostile


ID = "5f3c0a1b2c3d4e5f6a7b8c9d"
WIDE = "".join(chr(ord(sign) + 0xFEE0) for sign in ID)


@pytest.mark.parametrize(
    "again",
    [
        pytest.param(ID, id="as-it-is"),
        pytest.param(ID.upper(), id="capital"),
        pytest.param(WIDE, id="full-width"),
        pytest.param(f"\u200b{ID[:5]}\u200d{ID[5:]}\ufeff", id="zero-width"),
        pytest.param(f"\u00a0{ID}\u3000", id="spaces"),
        pytest.param(f"{ID[:5]}\u00ad\u202e{ID[5:]}", id="soft-hyphen"),
    ],
)
def test_one_id_joins_once_however_it_is_written(study: Study, again: str) -> None:
    token, other = made(study), made(study, "autumn")
    enrol(study, token, ID)
    assert refused(study, token, again) == "joined"
    assert refused(study, other, again) == "joined"
    with study.read() as connection:
        assert connection.execute(select(enrolment_table.c.external_id)).scalars().all() == [ID]


def test_an_id_that_was_stored_as_it_came_is_the_same_id(study: Study) -> None:
    token = made(study)
    enrol(study, token, "first")
    with study.write() as connection:
        key = connection.execute(select(enrolment_links.c.id)).scalar_one()
        rater = insert(rater_table).values(code="x", attributes={}).returning(rater_table.c.id)
        row = {"rater_id": connection.execute(rater).scalar_one(), "link_id": key}
        connection.execute(insert(enrolment_table).values(**row, external_id=WIDE))
    assert refused(study, token, ID) == "joined"


@pytest.mark.parametrize(
    ("form", "right", "wrong"),
    [
        pytest.param("prolific", [ID, ID[::-1].upper()], [None, "", ID[1:], "x" + ID], id="preset"),
        pytest.param("W[0-9]+", ["W1", "w2"], [None, "1W1", "W1 x"], id="own"),
    ],
)
def test_a_required_id_has_its_form(
    any_study: Study, form: str, right: list[str], wrong: list[str | None]
) -> None:
    token = made(any_study, languages=["de"], id_form=form)
    for id_ in wrong:
        assert refused(any_study, token, id_) == ("bad_id" if id_ else "no_id")
    for id_ in right:
        enrol(any_study, token, id_)
    with any_study.read() as connection:
        attributes = connection.execute(select(rater_table.c.attributes)).scalars().all()
    assert attributes == [{"languages": ["de"]}] * len(right)
    assert renew_link(any_study, "spring")
    assert list_links(any_study)[0].as_json()["id_form"] == recruiter_ids.FORMS.get(form, form)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"id_form": "W[0-9"}, "not a regular expression .* prolific"),
        ({"name": "spring"}, "already"),
        ({"name": " "}, "name"),
        ({"quota": 0}, "quota"),
        ({"quota": 10**6}, "100000"),
        ({"queries_each": 0}, "queries_each"),
        ({"languages": ["german!"]}, "not a language code"),
    ],
    ids=["id-form", "taken", "blank", "none", "many", "queries", "language"],
)
def test_an_invalid_link_is_refused(study: Study, wrong: dict[str, object], message: str) -> None:
    made(study)
    with pytest.raises(StudyError, match=message):
        made(study, **{"name": "other", **wrong})
    assert len(list_links(study)) == 1


def test_an_unknown_link_is_named_with_the_nearest(study: Study) -> None:
    made(study)
    for act in (close_link, renew_link):
        with pytest.raises(StudyError, match="Did you mean 'spring'"):
            act(study, "sprin")


def test_enrolments_are_facts_that_stay(study: Study) -> None:
    enrol(study, made(study), "PID")
    with pytest.raises(Exception, match="append-only"), study.write() as connection:
        connection.execute(update(enrolment_table).values(external_id="other"))
