"""The content of a comparison page: the texts that its construct may see, and the answer."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from annotate_ui.participants.languages import language_of
from annotate_ui.tasks.answers import StoredAnswer, newest_decision
from annotate_ui.tasks.comparisons import RaterComparison, points, rater_comparisons
from annotate_ui.tasks.refusals import NotYoursError
from annotate_ui.tasks.stages import FIELDS
from annotate_ui.tasks.step_view import ConstructView, construct_view
from study.schema.tables import passages, queries, response_passages, responses
from study.settings.study_toml import StudyConfig
from study.study import Study
from study.types import Sees


@dataclass(frozen=True)
class Side:
    """One of the two responses, in the order in which they are shown."""

    number: int
    """1 or 2."""
    response: str
    passages: tuple[str, ...] | None
    """Its own passages; None where both share them or they are not shown."""


@dataclass(frozen=True)
class Option:
    """A point of the scale on this page."""

    value: float
    """The stored value, which refers to responses a and b."""
    better: int
    """Which response it calls better: 1, 2, or 0 for neither."""
    strength: int
    """Place among the points of that side, from 1 at the middle."""
    strengths: int
    """Points on that side."""


@dataclass(frozen=True)
class ComparisonView:
    """A comparison as its page shows it. None: the construct does not see the field."""

    public_id: str
    number: int
    total: int
    done: int
    language: str
    fields: tuple[Sees, ...]
    question: str | None
    reference: str | None
    """The first reference; empty where the query has none."""
    passages: tuple[str, ...] | None
    """What both responses were given; None where they differ or are not shown."""
    sides: tuple[Side, Side]
    construct: ConstructView
    options: tuple[Option, ...]
    """From "1 is much better" to "2 is much better"."""
    stored: StoredAnswer | None
    before: str | None
    """Public id of the opened comparison before this one."""
    after: str | None


def show_comparison(
    connection: Connection, study: Study, rater_id: int, public_id: str
) -> ComparisonView:
    """Return what a rater may see of a comparison; no other field is read from the database.

    Raises
    ------
    NotYoursError
        The comparison does not exist, or it was not opened by this rater.
    """
    mine = rater_comparisons(connection, study.config, rater_id)
    place = next(
        (i for i, comparison in enumerate(mine) if comparison.public_id == public_id), None
    )
    if place is None or not mine[place].opened:
        raise NotYoursError
    here = mine[place]
    spec = study.config.construct_spec(here.construct_key)
    if spec is None:
        raise NotYoursError("The study no longer asks for this.")
    staged = study.config.rating.disclosure == "staged"
    fields = tuple(field for field in FIELDS if not staged or field in spec.sees)
    query: Any = connection.execute(
        select(
            queries.c.attributes,
            *([queries.c.text] if "question" in fields else []),
            *([queries.c.references] if "reference" in fields else []),
        ).where(queries.c.id == here.query_id)
    ).one()
    shared, sides = _sides(connection, here, with_passages="context" in fields)
    before = next((comparison for comparison in reversed(mine[:place]) if comparison.opened), None)
    after = next((comparison for comparison in mine[place + 1 :] if comparison.opened), None)
    return ComparisonView(
        public_id=here.public_id,
        number=place + 1,
        total=len(mine),
        done=sum(comparison.decided for comparison in mine),
        language=language_of(query.attributes, study.config),
        fields=fields,
        question=query.text if "question" in fields else None,
        reference=next(iter(query.references), "") if "reference" in fields else None,
        passages=shared,
        sides=sides,
        construct=construct_view(spec, study.config),
        options=options(study.config, swapped=here.swapped),
        stored=newest_decision(connection, here.id),
        before=None if before is None else before.public_id,
        after=None if after is None else after.public_id,
    )


def _sides(
    connection: Connection, here: RaterComparison, *, with_passages: bool
) -> tuple[tuple[str, ...] | None, tuple[Side, Side]]:
    rows: Any = connection.execute(
        select(responses.c.id, responses.c.text).where(responses.c.id.in_(here.shown))
    )
    texts = {row.id: row.text for row in rows}
    first, second = (
        _passages(connection, response) if with_passages else None for response in here.shown
    )
    shared = first if first == second else None
    separate = (None, None) if shared is not None else (first, second)
    return shared, (
        Side(1, texts[here.shown[0]], separate[0]),
        Side(2, texts[here.shown[1]], separate[1]),
    )


def _passages(connection: Connection, response_id: int) -> tuple[str, ...]:
    rows = connection.execute(
        select(passages.c.text)
        .join_from(response_passages, passages, response_passages.c.passage_id == passages.c.id)
        .where(response_passages.c.response_id == response_id)
        .order_by(response_passages.c.position)
    )
    return tuple(rows.scalars())


def options(config: StudyConfig, *, swapped: bool) -> tuple[Option, ...]:
    """Return the points from the first shown response's side to the second's."""
    offered = points(config.preferences.scale)
    a_better = [value for value in reversed(offered) if value < 0]
    b_better = [value for value in offered if value > 0]
    ordered = []
    for value in reversed(offered) if swapped else offered:
        side = b_better if value > 0 else a_better
        if value == 0:
            ordered.append(Option(value, 0, 1, 1))
            continue
        shown_first = (value > 0) == swapped
        ordered.append(Option(value, 1 if shown_first else 2, side.index(value) + 1, len(side)))
    return tuple(ordered)
