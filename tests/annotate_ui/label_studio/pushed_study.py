"""Studies whose responses are rated in Label Studio."""

from typing import Any

from sqlalchemy import select

from annotate_ui.label_studio.projects import StoredProject, stored_projects
from annotate_ui.label_studio.push import push
from annotate_ui.label_studio.results import Pulled
from annotate_ui.participants.withdrawal import leave, rater_key
from study import Study
from study.assignment.planner import assign
from study.schema.tables import assignments, raters, ratings
from tests.annotate_ui.rated_campaign import fill


def reserve(study: Study, per_item: int = 1, **options: Any) -> None:
    """Reserve slots of all responses for Label Studio."""
    assign(study, per_item=per_item, open_slots=True, channel="label_studio", **options)


def pushed(
    study: Study, server: Any, per_item: int = 1, *, systems: int = 2, **options: Any
) -> StoredProject:
    """Fill a study with a query, push its first stage, and return that project."""
    fill(study, queries=1, systems=systems)
    reserve(study, per_item, **options)
    push(study, server)
    return projects(study)[0]


def projects(study: Study) -> list[StoredProject]:
    """Return the projects that were pushed, the oldest first."""
    with study.read() as connection:
        return stored_projects(connection)


def edited(study: Study, more: str) -> Study:
    """Return the study with more in its study.toml."""
    path = study.folder / "study.toml"
    path.write_text(f"{path.read_text()}\n{more}")
    return Study.open(study.folder)


def revisions_of(study: Study, rater: str, construct: str) -> list[Any]:
    """Return the revisions of a rater's ratings of a construct."""
    with study.read() as connection:
        return list(
            connection.execute(
                select(ratings)
                .join_from(ratings, assignments, ratings.c.assignment_id == assignments.c.id)
                .join(raters, assignments.c.rater_id == raters.c.id)
                .where(raters.c.code == rater, ratings.c.construct_key == construct)
                .order_by(ratings.c.id)
            )
        )


def rejections(done: Pulled) -> list[str]:
    """Return the reasons why values were rejected."""
    return [rejected.reason for rejected in done.rejected]


def change(annotation: dict[str, Any], at: str, value: float) -> None:
    """Change the first value of an annotation at a time of day."""
    annotation["result"][0]["value"]["number"] = value
    annotation["updated_at"] = f"2026-01-01T{at}:00Z"


def departs(study: Study, rater: str, how: Any) -> None:
    """Let a rater leave the study."""
    with study.read() as connection:
        key = rater_key(connection, study, rater)
    leave(study, key, how)
