"""A disk that fills up while raters save: a clear message, no value lost, none doubled."""

import sqlite3
from contextlib import closing
from pathlib import Path
from uuid import uuid4

from sqlalchemy import select

from annotate_ui.participants.invitation import invite
from annotate_ui.web.app import create_app
from study import Study
from study.schema.tables import ratings
from tests.annotate_ui.rated_campaign import fill, give
from tests.annotate_ui.web.conftest import Browser
from tests.small_disk import fill_up, small_disk


def test_a_save_on_a_full_disk_is_refused_with_the_reason_and_accepted_later(
    tmp_path: Path,
) -> None:
    with small_disk(tmp_path / "disk", 8 * 2**20) as disk:
        study = Study.create(disk / "study")
        fill(study)
        give(study, "anna")
        (made,) = invite(study)
        app = create_app(study, b"k" * 32)
        anna = Browser(app.test_client())
        anna.begin(made.link)
        anna.go_on()
        fill_up(disk / "large")
        key = uuid4().hex
        # A log that has room left from before takes some commits yet.
        answers = [anna.save("QR", float(n), base=n, key=f"{key}{n}") for n in range(200)]
        refused = next(answer for answer in answers if answer.status_code != 200)
        assert refused.status_code == 503
        assert refused.json
        assert refused.json["error"]["code"] == "full"
        assert "kept in this browser" in refused.json["error"]["message"]
        taken = sum(answer.status_code == 200 for answer in answers)
        (disk / "large").unlink()
        again = anna.save("QR", 99.0, base=taken, key=f"{key}{taken}x")
        assert again.status_code == 200
        twice = anna.save("QR", 99.0, base=taken, key=f"{key}{taken}x")
        assert twice.status_code == 200
        with study.read() as connection:
            revisions = connection.execute(select(ratings.c.revision)).scalars().all()
        assert list(revisions) == list(range(1, taken + 2))
        study.close()
        app.config["STUDY"].close()
        with closing(sqlite3.connect(disk / "study" / "study.db")) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
