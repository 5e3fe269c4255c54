"""The content of a rating page: the texts that its stage allows, and the constructs to rate."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from string import ascii_uppercase
from typing import Any, ClassVar

from sqlalchemy import Connection, insert, select

from annotate_ui.participants.languages import language_of
from annotate_ui.participation import lock_rater
from annotate_ui.tasks.answers import Kept, newest_ratings, ratings_kept
from annotate_ui.tasks.marks_view import MarksView, TextPart, marks_of, text_parts
from annotate_ui.tasks.passes import Step, TaskPage
from annotate_ui.tasks.refusals import InvalidError, NotYoursError
from annotate_ui.tasks.stages import in_order
from study.facts.passages_opened import FOLDED_LENGTH
from study.facts.slots import OWN_CHANNEL
from study.schema.tables import (
    assignments,
    opened_passages,
    passages,
    queries,
    response_passages,
    responses,
    reveals,
)
from study.settings.constructs import CCRS, ConstructSpec
from study.settings.study_toml import StudyConfig
from study.study import Study
from study.types import Sees


@dataclass(frozen=True)
class PassageView:
    """A passage at its place, and whether the rater has unfolded it, here or before."""

    folded_length: ClassVar[int] = FOLDED_LENGTH
    position: int
    text: str
    opened: bool
    as_with: int | None = None
    """Number of the first response on an earlier page that had it, and was shown with it."""


@dataclass(frozen=True)
class ConstructView:
    """A construct as its panel shows it, with the rating that is stored."""

    key: str
    name: str
    question: str
    anchors: tuple[tuple[str, str], ...]
    """Points of the scale, from low to high, with their labels."""
    rules: tuple[str, ...]
    flags: tuple[str, ...]
    comment_question: str | None
    """Asked at the comment; None for a comment of any kind."""
    mark_question: str | None
    """Asked for the sentences of the response; None: they are not marked."""
    min: float
    max: float
    step: float | None
    language: str
    """Of the construct's own texts."""
    index: int = 0
    """Place in the order to rate, from 1."""
    revision: int = 0
    value: float | None = None
    status: str | None = None
    reason: str | None = None
    comment: str | None = None
    chosen_flags: tuple[str, ...] = ()
    input_kind: str | None = None
    kept: Kept | None = None
    """What counts, where the stored value does not."""
    marks: MarksView = field(default_factory=MarksView)


@dataclass(frozen=True)
class StepView:
    """What a page shows of a query at a stage. A field that the stage does not show is None."""

    public_id: str
    stage: int
    """Which part of the rating this is, from 1."""
    stage_count: int
    query_number: int
    query_count: int
    response_number: int
    response_count: int
    fields: tuple[Sees, ...]
    new_fields: tuple[Sees, ...]
    """Fields that this stage shows for the first time."""
    language: str
    layout: str
    purpose: str
    """Of the rating; a check is shown as what it is among."""
    question: str | None
    passages: tuple[PassageView, ...] | None
    """Passages that all responses of the page share; None where each has its own."""
    reference: str | None
    """The first reference, the one that the judge sees; empty where the query has none."""


@dataclass(frozen=True)
class ColumnView:
    """One response of a page, with what is asked of it."""

    letter: str | None
    """Its letter on a page that shows several responses."""
    public_id: str
    stage: int
    """Of its address."""
    response: str | None
    parts: tuple[TextPart, ...] | None
    """Of the response, where a construct asks for marks; they join to its text."""
    passages: tuple[PassageView, ...] | None
    """Its own, where those of the page differ."""
    constructs: tuple[ConstructView, ...]
    save_url: str
    passages_url: str
    marks_url: str


