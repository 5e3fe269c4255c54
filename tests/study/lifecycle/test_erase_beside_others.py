"""Erasure while others use the study: nobody's save fails, and no reader keeps traces for good."""

import threading
import time

import pytest
from sqlalchemy import insert, select, update

from study import Study, StudyError
from study.lifecycle import secure_delete
from study.lifecycle.erase import erase
from study.lifecycle.secure_delete import rewrite_database
from study.schema import RaterAnswer
from study.schema.tables import assignments, rater_answers, raters, ratings
from tests.study.lifecycle.conftest import CODE, OTHER, SECRETS, Planted, rows
from tests.study.lifecycle.test_erase import files_of, texts_of


def test_other_raters_save_during_erasure_and_no_save_fails(planted: Planted) -> None:
    study = planted.study
    (kept,) = [row["assignment_id"] for row in rows(study, RaterAnswer) if row["value"] == 40.0]
    stop, faults, saved = threading.Event(), [], []

    def save() -> None:
        """Lock the rater, store a value, renew the slot: in the order in which the pages do it."""
        revision = 1
        while not stop.is_set():
            revision += 1
            try:
                with study.write() as connection:
                    connection.execute(
                        select(raters.c.id).where(raters.c.code == OTHER).with_for_update()
                    )
                    connection.execute(
                        insert(rater_answers).values(
                            assignment_id=kept,
                            construct_key="AC",
                            construct_version=1,
                            revision=revision,
                            value=1.0,
                            revealed=[],
                            channel="own",
                            config_hash="x",
                        )
                    )
                    time.sleep(0.02)
                    connection.execute(
                        update(assignments)
                        .where(assignments.c.id == kept)
                        .values(position=revision)
                    )
                saved.append(revision)
            except Exception as error:  # noqa: BLE001  (whatever it was, a rater would have met it)
                faults.append(error)
            time.sleep(0.01)

    def until_more_are_saved() -> None:
        wanted, deadline = len(saved) + 3, time.monotonic() + 60
        while len(saved) < wanted and not faults and time.monotonic() < deadline:
            time.sleep(0.01)

    writer = threading.Thread(target=save)
    writer.start()
    until_more_are_saved()
    erase(study, CODE)
    until_more_are_saved()
    stop.set()
    writer.join()
    assert [str(getattr(f, "__cause__", f)) for f in faults] == []
    assert len([row for row in rows(study, RaterAnswer) if row["value"] == 1.0]) == len(saved) > 5
    assert SECRETS["comment"] not in texts_of(study)


def test_whoever_reads_on_is_named_and_the_rest_is_done_later(
    planted_sqlite: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = planted_sqlite.study
    monkeypatch.setattr(secure_delete, "_PATIENCE", 0.3)
    reader = Study.open(study.folder)
    with reader.read() as connection:
        connection.execute(select(ratings)).all()
        with pytest.raises(StudyError, match="end what reads the study"):
            erase(study, CODE)
    reader.close()
    assert SECRETS["comment"] not in texts_of(study)
    rewrite_database(study, [])
    content = files_of(study)
    assert [word for word in planted_sqlite.words if word in content] == []
