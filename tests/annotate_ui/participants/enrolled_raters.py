"""Helpers for tests of participation: rate without a browser, read what is stored."""

from typing import Any

from sqlalchemy import insert, select

from study import Study
from study.schema.tables import assignments as assignment_table, rater_answers


def opened(study: Study, settings: str = "", **texts: str) -> Study:
    """Return the study with these texts and settings under [rating], opened anew."""
    path = study.folder / "study.toml"
    kept = path.read_text(encoding="utf-8").partition("\n[rating]")[0]
    names = "".join(f'{setting} = "{setting}.md"\n' for setting in texts)
    path.write_text(f"{kept}\n[rating]\n{names}{settings}\n", encoding="utf-8")
    for setting, text in texts.items():
        (study.folder / f"{setting}.md").write_text(text, encoding="utf-8")
    study.close()
    return Study.open(study.folder)


def rate(study: Study, rater_id: int, *, least: int = 0, keys: int | None = None) -> None:
    """Store values for a rater's assignments from the `least`th on, for so many constructs."""
    with study.write() as connection:
        mine = select(assignment_table.c.id, assignment_table.c.construct_keys).where(
            assignment_table.c.rater_id == rater_id
        )
        for row in connection.execute(mine.order_by(assignment_table.c.id)).all()[least:]:
            for key in row.construct_keys[:keys]:
                values = {"assignment_id": row.id, "construct_key": key, "value": 50.0}
                connection.execute(
                    insert(rater_answers).values(
                        **values,
                        construct_version=1,
                        revision=1,
                        status="rated",
                        revealed=[],
                        flags=[],
                        after_reveal=False,
                        seen_more=False,
                        late=False,
                        channel="own",
                        config_hash=study.config_hash,
                    )
                )


def assignments(study: Study, rater_id: int) -> list[Any]:
    """Return a rater's assignments in the order of making."""
    with study.read() as connection:
        mine = (
            select(assignment_table)
            .where(assignment_table.c.rater_id == rater_id)
            .order_by(assignment_table.c.id)
        )
        return list(connection.execute(mine))
