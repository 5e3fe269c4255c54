"""The owner's words on a rater's comment: who writes them, who reads them, where they are kept."""

import csv
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest
from flask import Flask
from sqlalchemy import select

from annotate_ui.participants.rejection import reject
from annotate_ui.participants.withdrawal import leave
from study import Study
from study.schema.tables import assignments, rater_answers, raters
from tests.annotate_ui.web.conftest import Browser
from tests.ccrs_command import in_process

SAID = "Odd <b>passage</b>"
WORDS = "Judge what is shown.\n<script>alert(1)</script>"
SHOWN = "&lt;script&gt;alert(1)&lt;/script&gt;"
Come = Callable[[str], Browser]


@pytest.fixture
def anna(come: Come) -> Browser:
    """Return a rater who has written a comment."""
    browser = come("anna")
    browser.go_on()
    assert browser.save("QR", 40.0, comment=SAID).status_code == 200
    return browser


def place(study: Study, code: str = "anna") -> dict[str, str]:
    """Return the fields of the form that name the comment."""
    with study.read() as connection:
        first = connection.execute(
            select(assignments.c.public_id)
            .join(raters, raters.c.id == assignments.c.rater_id)
            .where(raters.c.code == code)
            .order_by(assignments.c.position)
        ).scalars()
        return {"assignment": str(next(first)), "construct": "QR"}


def rater_id(study: Study, code: str = "anna") -> int:
    with study.read() as connection:
        return int(
            connection.execute(select(raters.c.id).where(raters.c.code == code)).scalar_one()
        )


def replied(owner: Browser, study: Study, words: str = WORDS) -> str:
    owner.get("/owner/comments")
    answer = owner.submit("/owner/comments", **place(study), words=words)
    assert answer.status_code == 200
    return answer.text


def test_a_rater_reads_the_owners_words_beside_their_comment(
    owner: Browser, protected: Study, anna: Browser
) -> None:
    assert "Answers to your comments" not in anna.get("/rate").text
    page = replied(owner, protected)
    assert SHOWN in page
    assert "not read yet" in page
    overview = anna.get("/rate").text
    assert "New answers to your comments" in overview
    assert "Odd &lt;b&gt;passage&lt;/b&gt;" in overview
    assert SHOWN in overview
    assert f"/rate/{place(protected)['assignment']}/1" in overview
    until = overview.split('name="until" value="')[1].split('"')[0]
    read = anna.submit("/rate/replies", until=until)
    assert read.request.path == "/rate"
    assert "New answers" not in read.text
    assert SHOWN in read.text, "what was read stays on the page"
    assert "not read yet" not in owner.get("/owner/comments").text


def test_further_words_are_new_again_and_reading_is_of_what_was_shown(
    owner: Browser, protected: Study, anna: Browser
) -> None:
    replied(owner, protected, "First.")
    overview = anna.get("/rate").text
    until = overview.split('name="until" value="')[1].split('"')[0]
    replied(owner, protected, "Second.")
    read = anna.submit("/rate/replies", until=until).text
    assert "New answers" in read, "the second answer came after the page was shown"
    assert "Second." in read
    assert "First." not in read


def test_words_are_no_rating_and_change_none(
    owner: Browser, protected: Study, anna: Browser
) -> None:
    before = protected.score_table()
    replied(owner, protected)
    assert protected.score_table().equals(before)
    # The page that is open saves on: a reply is no revision of the value.
    anna.get(f"/rate/{place(protected)['assignment']}/1")
    assert anna.save("QR", 50.0, base=1, comment=SAID).status_code == 200
    assert SHOWN in owner.get("/owner/comments").text


def test_a_rejected_comment_keeps_its_reply(
    owner: Browser, protected: Study, anna: Browser
) -> None:
    replied(owner, protected)
    with protected.read() as connection:
        one = select(assignments.c.id).where(
            assignments.c.public_id == place(protected)["assignment"]
        )
        assignment = int(connection.execute(one).scalar_one())
    assert reject(protected, rater_id(protected), assignment).values == 1
    overview = anna.get("/rate").text
    assert SHOWN in overview
    assert "Odd &lt;b&gt;" in overview


