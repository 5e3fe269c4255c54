"""Feedback: the expected values after training, the values of others after adjudication."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, select

from analysis.render.labels import quoted
from annotate_ui.participants.languages import language_of
from annotate_ui.tasks.answers import newest_ratings
from annotate_ui.tasks.passes import TaskPage
from annotate_ui.tasks.step_view import ConstructView, construct_view
from annotate_ui.tasks.steps import Work
from annotate_ui.tasks.training import TrainingState, training_state
from study.facts.ratings import ratings_that_count
from study.schema.tables import (
    assignments as assignment_table,
    expected_values,
    queries,
    ratings,
    responses,
)
from study.study import Study

# Characters of a judge's reason: what is longer is read with `ccrs judge show`.
_LONGEST_REASON = 2000
# Any number that no other draw of the same seed uses.
_NUMBERING = 0x6F7468657273


@dataclass(frozen=True)
class Expected:
    """The expected range of a value in training, and the reason for it."""

    low: float
    high: float
    explanation: str | None
    met: bool
    """By the value that was given before this was shown."""


@dataclass(frozen=True)
class OtherView:
    """The answer of another rater, without their name."""

    number: int
    value: float | None
    status: str
    reason: str | None
    comment: str | None
    flags: tuple[str, ...]


@dataclass(frozen=True)
class JudgeView:
    """A judge's score and reason, where the owner lets adjudicators see them."""

    value: float | None
    missing_reason: str | None
    reason: str | None
    """Its text before the score, on one line and shortened."""
    scale: tuple[float, float] | None
    """The ends of its scale, where that is another than the construct's."""


@dataclass(frozen=True)
class AnswerView:
    """The rater's answer for a construct, with the expected values or the answers of others."""

    construct: ConstructView
    """With the newest rating."""
    first_value: float | None
    first_status: str | None
    """As it was before this page was shown, which is what counts."""
    stage: int
    """Of the step on which it can be changed."""
    expected: Expected | None
    others: tuple[OtherView, ...]
    judge: JudgeView | None


@dataclass(frozen=True)
class FeedbackView:
    """The content of a feedback page."""

    public_id: str
    purpose: str
    query_number: int
    query_count: int
    language: str
    question: str | None
    response: str | None
    answers: tuple[AnswerView, ...]
    training: TrainingState | None
    """At the end of an attempt: how it went."""


def show_feedback(
    connection: Connection, study: Study, work: Work, page: TaskPage, rater_id: int
) -> FeedbackView:
    """Return what a page of feedback shows.

    A judge's scores are read for it only where study.toml names a run for adjudicators to see
    (`rating.adjudicators_see`), whose blind values are stored by then.
    """
    item = page.item
    texts = connection.execute(
        select(responses.c.text, queries.c.text.label("question"), queries.c.attributes)
        .join_from(responses, queries, responses.c.query_id == queries.c.id)
        .where(responses.c.id == item.response_id)
    ).one()
    steps = [step for step in work.steps if step.item.id == item.id]
    shown = {field for step in steps for field in step.shown}
    return FeedbackView(
        public_id=item.public_id,
        purpose=item.purpose,
        query_number=steps[0].query_number if steps else 1,
        query_count=steps[0].query_count if steps else 1,
        language=language_of(texts.attributes, study.config),
        # Only what the stages of this response have shown already.
        question=texts.question if "question" in shown else None,
        response=texts.text if "response" in shown else None,
        answers=_answers(connection, study, page, work, rater_id),
        training=_attempt_state(connection, study, work, page, rater_id),
    )


