"""The history of a rater: rated steps and comparisons, newest first."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from heapq import merge
from typing import Any

from sqlalchemy import ColumnElement, Connection, Subquery, select

from annotate_ui.tasks.answers import Kept, StoredAnswer, as_stored, ratings_kept_of
from annotate_ui.tasks.comparison_view import Option, options
from annotate_ui.tasks.comparisons import rater_comparisons
from annotate_ui.tasks.passes import Step, TaskPage
from annotate_ui.tasks.step_view import letter_of
from annotate_ui.tasks.steps import rater_work
from study.facts.comparison_decisions import newest_decisions
from study.facts.counted_marks import newest_marks
from study.facts.ratings import newest_ratings
from study.facts.slots import OWN_CHANNEL
from study.schema.tables import assignments, comparisons, decisions, ratings, sentence_marks
from study.settings.study_toml import StudyConfig


@dataclass(frozen=True)
class HistoryComparison:
    """A comparison in the history."""

    public_id: str
    query_id: int
    number: int
    total: int
    name: str
    language: str
    """Of the construct's name."""
    option: Option | None
    """The choice, in the order in which the page shows the responses; None: there is none, or
    the scale no longer offers it."""
    status: str
    reason: str | None
    revision: int
    saved_at: datetime


def decided_comparisons(
    connection: Connection, config: StudyConfig, rater_id: int
) -> list[HistoryComparison]:
    """Return the comparisons that a rater has made; what was decided last comes first."""
    mine = rater_comparisons(connection, config, rater_id)
    by_rater = decisions.c.comparison_id.in_(
        select(comparisons.c.id).where(comparisons.c.rater_id == rater_id)
    )
    rows: Any = connection.execute(select(newest_decisions(by_rater)))
    newest = {row.comparison_id: row for row in rows}
    dated = []
    for number, comparison in enumerate(mine, 1):
        row = newest.get(comparison.id)
        if row is None or not comparison.opened:
            continue
        spec = config.construct_spec(comparison.construct_key)
        offered = options(config, swapped=comparison.swapped)
        chosen = next((option for option in offered if option.value == row.value), None)
        entry = HistoryComparison(
            public_id=comparison.public_id,
            query_id=comparison.query_id,
            number=number,
            total=len(mine),
            name=comparison.construct_key if spec is None else spec.name,
            language=config.rating.language,
            option=chosen,
            status=row.status,
            reason=row.reason,
            revision=row.revision,
            saved_at=row.created_at,
        )
        # Ordered by the decisions' ids, which do not depend on a clock.
        dated.append((row.id, entry))
    dated.sort(key=lambda pair: pair[0], reverse=True)
    return [entry for _, entry in dated]


@dataclass(frozen=True)
class HistoryValue:
    """The rater's newest answer for one construct."""

    name: str
    language: str
    """Of the name."""
    value: float | None
    status: str
    reason: str | None
    revision: int
    saved_at: datetime
    kept: Kept | None
    """What counts, where this answer does not."""
    marked: int | None
    """Number of parts of the response that the rater marked; None: not answered, or not asked."""
    marks_kept: bool
    """The marks were entered after more was shown, and do not count."""


@dataclass(frozen=True)
class HistoryStep:
    """A step in the history, with at least one answer."""

    public_id: str
    stage: int
    in_training: bool
    letter: str | None
    """The letter of the response on a page that shows several."""
    query_number: int
    part: int
    part_count: int
    response_number: int
    response_count: int
    answers: tuple[HistoryValue, ...]

    @property
    def saved_at(self) -> datetime:
        """When it was worked on last."""
        return max(answer.saved_at for answer in self.answers)


@dataclass(frozen=True)
class History:
    """One page of what a rater has done."""

    done: tuple[HistoryStep | HistoryComparison, ...]
    page: int
    pages: int
    left_out: bool
    """Earlier values of a question that is being rated again are not shown meanwhile."""


