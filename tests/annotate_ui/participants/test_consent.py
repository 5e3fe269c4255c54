"""Consent and instructions: asked once for each text, and again when the text changes."""

from pathlib import Path

import pytest
from sqlalchemy import select

from annotate_ui.participants.consent import LONGEST, Gate, RaterText, answer, open_gate, texts_of
from annotate_ui.participants.invitation import invite
from annotate_ui.tasks.exit_codes import ExitCode, check_exit_codes, exit_code
from study import Study, StudyError
from study.schema.tables import consents, raters
from study.settings.rating import RatingSpec
from tests.annotate_ui.participants.enrolled_raters import opened


def rater(study: Study) -> int:
    invite(study, new=1)
    with study.read() as connection:
        return int(connection.execute(select(raters.c.id)).scalar_one())


def gate(study: Study, rater_id: int) -> Gate | None:
    with study.read() as connection:
        return open_gate(connection, study, rater_id)


def text_of(study: Study, which: str) -> RaterText:
    text: RaterText | None = getattr(texts_of(study), which)
    assert text is not None
    return text


def test_a_study_without_texts_has_no_gate(any_study: Study) -> None:
    assert gate(any_study, rater(any_study)) is None


def test_consent_comes_first_and_then_the_instructions(any_study: Study) -> None:
    study = opened(any_study, consent="# Yes?", instructions="Read.")
    anna = rater(study)
    assert gate(study, anna) == "consent"
    assert not answer(study, anna, text_of(study, "consent"), agreed=False)
    assert gate(study, anna) == "consent"
    assert answer(study, anna, text_of(study, "consent"), agreed=True)
    assert gate(study, anna) == "instructions"
    answer(study, anna, text_of(study, "instructions"), agreed=True)
    assert gate(study, anna) is None
    # Who has agreed stays so, whatever an old page still sends.
    assert answer(study, anna, text_of(study, "consent"), agreed=False)
    study.close()


def test_a_changed_text_asks_again_and_the_answers_of_before_stay(any_study: Study) -> None:
    study = opened(any_study, consent="One.")
    anna = rater(study)
    for _ in range(2):
        answer(study, anna, text_of(study, "consent"), agreed=True)
    (study.folder / "consent.md").write_text("Two.", encoding="utf-8")
    assert gate(study, anna) is None, "a server that runs goes on with the text of its start"
    study = opened(study, consent="Two.")
    assert gate(study, anna) == "consent"
    answer(study, anna, text_of(study, "consent"), agreed=True)
    assert gate(study, anna) is None
    with study.read() as connection:
        stored = connection.execute(select(consents.c.text_hash)).scalars().all()
    assert len(stored) == len(set(stored)) == 2
    study.close()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "is missing"),
        (b"caf\xe9", "not UTF-8 at byte 4"),
        (b" \n", "is empty"),
        (b"x" * (LONGEST + 1), "the maximum is"),
    ],
    ids=["missing", "latin-1", "empty", "long"],
)
def test_a_text_that_cannot_be_read_stops_the_start(
    study: Study, content: bytes | None, message: str
) -> None:
    from annotate_ui.web.app import create_app

    named = opened(study, consent="x")
    path: Path = study.folder / "consent.md"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(StudyError, match=rf"consent\.md, which rating\.consent .*{message}"):
        create_app(named, b"k" * 32)
    named.close()


def test_a_byte_order_mark_is_not_text(study: Study) -> None:
    named = opened(study, consent="x")
    (study.folder / "consent.md").write_bytes(b"\xef\xbb\xbf# Title")
    assert text_of(named, "consent").markdown == "# Title"
    named.close()


def test_the_code_is_filled_into_the_address_as_an_address_needs_it() -> None:
    named = RatingSpec(
        completion_code="A&B /é", completion_url="https://x.example/done?cc={code}&s=1"
    )
    assert exit_code(named, "completion") == ExitCode(
        "A&B /é", "https://x.example/done?cc=A%26B%20%2F%C3%A9&s=1"
    )
    assert exit_code(RatingSpec(), "return") is None
    assert exit_code(RatingSpec(completion_code="C"), "completion") == ExitCode("C", None)
    with pytest.raises(StudyError, match="screen_out_code"):
        check_exit_codes(RatingSpec(screen_out_url="https://x.example/{code}"))
