import pytest
from sqlalchemy import text

from judge.running.runs import sole_writer
from study import Study, StudyError


def test_the_lock_of_a_run_is_free_again_afterwards(any_study: Study) -> None:
    for _ in range(2):
        with sole_writer(any_study, 1, "j") as confirm:
            confirm()
            with pytest.raises(StudyError, match="'j'"), sole_writer(any_study, 1, "j"):
                pass
            with sole_writer(any_study, 2, "k"):
                pass


def test_a_lock_that_the_server_took_away_is_noticed_before_the_next_write(
    any_study: Study,
) -> None:
    if any_study.engine.dialect.name != "postgresql":
        return  # The kernel takes a file's lock from no living process.
    # Only in this test's database: other tests hold locks on the same server.
    end = (
        "SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_database ON oid = database "
        "WHERE locktype = 'advisory' AND datname = current_database()"
    )
    with sole_writer(any_study, 1, "j") as confirm:
        confirm()
        with any_study.read() as connection:
            connection.execute(text(end))
        with pytest.raises(StudyError, match="run the command again"):
            confirm()