def test_a_reply_stays_beside_the_comment_that_it_answers(
    owner: Browser, protected: Study, anna: Browser, tmp_path: Path
) -> None:
    replied(owner, protected, "First answer.")
    here = f"/rate/{place(protected)['assignment']}/1"
    anna.get(here)
    assert anna.save("QR", 40.0, base=1, comment="Another matter").status_code == 200
    overview = anna.get("/rate").text
    assert "You, before you changed your comment" in overview
    assert "Odd &lt;b&gt;passage" in overview
    assert "Another matter" not in overview
    page = owner.get("/owner/comments").text
    assert "Your answer to an earlier comment" in page
    assert "Before the change: Odd &lt;b&gt;passage" in page
    assert "Answer again" not in page, "the new comment has no answer yet"

    def exported(name: str) -> tuple[str, ...]:
        assert (
            in_process("export", str(protected.folder), "--out", str(tmp_path / name)).returncode
            == 0
        )
        with (tmp_path / name / "ratings.csv").open(encoding="utf-8-sig", newline="") as file:
            (row,) = csv.DictReader(file)
        return row["comment"], row["reply"], row["replied_to"]

    assert exported("a") == ("Another matter", "First answer.", SAID)
    page = replied(owner, protected, "Second answer.")
    assert "earlier comment" not in page
    assert "Answer again" in page
    assert "before you changed" not in anna.get("/rate").text
    assert exported("b") == ("Another matter", "Second answer.", "")
    anna.get(here)
    assert anna.save("QR", 60.0, base=2, comment="Another matter").status_code == 200
    assert "before you changed" not in anna.get("/rate").text, "the comment is the same"


@pytest.mark.parametrize("words", ["", " \r\n ", "x" * 5001, "a\x00b"])
def test_words_have_a_length_and_can_be_stored(
    owner: Browser, protected: Study, anna: Browser, words: str
) -> None:
    owner.get("/owner/comments")
    refused = owner.submit("/owner/comments", **place(protected), words=words)
    assert refused.status_code == 409
    assert "Nothing was stored" in refused.text
    assert "New answers" not in anna.get("/rate").text


def test_only_a_comment_of_somebody_who_takes_part_is_answered(
    owner: Browser, protected: Study, anna: Browser
) -> None:
    owner.get("/owner/comments")
    here = place(protected)
    for other in (
        {"assignment": "0" * 32},
        {"construct": "CC"},
        {"construct": "no\x00ne"},
        place(protected, "ben"),
    ):
        assert owner.submit("/owner/comments", **{**here, **other}, words="x").status_code == 404
    leave(protected, rater_id(protected), "removed")
    assert 'name="words"' not in owner.get("/owner/comments").text
    refused = owner.submit("/owner/comments", **here, words="x")
    assert refused.status_code == 409
    assert "anna has left" in refused.text
    del anna


def test_the_routes_are_for_the_owner_and_for_the_rater_alone(
    owner: Browser, protected: Study, anna: Browser, come: Come, app: Flask, visitor: Browser
) -> None:
    here = place(protected)
    # A rater, and somebody without a session, come to the sign-in page; without a token nothing is.
    for stranger in (anna, visitor):
        stranger.get("/rate" if stranger is anna else "/owner/sign-in")
        assert stranger.submit("/owner/comments", **here, words="x").request.path.endswith(
            "sign-in"
        )
    assert owner.client.post("/owner/comments", data={**here, "words": "x"}).status_code == 400
    with protected.read() as connection:
        kinds = connection.execute(select(rater_answers.c.kind).distinct()).scalars().all()
    assert kinds == ["value"]
    replied(owner, protected)
    ben = come("ben")
    assert SHOWN not in ben.get("/rate").text
    ben.submit("/rate/replies", until="1000000")
    ben.submit("/rate/replies", until="x" * 50)
    assert "New answers" in anna.get("/rate").text, "another rater's reading is not anna's"
    assert anna.client.post("/rate/replies", data={"until": "1000000"}).status_code == 400
    visitor.get("/owner/sign-in")
    assert visitor.submit("/rate/replies", until="1000000").status_code in {401, 403}
    assert "New answers" in anna.get("/rate").text


def test_exports_have_the_words_and_archives_leave_them_out(
    owner: Browser, protected: Study, anna: Browser, tmp_path: Path
) -> None:
    replied(owner, protected, "Judge what is shown.")
    del anna
    out = tmp_path / "export"
    assert in_process("export", str(protected.folder), "--out", str(out)).returncode == 0
    with (out / "ratings.csv").open(encoding="utf-8-sig", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["comment"], row["reply"]) == (SAID, "Judge what is shown.")
    assert "the owner's words on the comment" in (out / "codebook.md").read_text(encoding="utf-8")
    for name, options, kept in (("a.zip", (), False), ("b.zip", ("--comments",), True)):
        packed = tmp_path / name
        done = in_process("archive", str(protected.folder), "--out", str(packed), *options)
        assert done.returncode == 0, done.stderr
        with ZipFile(packed) as archive:
            texts = [archive.read(member) for member in archive.namelist()]
        assert any(b"Judge what is shown" in text for text in texts) is kept
