"""Synchronizing: pull and push, repeated at an interval."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from annotate_ui.label_studio.client import Server, ServerError
from annotate_ui.label_studio.projects import stored_projects
from annotate_ui.label_studio.pull import ConfirmNewRaters, pull
from annotate_ui.label_studio.push import push
from annotate_ui.label_studio.results import Pulled, Pushed
from study.errors import StudyError
from study.progress_bar import Advance
from study.study import Study


@dataclass(frozen=True)
class Round:
    """The results of one round."""

    pulled: Pulled | None
    """None: nothing had been pushed before."""
    pushed: Pushed


def sync_once(
    study: Study,
    server: Server,
    *,
    raters: Mapping[int, str] | None = None,
    confirm_new_raters: ConfirmNewRaters | None = None,
    title: str | None = None,
    progress: Advance | None = None,
) -> Round:
    """Pull, then push: the ratings that were pulled open the next stage of their query.

    Raises
    ------
    StudyError
        As `pull` and `push` do.
    """
    with study.read() as connection:
        projects = stored_projects(connection)
    pulled = None
    if projects:
        pulled = pull(
            study, server, raters=raters, confirm_new_raters=confirm_new_raters, progress=progress
        )
    return Round(pulled, push(study, server, title=title, progress=progress))


T = TypeVar("T")


def repeat(
    run_round: Callable[[], T],
    interval: float,
    report: Callable[[T | StudyError], None],
    *,
    rounds: int | None = None,
    waits_for: tuple[type[StudyError], ...] = (),
) -> None:
    """Run rounds until interrupted, or until `rounds` are done.

    `interval` is the pause between rounds in seconds. A server that cannot be reached is reported
    and tried again in the next round, and so are errors of the kinds `waits_for`.
    """
    done = 0
    while True:
        try:
            report(run_round())
        except ServerError as error:
            if not error.is_temporary:
                raise
            report(error)
        except waits_for as error:
            report(error)
        done += 1
        if rounds is not None and done >= rounds:
            return
        time.sleep(interval)
