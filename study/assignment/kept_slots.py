"""For whom new open slots are kept: those who join by a link, named raters, or everyone."""

from collections.abc import Sequence

from sqlalchemy import Connection, select

from study.errors import StudyError, nearest
from study.facts.departures import departures
from study.facts.links import has_ended
from study.facts.slots import EVERYONE, OWN_CHANNEL, is_live, link_taker, rater_taker
from study.schema.tables import assignments, enrolment_links, enrolments, raters
from study.study import Study


def takers(connection: Connection, study: Study, names: Sequence[str]) -> list[str]:
    """Return how `open_to` names these links and raters, or everyone.

    Raises
    ------
    StudyError
        A name is no link and no rater, or both; the link has ended, or the rater has left.
    """
    links = {row.name: row for row in connection.execute(select(enrolment_links))}
    people = {row.code: row.id for row in connection.execute(select(raters.c.code, raters.c.id))}
    gone = departures(connection)
    chosen = []
    for name in dict.fromkeys(names):
        if name in links and name in people:
            raise StudyError(
                f"{name!r} is an enrolment link and a rater; make a link of another name."
            )
        if name in links:
            if has_ended(links[name].closed_at):
                raise StudyError(
                    f"The enrolment link {name!r} has ended, so that nobody would take the slots. "
                    f"Open it again: `ccrs enrol {study.folder} --renew {name}`."
                )
            chosen.append(link_taker(links[name].id))
        elif name in people:
            if people[name] in gone:
                raise StudyError(f"Rater {name!r} has left; slots cannot be kept for them.")
            chosen.append(rater_taker(people[name]))
        elif name == EVERYONE:
            chosen.append(EVERYONE)
        else:
            hint = nearest(name, [*links, *people]) or (
                f"`ccrs enrol {study.folder} --list` shows the links, "
                f"`ccrs invite {study.folder} --list` the raters."
            )
            raise StudyError(f"{name!r} is neither an enrolment link nor a rater. {hint}")
    return chosen


def raters_with_own_work(connection: Connection) -> list[str]:
    """Return the codes of raters who stop at the end of their assigned work."""
    own = (
        select(raters.c.id, raters.c.code)
        .where(
            raters.c.id.in_(
                select(assignments.c.rater_id).where(
                    assignments.c.purpose == "main",
                    assignments.c.channel == OWN_CHANNEL,
                    assignments.c.open_to.is_(None),
                    assignments.c.rater_id.is_not(None),
                    is_live(),
                )
            ),
            raters.c.id.not_in(select(enrolments.c.rater_id)),
        )
        .order_by(raters.c.id)
    )
    gone = departures(connection)
    return [row.code for row in connection.execute(own) if row.id not in gone]
