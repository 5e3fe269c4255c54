"""Opening a rater's next page, recorded as a reveal, or a notice why none can be opened."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from sqlalchemy import Connection, insert

from annotate_ui.participants.consent import open_gate
from annotate_ui.participation import lock_rater, lock_slots, paused
from annotate_ui.tasks.assignments import FEEDBACK
from annotate_ui.tasks.comparisons import comparisons_done, next_comparison
from annotate_ui.tasks.onboarding import calibrate, check_follows, give_check
from annotate_ui.tasks.passes import Step, TaskPage
from annotate_ui.tasks.refusals import LeftError
from annotate_ui.tasks.sessions import repeats, session_of
from annotate_ui.tasks.slot_queue import free_query, renew, take_slots
from annotate_ui.tasks.steps import Work, rater_work
from annotate_ui.tasks.training import begin_attempt, training_state
from study.facts.departures import has_left
from study.schema.tables import reveals
from study.study import Study

Kind = Literal[
    "paused",
    "consent",
    "instructions",
    "step",
    "feedback",
    "training_failed",
    "compare",
    "later",
    "break",
    "waiting",
    "end",
]


@dataclass(frozen=True)
class Opened:
    """The result of asking for the next page."""

    kind: Kind
    """`later`: repeats that are not due yet; `break`: the session is over; `waiting`: other
    raters have the remaining slots."""
    page: TaskPage | None = None
    """Of a step, of several side by side, or of feedback."""
    comparison: str | None = None
    """The public id of a comparison."""
    due_from: datetime | None = None
    """From when there is more to do, for `later` and `break`."""

    @property
    def step(self) -> Step | None:
        """The first unfinished step of the page; None: the page has no step."""
        if self.page is None or self.page.is_feedback:
            return None
        left = (step for step in self.page.steps if step.is_left)
        return next(left, self.page.steps[0])


def open_next(study: Study, rater_id: int) -> Opened:
    """Open the next page of a rater and record that it is shown.

    The order is: training with its feedback, calibration, the main work, comparisons, repeats,
    adjudication. A rater whose own work is done is handed open slots, if there are any. Repeated
    requests open the same page.

    Raises
    ------
    LeftError
        The rater has left the study.
    """
    with study.write() as connection:
        lock_rater(connection, rater_id)
        if has_left(connection, rater_id):
            raise LeftError
        if paused(connection) is not None:
            return Opened("paused")
        gate = open_gate(connection, study, rater_id)
        if gate is not None:
            return Opened(gate)
        opened = _next(connection, study, rater_id)
        if opened.page is not None:
            _record(connection, opened.page)
        return opened


def all_done(connection: Connection, study: Study, rater_id: int) -> bool:
    """Whether a rater has worked and has nothing left to do, now or later."""
    work = rater_work(connection, study.config, rater_id)
    made, comparisons = comparisons_done(connection, study, rater_id)
    if made < comparisons or not (work.has_worked or made):
        return False
    if any(page.is_left for page in work.pages if page.phase != "training"):
        return False
    if not training_state(connection, study, rater_id).passed:
        return False
    return free_query(connection, study, rater_id) is None and not check_follows(
        connection, study, rater_id
    )


def _next(connection: Connection, study: Study, rater_id: int) -> Opened:
    """Return what is next, after assigning what it needs."""
    work = rater_work(connection, study.config, rater_id)
    opened = (
        _training(connection, study, rater_id, work)
        or _calibration(connection, study, rater_id, work)
        or _main(connection, study, rater_id, work)
        or _comparison(connection, study, rater_id)
        or _repeats(connection, study, rater_id, work)
        or _adjudication(connection, study, rater_id, work)
    )
    if opened is not None:
        return opened
    # A rater who has worked is done, even if slots of others may become free later: raters get
    # their completion code without waiting for others.
    made, _ = comparisons_done(connection, study, rater_id)
    return Opened("end" if work.has_worked or made else "waiting")


def _training(connection: Connection, study: Study, rater_id: int, work: Work) -> Opened | None:
    page = work.turn("training")
    if page is None and not study.config.design.training:
        return None
    state = training_state(connection, study, rater_id)
    # A readmitted rater need not finish an attempt, but may finish an open page.
    if page is not None and (not state.passed or page.is_feedback or page.opened):
        return _shown(connection, study, rater_id, page)
    if state.passed:
        return None
    if state.failed or _nothing_follows(connection, study, rater_id, work):
        return Opened("training_failed" if state.failed else "waiting")
    session = session_of(connection, study.config, rater_id)
    if session.is_over(study.config):
        return Opened("break", due_from=session.next_from(study.config))
    begin_attempt(connection, study, rater_id)
    page = rater_work(connection, study.config, rater_id).turn("training")
    return None if page is None else Opened("step", page)


def _nothing_follows(connection: Connection, study: Study, rater_id: int, work: Work) -> bool:
    """Whether a training would lead to no work, so that the rater is told before it."""
    if any(pass_.phase != "training" for pass_ in work.passes):
        return False
    _, comparisons = comparisons_done(connection, study, rater_id)
    return not comparisons and free_query(connection, study, rater_id) is None


def _calibration(connection: Connection, study: Study, rater_id: int, work: Work) -> Opened | None:
    page = work.turn("calibration")
    if page is None and all(pass_.phase == "training" for pass_ in work.passes):
        lock_slots(connection)
        if calibrate(connection, study, rater_id):
            page = rater_work(connection, study.config, rater_id).turn("calibration")
    return None if page is None else _shown(connection, study, rater_id, page)


def _main(connection: Connection, study: Study, rater_id: int, work: Work) -> Opened | None:
    page = work.turn("main")
    if page is None or any(step.item.leased_until is not None for step in page.steps):
        lock_slots(connection)
        if page is not None:
            renew(connection, study, rater_id, page.item.query_id)
            # Read again: a slot may have been handed on before it was locked.
            page = rater_work(connection, study.config, rater_id).turn("main")
        if page is None:
            session = session_of(connection, study.config, rater_id)
            if session.is_over(study.config) and free_query(connection, study, rater_id):
                return Opened("break", due_from=session.next_from(study.config))
            if give_check(connection, study, rater_id) or take_slots(connection, study, rater_id):
                page = rater_work(connection, study.config, rater_id).turn("main")
    return None if page is None else _shown(connection, study, rater_id, page)


def _comparison(connection: Connection, study: Study, rater_id: int) -> Opened | None:
    made, comparisons = comparisons_done(connection, study, rater_id)
    if made >= comparisons:
        return None
    session = session_of(connection, study.config, rater_id)
    if session.is_over(study.config):
        return Opened("break", due_from=session.next_from(study.config))
    return Opened("compare", comparison=next_comparison(connection, study, rater_id))


def _repeats(connection: Connection, study: Study, rater_id: int, work: Work) -> Opened | None:
    again = repeats(connection, study.config, work, rater_id)
    if again.page is not None:
        return _shown(connection, study, rater_id, again.page)
    return None if again.due_from is None else Opened("later", due_from=again.due_from)


def _adjudication(connection: Connection, study: Study, rater_id: int, work: Work) -> Opened | None:
    page = work.turn("adjudication")
    return None if page is None else _shown(connection, study, rater_id, page)


def _shown(connection: Connection, study: Study, rater_id: int, page: TaskPage) -> Opened:
    """Return a page as what is next, unless the session is over; what is open can be finished."""
    if page.is_feedback:
        return Opened("feedback", page)
    if not page.opened:
        session = session_of(connection, study.config, rater_id)
        if session.is_over(study.config):
            return Opened("break", due_from=session.next_from(study.config))
    return Opened("step", page)


def _record(connection: Connection, page: TaskPage) -> None:
    """Record what is shown from now on; responses side by side are recorded together."""
    rows = [
        {
            "assignment_id": step.item.id,
            "stage": step.stage.number,
            "fields": list(step.stage.fields),
        }
        for step in page.unopened
    ]
    if page.is_feedback and not page.item.feedback_shown:
        # It shows no field of the query; its stage records that later values are not blind.
        rows = [{"assignment_id": page.item.id, "stage": FEEDBACK, "fields": []}]
    if rows:
        connection.execute(insert(reveals), rows)


Words = Callable[..., str]
"""Returns a text in the language of the pages."""


@dataclass(frozen=True)
class Notice:
    """Why no next page can be opened now, and what to do."""

    title: str
    text: str
    at: datetime | None = None
    """When the rater can continue, in UTC; `%(time)s` in the text is replaced by it, and
    `%%` by a percent sign."""


def notice(
    why: str, connection: Connection, study: Study, rater_id: int, work: Work, _: Words
) -> Notice | None:
    """Return the message of the overview; None where the reason no longer applies.

    A rater may have bookmarked the address that contains the reason.
    """
    if why == "paused":
        return _paused(paused(connection), _)
    if why == "training_failed":
        failed = training_state(connection, study, rater_id).failed
        return _training_failed(_) if failed else None
    if why == "break":
        session = session_of(connection, study.config, rater_id)
        over = session.is_over(study.config)
        return _break(session.next_from(study.config), _) if over else None
    if why == "later":
        due = repeats(connection, study.config, work, rater_id).due_from
        return None if due is None else _later(due, _)
    return _waiting(_) if why == "waiting" else None


def _paused(message: str | None, _: Words) -> Notice | None:
    if message is None:
        return None
    return Notice(
        _("The study is paused"),
        message or _("You cannot open new pages for now. What you saved is kept; come back later."),
    )


def _training_failed(_: Words) -> Notice:
    return Notice(
        _("The training is over"),
        _(
            "Too few of your values were in the expected range, and no attempt is left. "
            "The people who run the study can see this and may let you continue; ask the person "
            "who invited you."
        ),
    )


def _break(from_: datetime, _: Words) -> Notice:
    return Notice(
        _("Time for a break"),
        _(
            "You have reached the maximum length of a session. You can continue at %(time)s "
            "or later. Everything is saved."
        ),
        from_.astimezone(UTC),
    )


def _later(from_: datetime, _: Words) -> Notice:
    return Notice(
        _("You will have more to rate later"),
        _(
            "Some questions are asked a second time, in another session. Come back at %(time)s "
            "or later. Everything is saved."
        ),
        from_.astimezone(UTC),
    )


def _waiting(_: Words) -> Notice:
    return Notice(
        _("There is nothing for you to rate at the moment"),
        _("Other raters are working on what is left. Come back later and press the button again."),
    )
