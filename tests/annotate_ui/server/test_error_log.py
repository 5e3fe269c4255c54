"""What standard error gets to see: when and where, never what a rater wrote."""

import io
import logging
import re
import sqlite3
from collections.abc import Iterator

import pytest
from sqlalchemy import insert
from sqlalchemy.exc import DBAPIError

from annotate_ui.server.error_log import LOGGERS, log_errors
from study import Study, StudyError
from study.schema.tables import invitations


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Return what is logged; the loggers are as before afterwards."""
    loggers = [logging.getLogger(name) for name in (*LOGGERS, "waitress.queue")]
    before = [(logger, logger.handlers, logger.level, logger.propagate) for logger in loggers]
    stream = io.StringIO()
    log_errors(stream)
    yield stream
    for logger, handlers, level, propagate in before:
        logger.handlers, logger.propagate = handlers, propagate
        logger.setLevel(level)


def test_an_error_is_logged_with_time_kind_and_place(log: io.StringIO) -> None:
    try:
        raise ValueError("the rater's own words")
    except ValueError:
        logging.getLogger("annotate_ui.web").exception("saving failed")
    text = log.getvalue()
    assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4} ERROR saving failed\n", text)
    assert f"{__file__}:" in text
    assert "builtins.ValueError\n" in text
    assert "words" not in text


def test_a_database_error_shows_no_row(any_study: Study, log: io.StringIO) -> None:
    row = {"rater_id": 987654321, "token_hash": b"SECRETHASH"}
    try:
        with any_study.write() as connection:
            connection.execute(insert(invitations).values(**row))
    except (DBAPIError, StudyError):
        logging.getLogger("annotate_ui").exception("failed")
    text = log.getvalue()
    assert "IntegrityError" in text or "ForeignKeyViolation" in text
    assert "SECRETHASH" not in text
    assert "987654321" not in text


def test_system_errors_and_a_locked_database_are_logged(log: io.StringIO) -> None:
    for error in (OSError(28, "No space left on device"), sqlite3.OperationalError("is locked")):
        try:
            try:
                raise error
            except (OSError, sqlite3.Error) as cause:
                raise StudyError("the rater's own words") from cause
        except StudyError:
            logging.getLogger("waitress").exception("failed")
    text = log.getvalue()
    assert "OSError: No space left on device" in text
    assert "sqlite3.OperationalError: is locked" in text
    assert text.index("OSError") < text.index("StudyError"), "the cause comes first"
    assert "words" not in text


def test_waiting_requests_and_information_are_not_logged_as_errors(log: io.StringIO) -> None:
    logging.getLogger("waitress.queue").warning("Task queue depth is 3")
    logging.getLogger("waitress").info("Client disconnected")
    assert log.getvalue() == ""
