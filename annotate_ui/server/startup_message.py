"""The message at the start of the server: raters with links, work left, the next command."""

from dataclasses import dataclass

from sqlalchemy import func, select

from annotate_ui.participants.enrolment_links import list_links as enrolment_links
from annotate_ui.participants.invitation import list_links
from study.facts.ratings import answered_constructs
from study.facts.slots import OWN_CHANNEL, is_handed_on
from study.schema import Assignment, table
from study.study import Study


@dataclass(frozen=True)
class Opening:
    """The state of a campaign when its pages are started."""

    raters: int
    """All known raters, with a link or without, and those who may still join by enrolment links."""
    with_link: int
    without_link: int
    """Raters with assignments and no live link."""
    assignments: int
    left: int
    """Assignments of which a construct is not answered yet."""

    def lines(self, study: Study) -> list[str]:
        """Return the counts, and the next sensible command."""
        folder = study.folder
        have = "1 rater has" if self.with_link == 1 else f"{self.with_link} raters have"
        told = [f"{have} a live link; {self.left} of {self.assignments} assignments are left."]
        if not self.assignments:
            return [*told, f"Next: ccrs assign {folder}   (who rates what)"]
        if self.without_link or not self.with_link:
            return [*told, f"Next: ccrs invite {folder}   (links for raters)"]
        return [*told, f"Next: ccrs status {folder}   (in another terminal)"]


def opening(study: Study) -> Opening:
    """Count raters, links and assignments of a study."""
    links = list_links(study)
    places = [link.quota - link.counted for link in enrolment_links(study) if link.open]
    a, r = table(Assignment), answered_constructs()
    with study.read() as connection:
        # A slot that was handed on counts for the rater who has it now.
        asked = connection.execute(
            select(a.c.id, a.c.construct_keys).where(a.c.channel == OWN_CHANNEL, ~is_handed_on())
        ).all()
        rows = connection.execute(
            select(r.c.assignment_id, func.count()).group_by(r.c.assignment_id)
        )
        answered = {assignment: int(number) for assignment, number in rows}
    return Opening(
        raters=len(links) + sum(places),
        with_link=sum(link.live for link in links),
        without_link=sum(
            link.assignments > 0 and not link.live and not link.left for link in links
        ),
        assignments=len(asked),
        left=sum(answered.get(row.id, 0) < len(row.construct_keys) for row in asked),
    )
