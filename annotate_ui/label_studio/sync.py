"""Keeping both sides in step: pull, push, wait, and again."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from annotate_ui.label_studio.client import Server, ServerError
from annotate_ui.label_studio.projects import stored_projects
from annotate_ui.label_studio.pull import pull
from annotate_ui.label_studio.push import push
from annotate_ui.label_studio.results import Pulled, Pushed
from study.progress import Advance
from study.study import Study


@dataclass(frozen=True)
class Round:
    """One round: what was pulled (None: nothing was pushed before), and what was pushed."""

    pulled: Pulled | None
    pushed: Pushed


def sync_once(
    study: Study,
    server: Server,
    *,
    raters: Mapping[int, str] | None = None,
    meets: Callable[[list[int], list[str]], None] | None = None,
    title: str | None = None,
    progress: Advance | None = None,
) -> Round:
    """Pull and push once: what was rated opens the next stage of its query.

    Raises
    ------
    StudyError
        As `pull` and `push` do.
    """
    with study.read() as connection:
        before = stored_projects(connection)
    pulled = pull(study, server, raters=raters, meets=meets, progress=progress) if before else None
    pushed = push(study, server, title=title, progress=progress)
    return Round(pulled, pushed)


def sync(
    once: Callable[[], Round],
    interval: float,
    told: Callable[[Round | ServerError], None],
    *,
    rounds: int | None = None,
) -> None:
    """Do one round after another until interrupted; a server that is away is waited for.

    `interval` is in seconds from the end of one round to the beginning of the next. `rounds` ends
    it after so many.
    """
    done = 0
    while True:
        try:
            told(once())
        except ServerError as error:
            if not error.passes:
                raise
            told(error)
        done += 1
        if rounds is not None and done >= rounds:
            return
        time.sleep(interval)
