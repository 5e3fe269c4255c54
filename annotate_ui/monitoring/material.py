"""Whether there is enough material for the training and the checks that study.toml asks for."""

from sqlalchemy import Connection, func, select

from study.assignment.checks import LEAST_WORDS
from study.facts.current_responses import is_answer
from study.schema import Assignment, CheckPair, ExpectedValue, Response, table
from study.settings.design import DesignSpec

_MOST_READ = 100


def lacking_material(connection: Connection, design: DesignSpec) -> list[tuple[str, str]]:
    """Return what is lacking: `training` or `checks`, with the words that say how much."""
    found = []
    if design.training:
        there = _responses(connection, "training")
        needed = design.training * design.training_attempts
        if there < needed:
            found.append(
                (
                    "training",
                    f"{there} responses with expected values for the training; "
                    f"{design.training_attempts} attempts at {design.training} need {needed}",
                )
            )
    if design.checks:
        p = table(CheckPair)
        pairs = connection.execute(select(func.count()).select_from(p)).scalar_one()
        there = int(pairs) + _responses(connection, "check")
        if there < design.checks and not _copied_when_taken(connection):
            words = f"{there} checks for raters who are to meet {design.checks} each"
            found.append(("checks", words))
    return found


def _copied_when_taken(connection: Connection) -> bool:
    """Say whether open slots wait whose checks are made when somebody takes them."""
    a, r = table(Assignment), table(Response)
    waiting = (
        select(r.c.text)
        .join_from(a, r, a.c.response_id == r.c.id)
        .where(a.c.rater_id.is_(None), a.c.purpose == "main")
        .limit(_MOST_READ)
    )
    return any(len(text.split()) >= LEAST_WORDS for text in connection.execute(waiting).scalars())


def _responses(connection: Connection, purpose: str) -> int:
    e, r = table(ExpectedValue), table(Response)
    count = (
        select(func.count(e.c.response_id.distinct()))
        .join_from(e, r, e.c.response_id == r.c.id)
        .where(e.c.purpose == purpose)
    )
    # What a system gave after all is measured, and nobody is trained with it any more.
    usable = count.where(~is_answer()) if purpose == "training" else count
    return int(connection.execute(usable).scalar_one())
