"""Erasure: nothing of the person stays in the study, and nothing of anybody else goes."""

import sqlite3
import threading
from contextlib import closing

import pytest
from sqlalchemy import delete, select
from sqlalchemy.exc import DBAPIError

from study import Study, StudyError
from study.lifecycle import erase as erasing
from study.lifecycle.erase import erase, stored_about
from study.schema import (
    Assignment,
    ClosingAnswer,
    Departure,
    Erasure,
    ImportedFile,
    InterimAnalysis,
    Invitation,
    Rater,
    RaterAnswer,
    ScorerAnswer,
)
from study.schema.tables import rater_answers
from tests.study.lifecycle.conftest import CODE, OTHER, SECRETS, Planted, everything, looked, rows
from tests.study.rating_fixtures import add, add_rater, add_responses

KINDS = pytest.mark.parametrize("sever", [False, True], ids=["removed", "severed"])


def files_of(study: Study) -> bytes:
    """Return the bytes of an SQLite study's database, log and index."""
    paths = [study.folder / f"study.db{suffix}" for suffix in ("", "-wal", "-shm")]
    return b"".join(path.read_bytes() for path in paths if path.exists())


def texts_of(study: Study) -> str:
    """Return everything that a database shows of its rows."""
    from study.schema import Noun

    with study.read() as connection:
        return repr([connection.execute(select(t)).all() for t in Noun.metadata.sorted_tables])


def is_protected(study: Study) -> bool:
    try:
        with study.write() as connection:
            connection.execute(delete(rater_answers))
    except DBAPIError as error:
        return "append-only" in str(error)
    return False


@KINDS
def test_no_row_speaks_of_the_person_afterwards(planted: Planted, sever: bool) -> None:
    done = erase(planted.study, CODE, sever=sever)
    shown = texts_of(planted.study)
    for word in planted.words:
        assert word.decode("latin-1") not in shown
        assert repr(word) not in shown
    assert [row["kind"] for row in rows(planted.study, Erasure)] == [done.kind]
    assert is_protected(planted.study)
    with pytest.raises(StudyError, match="not a rater"):
        erase(planted.study, CODE)


@KINDS
def test_no_byte_of_the_files_is_the_persons(planted_sqlite: Planted, sever: bool) -> None:
    study = planted_sqlite.study
    before = files_of(study)
    assert all(word in before for word in planted_sqlite.words)
    erase(study, CODE, sever=sever)
    after = files_of(study)
    assert [word for word in planted_sqlite.words if word in after] == []


def test_removing_takes_their_rows_and_nobody_elses(planted: Planted) -> None:
    before = everything(planted.study)
    stored = stored_about(planted.study, CODE)
    done = erase(planted.study, CODE)
    after = everything(planted.study)
    changed = {name: count - after[name] for name, count in before.items() if count != after[name]}
    # One row says it was done; one open slot is in the place of an unfinished one.
    assert changed.pop("erasure") == -1
    assert changed.pop("assignment") == stored["assignment"] - done.reopened
    assert changed == {name: n for name, n in stored.items() if name != "assignment"}
    assert [row["code"] for row in rows(planted.study, Rater)] == [OTHER]
    assert [row["scorer"] for row in rows(planted.study, ScorerAnswer)] == [OTHER]
    assert {row["value"] for row in rows(planted.study, RaterAnswer)} == {40.0}


def test_unfinished_work_is_open_again_and_chains_are_whole(planted: Planted) -> None:
    done = erase(planted.study, CODE)
    assert done.reopened == 1
    slots = rows(planted.study, Assignment)
    (opened,) = [slot for slot in slots if slot["rater_id"] is None]
    assert (opened["stratum"], opened["inclusion_prob"]) == ("s", 0.5)
    # What was handed on from her slot follows the slot before hers now.
    (last,) = [slot for slot in slots if slot["replaces_id"] is not None]
    (first,) = [slot for slot in slots if slot["id"] == last["replaces_id"]]
    assert first["response_id"] == last["response_id"]