def history(
    connection: Connection, config: StudyConfig, rater_id: int, page: int = 1, size: int = 50
) -> History:
    """Return a page of what a rater has rated and comparisons, newest first.

    While a rater repeats a query, its first values are left out: the rater could copy them, and
    the repeat would not measure agreement with themselves.
    """
    work = rater_work(connection, config, rater_id)
    # From the first page of the repeat to its last, also while none of it is open.
    again = {
        pass_.query_id for pass_ in work.passes if pass_.repeat and pass_.begun and pass_.is_left
    }
    newest = _newest(connection, rater_id)
    kept = ratings_kept_of(connection, rater_id)
    marks = _marks(connection, rater_id)
    rated = []
    left_out = False
    for page_of_step, step in ((page_, step) for page_ in work.pages for step in page_.steps):
        mine = [
            (key, rating)
            for key in step.construct_keys
            if (rating := newest.get((step.item.id, key))) is not None
        ]
        if not mine or not step.opened:
            continue
        if step.item.query_id in again and not step.item.repeat:
            left_out = True
            continue
        # Ordered by the ratings' ids, which do not depend on a clock.
        last = max(rating_id for _, (rating_id, _) in mine)
        rated.append(
            (
                last,
                _done(
                    config,
                    page_of_step,
                    step,
                    [(key, stored, kept.get((step.item.id, key))) for key, (_, stored) in mine],
                    marks,
                ),
            )
        )
    rated.sort(key=lambda pair: pair[0], reverse=True)
    comparisons = decided_comparisons(connection, config, rater_id)
    shown = [entry for entry in comparisons if entry.query_id not in again]
    left_out = left_out or len(shown) < len(comparisons)
    # Both lists keep their own order, whatever the clock did.
    lists: tuple[list[HistoryStep | HistoryComparison], ...] = (
        [entry for _, entry in rated],
        [*shown],
    )
    everything = list(merge(*lists, key=lambda entry: entry.saved_at, reverse=True))
    pages = max(1, -(-len(everything) // size))
    page = min(max(1, page), pages)
    here = everything[(page - 1) * size : page * size]
    return History(tuple(here), page, pages, left_out)


def _done(
    config: StudyConfig,
    page: TaskPage,
    step: Step,
    mine: list[tuple[str, StoredAnswer, Kept | None]],
    marks: Mapping[tuple[int, str], tuple[int, bool]],
) -> HistoryStep:
    answers = []
    for key, stored, kept in mine:
        marked, marks_kept = marks.get((step.item.id, key), (None, False))
        spec = config.construct_spec(key)
        answers.append(
            HistoryValue(
                name=key if spec is None else spec.name,
                language=config.rating.language,
                value=stored.value,
                status=stored.status,
                reason=stored.reason,
                revision=stored.revision,
                saved_at=stored.saved_at,
                kept=kept,
                marked=marked,
                marks_kept=marks_kept,
            )
        )
    return HistoryStep(
        public_id=step.item.public_id,
        stage=step.stage.number,
        in_training=step.item.purpose == "training",
        letter=letter_of(page, step) if step.item.layout == "side_by_side" else None,
        query_number=step.query_number,
        part=step.part,
        part_count=step.part_count,
        response_number=step.response_number,
        response_count=step.response_count,
        answers=tuple(answers),
    )


def _newest(
    connection: Connection, rater_id: int
) -> dict[tuple[int, str], tuple[int, StoredAnswer]]:
    rows = connection.execute(select(newest_ratings(_by_rater(ratings, rater_id))))
    return {(row.assignment_id, row.construct_key): (row.id, as_stored(row)) for row in rows}


def _marks(connection: Connection, rater_id: int) -> dict[tuple[int, str], tuple[int, bool]]:
    """Return how much is marked, and whether that is kept without counting."""
    rows = connection.execute(select(newest_marks(_by_rater(sentence_marks, rater_id))))
    return {
        (row.assignment_id, row.construct_key): (len(row.ranges), row.after_reveal)
        for row in rows
        if row.ranges is not None
    }


def _by_rater(answers: Subquery, rater_id: int) -> ColumnElement[bool]:
    mine = select(assignments.c.id).where(
        assignments.c.rater_id == rater_id, assignments.c.channel == OWN_CHANNEL
    )
    return answers.c.assignment_id.in_(mine)