def show_page(
    connection: Connection, config: StudyConfig, page: TaskPage, earlier: Sequence[Step] = ()
) -> tuple[StepView, tuple[ColumnView, ...]]:
    """Return what the rater may see of a page; no other field is read from the database.

    `earlier` are the steps of the same stage and query that came before.
    """
    steps = [step for step in page.steps if step.opened]
    first = steps[0]
    # Responses side by side were opened together, but study.toml may have changed since.
    fields = in_order({field for step in steps for field in step.shown})
    query = connection.execute(
        select(
            queries.c.attributes,
            *([queries.c.text.label("question")] if "question" in fields else []),
            *([queries.c.references] if "reference" in fields else []),
        ).where(queries.c.id == first.item.query_id)
    ).one()
    texts = {
        row.id: row.text
        for row in connection.execute(
            select(responses.c.id, responses.c.text).where(
                responses.c.id.in_([s.item.response_id for s in steps])
            )
        )
    }
    passages = [
        _passages(connection, step, earlier) if "context" in step.shown else None for step in steps
    ]
    shared = _shared(passages)
    view = StepView(
        public_id=first.item.public_id,
        stage=first.part,
        stage_count=first.part_count,
        query_number=first.query_number,
        query_count=first.query_count,
        response_number=first.response_number,
        response_count=first.response_count,
        fields=fields,
        new_fields=tuple(field for field in fields if field not in first.fields_before),
        language=language_of(query.attributes, config),
        layout=first.item.layout,
        # A page must not reveal that a response is a check.
        purpose="main" if first.item.purpose == "check" else first.item.purpose,
        question=query.question if "question" in fields else None,
        passages=shared,
        reference=next(iter(query.references), "") if "reference" in fields else None,
    )
    columns = []
    for step, own_passages in zip(steps, passages, strict=True):
        address = f"/rate/{step.item.public_id}/{step.stage.number}"
        text = texts[step.item.response_id] if "response" in step.shown else None
        constructs = show_constructs(connection, config, step, text or "")
        asks = text is not None and any(c.mark_question is not None for c in constructs)
        columns.append(
            ColumnView(
                letter=letter_of(page, step) if first.item.layout == "side_by_side" else None,
                public_id=step.item.public_id,
                stage=step.stage.number,
                response=text,
                parts=text_parts(text) if text is not None and asks else None,
                passages=own_passages if shared is None else None,
                constructs=constructs,
                save_url=f"{address}/save",
                passages_url=f"{address}/passages",
                marks_url=f"{address}/marks",
            )
        )
    return view, tuple(columns)


def show_constructs(
    connection: Connection, config: StudyConfig, step: Step, text: str = ""
) -> tuple[ConstructView, ...]:
    """Return the constructs of a step in the order to rate, with what is stored.

    `text` is the response, where the step shows it.
    """
    stored = newest_ratings(connection, step.item.id)
    marks = marks_of(connection, step.item, text)
    kept = ratings_kept(connection, step.item.id)
    views = []
    for index, key in enumerate(step.construct_keys, start=1):
        spec = config.construct_spec(key)
        if spec is None:
            continue
        rating = stored.get(key)
        stored_values: dict[str, Any] = {}
        if rating is not None:
            stored_values = {
                "revision": rating.revision,
                "value": rating.value,
                "status": rating.status,
                "reason": rating.reason,
                "comment": rating.comment,
                "chosen_flags": rating.flags,
                "input_kind": rating.input_kind,
                "kept": kept.get(key),
            }
        if key in marks:
            stored_values["marks"] = marks[key]
        views.append(construct_view(spec, config, index=index, **stored_values))
    return tuple(views)


def construct_view(spec: ConstructSpec, config: StudyConfig, **stored: Any) -> ConstructView:
    """Return a construct as a page shows it."""
    return ConstructView(
        key=spec.key,
        name=spec.name,
        question=spec.question,
        anchors=tuple(sorted(spec.anchors.items(), key=lambda anchor: float(anchor[0]))),
        rules=spec.rules,
        flags=spec.flags,
        comment_question=spec.comment_question,
        mark_question=spec.mark_question,
        min=spec.scale.min,
        max=spec.scale.max,
        step=spec.scale.step,
        # The five of CCRS are in English, whatever the language of the texts.
        language="en" if spec in CCRS else config.rating.language,
        **stored,
    )


