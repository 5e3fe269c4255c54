"""Write the database of a small study as SQL: `python -m tests.study.releases.make VERSION`."""

import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from study import Study
from tests.study.campaign_of_every_kind import fill


def main(version: str) -> None:
    """Write `VERSION.sql` beside this file."""
    with TemporaryDirectory() as folder:
        study = Study.create(Path(folder) / "study")
        fill(study)
        study.close()
        with closing(sqlite3.connect(study.folder / "study.db")) as connection:
            script = "\n".join(connection.iterdump())
    target = Path(__file__).with_name(f"{version}.sql")
    target.write_text(script + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
