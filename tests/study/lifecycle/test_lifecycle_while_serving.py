"""`ccrs serve` runs as a process with signed-in raters while people are erased and backups made."""

import threading
import time
from pathlib import Path

from annotate_ui.participants.invitation import invite
from study import Study
from study.lifecycle.backup import backup
from study.lifecycle.erase import erase
from study.schema import Invitation, Rater
from tests.annotate_ui.campaign_with_raters import assign, fill
from tests.annotate_ui.server.test_serve import Browser, Start, start
from tests.study.lifecycle.conftest import need_pg_dump, public_ids, rows

__all__ = ["start"]


def test_a_session_ends_at_the_next_request_and_is_never_anothers(
    any_study: Study,
    start: Start,
    tmp_path: Path,
) -> None:
    need_pg_dump(any_study)
    fill(any_study)
    assign(any_study, "anna", "zorabel-7")
    anna, gone = invite(any_study)
    served = start(any_study)
    hers, annas = Browser(served.port), Browser(served.port)
    assert (hers.join(gone.link), annas.join(anna.link)) == (303, 303)
    assert (hers.rate(), annas.rate()) == (200, 200)
    rater = next(row["id"] for row in rows(any_study, Rater) if row["code"] == "zorabel-7")
    assert isinstance(rater, int)
    words = [b"zorabel-7", *public_ids(any_study, rater)]
    stop, statuses = threading.Event(), []

    def read_on() -> None:
        while not stop.is_set():
            statuses.append(annas.rate())
            time.sleep(0.1)

    reader = threading.Thread(target=read_on)
    reader.start()
    erase(any_study, "zorabel-7")
    backup(any_study, tmp_path / "b.ccrs-backup")
    stop.set()
    reader.join()
    assert set(statuses) == {200}, "the others noticed nothing"
    assert hers.rate() == 401
    if any_study.engine.dialect.name == "sqlite":
        # The server still runs, and holds its log open.
        paths = [any_study.folder / f"study.db{suffix}" for suffix in ("", "-wal", "-shm")]
        content = b"".join(path.read_bytes() for path in paths if path.exists())
        assert [word for word in words if word in content] == []
    # The next rater is given the numbers that were hers.
    (other,) = invite(any_study, new=1)
    newest = rows(any_study, Invitation)[-1]
    if any_study.engine.dialect.name == "sqlite":
        assert newest["rater_id"] == rater
    assert hers.rate() == 401
    assert hers.join(gone.link) == 403
    assert Browser(served.port).join(other.link) == 303
    assert served.end()[0] == 0
