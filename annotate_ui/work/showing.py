"""What a step shows: the texts that its stage allows, and the constructs to rate."""

import re
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select

from annotate_ui.work.leasing import lock_rater
from annotate_ui.work.refusals import InvalidError, NotYoursError
from annotate_ui.work.steps import Step, Work, rater_work
from annotate_ui.work.stored import newest_ratings
from study.campaign import Study
from study.config import StudyConfig
from study.constructs import CCRS, ConstructSpec
from study.nouns import OpenedPassage, Passage, Query, Response, ResponsePassage, table
from study.words import Sees

_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")


@dataclass(frozen=True)
class PassageView:
    """A passage at its place, and whether the rater has unfolded it."""

    position: int
    text: str
    opened: bool


@dataclass(frozen=True)
class StepView:
    """A step as its page shows it. A field that the stage does not show is None."""

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
    question: str | None
    response: str | None
    passages: tuple[PassageView, ...] | None
    reference: str | None
    """The first reference, the one that the judge sees; empty where the query has none."""


@dataclass(frozen=True)
class ConstructView:
    """A construct as its panel shows it, with the rating that is stored."""

    key: str
    name: str
    question: str
    anchors: tuple[tuple[str, str], ...]
    """Points of the scale, from low to high, with the words beside them."""
    rules: tuple[str, ...]
    flags: tuple[str, ...]
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


def show_step(connection: Connection, config: StudyConfig, work: Work, step: Step) -> StepView:
    """Return what the rater may see at a step; nothing else is read from the database."""
    fields = step.shown
    before = next((s.stage.fields for s in reversed(work.steps) if _is_stage_before(s, step)), ())
    r, q = table(Response), table(Query)
    row = connection.execute(
        select(
            r.c.text,
            q.c.attributes,
            *([q.c.text.label("question")] if "question" in fields else []),
            *([q.c.references] if "reference" in fields else []),
        )
        .join_from(r, q, r.c.query_id == q.c.id)
        .where(r.c.id == step.item.response_id)
    ).one()
    return StepView(
        public_id=step.item.public_id,
        stage=step.part,
        stage_count=step.part_count,
        query_number=step.query_number,
        query_count=work.progress.queries_total,
        response_number=step.response_number,
        response_count=step.response_count,
        fields=fields,
        new_fields=tuple(field for field in fields if field not in before),
        language=_language(row.attributes, config),
        question=row.question if "question" in fields else None,
        response=row.text if "response" in fields else None,
        passages=_passages(connection, step) if "context" in fields else None,
        reference=next(iter(row.references), "") if "reference" in fields else None,
    )


def show_constructs(
    connection: Connection, config: StudyConfig, step: Step
) -> tuple[ConstructView, ...]:
    """Return the constructs of a step in the order to rate, with what is stored."""
    stored = newest_ratings(connection, step.item.id)
    views = []
    for index, key in enumerate(step.construct_keys, start=1):
        spec = config.construct_spec(key)
        if spec is None:
            continue
        rating = stored.get(key)
        given: dict[str, Any] = {}
        if rating is not None:
            given = {
                "revision": rating.revision,
                "value": rating.value,
                "status": rating.status,
                "reason": rating.reason,
                "comment": rating.comment,
                "chosen_flags": rating.flags,
                "input_kind": rating.input_kind,
            }
        views.append(construct_view(spec, config, index=index, **given))
    return tuple(views)


def construct_view(spec: ConstructSpec, config: StudyConfig, **given: Any) -> ConstructView:
    """Return a construct as a page shows it."""
    return ConstructView(
        key=spec.key,
        name=spec.name,
        question=spec.question,
        anchors=tuple(sorted(spec.anchors.items(), key=lambda anchor: float(anchor[0]))),
        rules=spec.rules,
        flags=spec.flags,
        min=spec.scale.min,
        max=spec.scale.max,
        step=spec.scale.step,
        # The five of CCRS are in English, whatever the language of the texts.
        language="en" if spec in CCRS else config.rating.language,
        **given,
    )


def record_opened(study: Study, rater_id: int, public_id: str, stage: int, position: int) -> None:
    """Record that the rater unfolded a passage. Again: nothing happens.

    Raises
    ------
    NotYoursError
        There is no such step, or it was not opened by this rater.
    InvalidError
        The step shows no such passage.
    """
    p, seen = table(ResponsePassage), table(OpenedPassage)
    with study.write() as connection:
        lock_rater(connection, rater_id)
        step = rater_work(connection, study.config, rater_id).find(public_id, stage)
        if step is None or not step.opened:
            raise NotYoursError("This page was not opened for you. Go on from the start page.")
        here = connection.execute(
            select(p.c.passage_id).where(
                p.c.response_id == step.item.response_id, p.c.position == position
            )
        ).first()
        if here is None or "context" not in step.shown:
            raise InvalidError(f"There is no passage {position} here.", "position")
        again = connection.execute(
            select(seen.c.id).where(
                seen.c.assignment_id == step.item.id, seen.c.position == position
            )
        ).first()
        if again is None:
            connection.execute(insert(seen).values(assignment_id=step.item.id, position=position))


def _is_stage_before(other: Step, step: Step) -> bool:
    return other.query_number == step.query_number and other.part == step.part - 1


def _passages(connection: Connection, step: Step) -> tuple[PassageView, ...]:
    p, t, seen = table(ResponsePassage), table(Passage), table(OpenedPassage)
    opened = set(
        connection.execute(
            select(seen.c.position).where(seen.c.assignment_id == step.item.id)
        ).scalars()
    )
    rows = connection.execute(
        select(p.c.position, t.c.text)
        .join_from(p, t, p.c.passage_id == t.c.id)
        .where(p.c.response_id == step.item.response_id)
        .order_by(p.c.position)
    )
    return tuple(PassageView(row.position, row.text, row.position in opened) for row in rows)


def _language(attributes: dict[str, Any], config: StudyConfig) -> str:
    named = attributes.get("language")
    # Data may hold anything here; only what HTML takes as a language goes into a page.
    if isinstance(named, str) and _LANGUAGE.fullmatch(named):
        return named
    return config.rating.language