def _answers(
    connection: Connection, study: Study, page: TaskPage, work: Work, rater_id: int
) -> tuple[AnswerView, ...]:
    item = page.item
    stored = newest_ratings(connection, item.id)
    mine = ratings_that_count(connection, ratings.c.assignment_id == item.id)
    first = {rating.construct_key: rating for rating in mine}
    expected = _expected(connection, item.response_id) if item.purpose == "training" else {}
    others = (
        _others(connection, study, item.response_id, rater_id)
        if item.purpose == "adjudication"
        else {}
    )
    judge = _judge(connection, study, item.response_id) if item.purpose == "adjudication" else {}
    views = []
    for step in work.steps:
        if step.item.id != item.id:
            continue
        for key in step.construct_keys:
            spec = study.config.construct_spec(key)
            if spec is None:
                continue
            now = stored.get(key)
            values: dict[str, Any] = {}
            if now is not None:
                values = {
                    "revision": now.revision,
                    "value": now.value,
                    "status": now.status,
                    "reason": now.reason,
                    "comment": now.comment,
                    "chosen_flags": now.flags,
                }
            before = first.get(key)
            value = None if before is None else before.value
            span = expected.get(key)
            views.append(
                AnswerView(
                    construct=construct_view(spec, study.config, **values),
                    first_value=value,
                    first_status=None if before is None else before.status,
                    stage=step.stage.number,
                    expected=None if span is None else _against(span, value),
                    others=others.get(key, ()),
                    judge=judge.get(key),
                )
            )
    return tuple(views)


def _attempt_state(
    connection: Connection, study: Study, work: Work, page: TaskPage, rater_id: int
) -> TrainingState | None:
    """Return how an attempt at the training went, on the last of its pages."""
    last = [
        p
        for p in work.pages
        if p.is_feedback and p.phase == page.phase and p.item.round == page.item.round
    ][-1]
    newest = max(pass_.round for pass_ in work.passes if pass_.phase == page.phase)
    if page.phase != "training" or page is not last or page.item.round != newest:
        return None
    state = training_state(connection, study, rater_id)
    return None if state.share is None else state


def _against(row: Row[Any], value: float | None) -> Expected:
    met = value is not None and row.low <= value <= row.high
    return Expected(row.low, row.high, row.explanation, met)


def _expected(connection: Connection, response_id: int) -> dict[str, Any]:
    rows = connection.execute(
        select(
            expected_values.c.construct_key,
            expected_values.c.low,
            expected_values.c.high,
            expected_values.c.explanation,
        ).where(
            expected_values.c.response_id == response_id, expected_values.c.purpose == "training"
        )
    )
    return {row.construct_key: row for row in rows}


def _others(
    connection: Connection, study: Study, response_id: int, rater_id: int
) -> dict[str, tuple[OtherView, ...]]:
    """Return the values of other raters that count, by construct."""
    rows = connection.execute(
        select(assignment_table.c.id, assignment_table.c.rater_id)
        .where(
            assignment_table.c.response_id == response_id,
            assignment_table.c.purpose == "main",
            assignment_table.c.rater_id.is_not(None),
            assignment_table.c.rater_id != rater_id,
        )
        .order_by(assignment_table.c.id)
    ).all()
    assignments = ratings.c.assignment_id.in_([row.id for row in rows])
    raters = sorted({row.rater_id for row in rows})
    rng = np.random.default_rng([study.config.seed, _NUMBERING, response_id, rater_id])
    # Numbers differ by response, so that raters cannot be recognized.
    order = [raters[i] for i in rng.permutation(len(raters))]
    views: dict[str, list[OtherView]] = defaultdict(list)
    for rating in ratings_that_count(connection, assignments):
        views[rating.construct_key].append(
            OtherView(
                order.index(rating.rater_id) + 1,
                rating.value,
                rating.status,
                rating.reason,
                rating.comment,
                tuple(rating.flags),
            )
        )
    return {key: tuple(sorted(some, key=lambda view: view.number)) for key, some in views.items()}


def _judge(connection: Connection, study: Study, response_id: int) -> dict[str, JudgeView]:
    """Return the scores of the run that adjudicators may see, by construct."""
    # Only adjudicators see a judge; the module loads what tables of scores need.
    from study.facts.judgments import answers_that_count

    name = study.config.rating.adjudicators_see
    if name is None:
        return {}
    versions = study.construct_versions(connection)
    views = {}
    for score in answers_that_count(connection, [response_id]):
        spec = study.config.construct_spec(score.construct_key)
        if spec is None or (score.run, score.construct_version) != (
            name,
            versions[score.construct_key],
        ):
            continue
        scale = study.config.scale(score.construct_key, name) or spec.scale
        ends = (scale.min, scale.max)
        views[score.construct_key] = JudgeView(
            score.value,
            score.missing_reason,
            None if score.reason is None else quoted(score.reason, _LONGEST_REASON),
            None if ends == (spec.scale.min, spec.scale.max) else ends,
        )
    return views
