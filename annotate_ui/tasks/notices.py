"""Messages for a rater who asked for the next page while none can be opened."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection

from annotate_ui.participation import paused
from annotate_ui.tasks.sessions import repeats, session_of
from annotate_ui.tasks.steps import Work
from annotate_ui.tasks.training import training_state
from study.study import Study

Words = Callable[..., str]
"""Returns a text in the language of the pages."""


@dataclass(frozen=True)
class Notice:
    """Why no next page can be opened now, and what to do."""

    title: str
    text: str
    at: datetime | None = None
    """When the rater can continue, in UTC; `%(time)s` in the text stands for it, and `%%` for a
    percent sign."""


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
        message or _("Nothing new is opened for now. What you saved is kept; come back later."),
    )


def _training_failed(_: Words) -> Notice:
    return Notice(
        _("The training ends here"),
        _(
            "Too few of your values lay in their expected range, and there is no further attempt. "
            "The people who run the study see this and may let you go on; ask whoever invited you."
        ),
    )


def _break(from_: datetime, _: Words) -> Notice:
    return Notice(
        _("Time for a break"),
        _(
            "You have rated for as long as one session lasts. Go on from %(time)s, or later. "
            "Everything is saved."
        ),
        from_.astimezone(UTC),
    )


def _later(from_: datetime, _: Words) -> Notice:
    return Notice(
        _("More comes later"),
        _(
            "Some questions are asked a second time, in another session. Come back from %(time)s "
            "on. Everything is saved."
        ),
        from_.astimezone(UTC),
    )


def _waiting(_: Words) -> Notice:
    return Notice(
        _("There is nothing to rate for you right now"),
        _("What is left is with other raters. Come back later and press the button again."),
    )
