"""How the campaign goes, computed once for several pages and requests.

In a large campaign a process of its own computes it, since raters wait for the same processor; a
page shows meanwhile what there is, with its time.
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
    from annotate_ui.monitoring.snapshot import Snapshot

log = logging.getLogger("annotate_ui")

_KEPT = timedelta(seconds=30)
_KEY = "owner_watched"
_one_at_a_time = Lock()


def watched() -> "Snapshot":
    """Return how the campaign goes: half a minute old at most, in a large campaign a little more.

    Raises
    ------
    StudyError
        Nothing could be computed.
    """
    kept: Snapshot | None = current_app.extensions.get(_KEY)
    if kept is not None and timedelta() <= now() - kept.at < _KEPT:
        return kept
    from annotate_ui.monitoring.snapshot import is_large, snapshot

    if not is_large(study()):
        with _one_at_a_time:
            current_app.extensions[_KEY] = found = snapshot(study())
            return found
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]
    if kept is None:
        return _computed_elsewhere(app, study())
    if not _one_at_a_time.locked():
        Thread(target=_renewed, args=(app, study()), daemon=True).start()
    return kept


def forget() -> None:
    """Compute anew for the next page: the owner has changed something."""
    current_app.extensions.pop(_KEY, None)


def _computed_elsewhere(app: Flask, of: Study) -> "Snapshot":
    from annotate_ui.monitoring.background_job import compute_snapshot

    with _one_at_a_time:
        app.extensions[_KEY] = found = compute_snapshot(of)
        return found


def _renewed(app: Flask, of: Study) -> None:
    try:
        _computed_elsewhere(app, of)
    except StudyError as error:
        log.error("renewing how the campaign goes: %s", error)  # noqa: TRY400  (it says why)