def record_opened(study: Study, rater_id: int, public_id: str, stage: int, position: int) -> None:
    """Record that the rater unfolded a passage; repeated calls change nothing.

    Raises
    ------
    NotYoursError
        The step does not exist, or it was not opened by this rater.
    InvalidError
        The step does not show this passage.
    """
    with study.write() as connection:
        lock_rater(connection, rater_id)
        assignment, shown = _opened(connection, rater_id, public_id, stage)
        here = connection.execute(
            select(response_passages.c.passage_id).where(
                response_passages.c.response_id == assignment.response_id,
                response_passages.c.position == position,
            )
        ).first()
        if here is None or "context" not in shown:
            raise InvalidError(f"There is no passage {position} here.", "position")
        again = connection.execute(
            select(opened_passages.c.id).where(
                opened_passages.c.assignment_id == assignment.id,
                opened_passages.c.position == position,
            )
        ).first()
        if again is None:
            connection.execute(
                insert(opened_passages).values(assignment_id=assignment.id, position=position)
            )


def _opened(
    connection: Connection, rater_id: int, public_id: str, stage: int
) -> tuple[Any, list[Sees]]:
    """Return an assignment of the rater and the fields that one of its stages has shown."""
    mine = (
        select(assignments.c.id, assignments.c.response_id, reveals.c.stage, reveals.c.fields)
        .join_from(assignments, reveals, reveals.c.assignment_id == assignments.c.id)
        .where(
            assignments.c.public_id == public_id,
            assignments.c.rater_id == rater_id,
            assignments.c.channel == OWN_CHANNEL,
        )
    )
    # An address may contain characters that a database cannot compare.
    rows = connection.execute(mine).all() if public_id.isalnum() else []
    for row in rows:
        if row.stage == stage:
            return row, row.fields
    raise NotYoursError


def _shared(
    passages: Sequence[tuple[PassageView, ...] | None],
) -> tuple[PassageView, ...] | None:
    """Return the passages of a page where all its responses have the same, opened in any."""
    if any(shown is None for shown in passages):
        return None
    known = [shown for shown in passages if shown is not None]
    if len({tuple((p.position, p.text) for p in shown) for shown in known}) > 1:
        return None
    return tuple(
        replace(same[0], opened=any(p.opened for p in same)) for same in zip(*known, strict=True)
    )


def letter_of(page: TaskPage, step: Step) -> str:
    """Return A, B, ...: the place in the rater's own order of the responses to this query."""
    place = page.steps.index(step)
    letters = ""
    while True:
        letters = ascii_uppercase[place % 26] + letters
        place = place // 26 - 1
        if place < 0:
            return letters


def _passages(
    connection: Connection, step: Step, earlier: Sequence[Step]
) -> tuple[PassageView, ...]:
    # Not those of other passes: an opening from a first rating would tell a repeat.
    shown = [*(other for other in earlier if "context" in other.shown), step]
    assignment_of = {other.item.response_id: other.item.id for other in shown}
    opened = {
        (row.assignment_id, row.position)
        for row in connection.execute(
            select(opened_passages.c.assignment_id, opened_passages.c.position).where(
                opened_passages.c.assignment_id.in_(assignment_of.values())
            )
        )
    }
    rows = connection.execute(
        select(response_passages, passages.c.text)
        .join_from(response_passages, passages, response_passages.c.passage_id == passages.c.id)
        .where(response_passages.c.response_id.in_(assignment_of))
        .order_by(response_passages.c.position)
    ).all()
    known = {
        row.passage_id for row in rows if (assignment_of[row.response_id], row.position) in opened
    }
    first: dict[int, int] = {}
    for other in reversed(shown[:-1]):
        mine = (row for row in rows if row.response_id == other.item.response_id)
        first.update((row.passage_id, other.response_number) for row in mine)
    return tuple(
        PassageView(row.position, row.text, row.passage_id in known, first.get(row.passage_id))
        for row in rows
        if row.response_id == step.item.response_id
    )
