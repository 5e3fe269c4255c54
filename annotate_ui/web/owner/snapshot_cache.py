"""The snapshot of the campaign that several pages and requests share.

In a large campaign a separate process computes it, since raters wait for the same processor.
Meanwhile pages show the previous snapshot with its time.
"""

import logging
from datetime import timedelta
from threading import Lock, Thread
from typing import TYPE_CHECKING

from flask import Flask, current_app

from annotate_ui.web.rater_session import study
from study.errors import StudyError
from study.schema import now
from study.study import Study

if TYPE_CHECKING:
    from annotate_ui.monitoring.campaign_progress import Snapshot

log = logging.getLogger("annotate_ui")

_FRESH = timedelta(seconds=30)
_KEY = "owner_snapshot"
_one_at_a_time = Lock()


def current_snapshot() -> "Snapshot":
    """Return a snapshot: half a minute old at most, in a large campaign a little more.

    Raises
    ------
    StudyError
        It could not be computed.
    """
    cached: Snapshot | None = current_app.extensions.get(_KEY)
    if cached is not None and timedelta() <= now() - cached.at < _FRESH:
        return cached
    from annotate_ui.monitoring.campaign_progress import is_large, snapshot

    if not is_large(study()):
        with _one_at_a_time:
            current_app.extensions[_KEY] = computed = snapshot(study())
            return computed
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]
    if cached is None:
        return _compute(app, study())
    if not _one_at_a_time.locked():
        Thread(target=_renew, args=(app, study()), daemon=True).start()
    return cached


def clear() -> None:
    """Have the next page compute the snapshot anew: the owner has changed something."""
    current_app.extensions.pop(_KEY, None)


def _compute(app: Flask, served: Study) -> "Snapshot":
    from annotate_ui.monitoring.background_job import compute_snapshot

    with _one_at_a_time:
        app.extensions[_KEY] = computed = compute_snapshot(served)
        return computed


def _renew(app: Flask, served: Study) -> None:
    try:
        _compute(app, served)
    except StudyError as error:
        log.error("renewing the snapshot: %s", error)  # noqa: TRY400  (the message has the reason)