def test_severed_values_stay_under_a_fresh_code(planted: Planted) -> None:
    before = everything(planted.study)
    done = erase(planted.study, CODE, sever=True)
    after = everything(planted.study)
    for name in ("rater_answer", "assignment", "scorer_answer", "reveal"):
        assert before[name] == after[name]
    (severed,) = [row for row in rows(planted.study, Rater) if row["code"] != OTHER]
    assert str(severed["code"]).startswith("severed-")
    assert severed["code"] not in repr(done)
    (rating,) = [row for row in rows(planted.study, RaterAnswer) if row["value"] == 61.0]
    assert (rating["comment"], rating["reason"], rating["external_id"]) == (None, None, None)
    (closing,) = rows(planted.study, ClosingAnswer)
    assert (closing["recognized"], closing["comment"]) == ("yes", None)
    assert {row["scorer"] for row in rows(planted.study, ScorerAnswer)} == {OTHER, severed["code"]}
    assert [row["kind"] for row in rows(planted.study, Departure)] == ["removed"]
    assert len(rows(planted.study, Invitation)) == 1
    unfinished = [row for row in rows(planted.study, Assignment) if row["released_at"]]
    assert len(unfinished) == done.reopened == 1


@KINDS
def test_interim_analyses_stay_without_the_figures(planted_sqlite: Planted, sever: bool) -> None:
    before = {"kind": "agreement", "requested_in": "page", "ratings": 1, "result": looked(OTHER)}
    add(planted_sqlite.study, InterimAnalysis, before)
    erase(planted_sqlite.study, CODE, sever=sever)
    of_both, of_the_other = rows(planted_sqlite.study, InterimAnalysis)
    assert (of_both["ratings"], of_both["result"]) == (2, {"judge": None, "erased": True})
    assert of_the_other["result"] == looked(OTHER)
    (file,) = rows(planted_sqlite.study, ImportedFile)
    assert (file["name"], file["options"]) == ("ratings_(erased).csv", {"system": "a"})


@pytest.mark.parametrize("code", ["1", "A", "pearson", "QR", "value"])
def test_a_code_that_is_a_word_of_an_interim_analysis_takes_no_figures(
    study: Study, code: str
) -> None:
    result = looked("ben", "cara")
    add_rater(study, code)
    common = {"kind": "agreement", "requested_in": "page", "ratings": 2}
    add(study, InterimAnalysis, {**common, "result": result})
    erase(study, code)
    (left,) = rows(study, InterimAnalysis)
    assert left["result"] == result


def test_values_as_an_adjudicator_are_the_persons_too(any_study: Study) -> None:
    store = {"construct_key": "QR", "construct_version": 1, "repeat": 0, "inclusion_prob": 1.0}
    add_responses(any_study)
    values = [
        {**store, "response_id": 1, "scorer": name, "scorer_kind": kind, "value": 3.0}
        for name, kind in (("dora", "human"), ("dora (adjudicated)", "adjudicated"))
    ]
    add(any_study, ScorerAnswer, *values)
    assert stored_about(any_study, "dora") == {"scorer_answer": 2}
    erase(any_study, "dora", sever=True)
    severed, adjudicated = sorted(str(row["scorer"]) for row in rows(any_study, ScorerAnswer))
    assert adjudicated == f"{severed} (adjudicated)"
    assert erase(any_study, severed).rows["scorer_answer"] == 2
    assert rows(any_study, ScorerAnswer) == []


def test_imported_values_alone_are_a_persons_too(planted_sqlite: Planted) -> None:
    store = {"construct_key": "AC", "construct_version": 1, "repeat": 0, "inclusion_prob": 1.0}
    add(
        planted_sqlite.study,
        ScorerAnswer,
        {**store, "response_id": 1, "scorer": "dora", "scorer_kind": "human", "value": 3.0},
        {**store, "response_id": 1, "scorer": "EM", "scorer_kind": "metric", "value": 3.0},
    )
    assert stored_about(planted_sqlite.study, "dora") == {"scorer_answer": 1}
    assert erase(planted_sqlite.study, "dora").rows["scorer_answer"] == 1
    with pytest.raises(StudyError, match="not a rater"):
        erase(planted_sqlite.study, "EM")


@KINDS
def test_a_failure_leaves_everything_as_it_was(
    planted: Planted, sever: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = texts_of(planted.study)

    def fails(*_: object) -> None:
        raise RuntimeError("in the middle")

    monkeypatch.setattr(erasing, "remove_mentions", fails)
    with pytest.raises(RuntimeError, match="middle"):
        erase(planted.study, CODE, sever=sever)
    assert texts_of(planted.study) == before
    assert is_protected(planted.study)


def test_erasure_waits_for_another_writer(planted_sqlite: Planted) -> None:
    study = planted_sqlite.study
    writer = sqlite3.connect(
        study.folder / "study.db", isolation_level=None, check_same_thread=False
    )
    with closing(writer):
        writer.execute("BEGIN IMMEDIATE")
        timer = threading.Timer(1.0, writer.execute, ["COMMIT"])
        timer.start()
        erase(study, CODE)
        timer.join()
    assert SECRETS["comment"].encode() not in files_of(study)
