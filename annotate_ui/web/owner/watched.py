"""How the campaign goes, computed once for several pages and requests.

It takes a second or two in a large campaign, and raters are waiting for the same processor.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING

from flask import current_app

from annotate_ui.web.signed_in import study
from study.nouns import now

if TYPE_CHECKING:
    from annotate_ui.watching.progress import CampaignProgress
    from annotate_ui.watching.signals import RaterSignals

_KEPT = timedelta(seconds=30)
_KEY = "owner_watched"
_one_at_a_time = Lock()


@dataclass(frozen=True)
class Watched:
    """Progress and signals as they were at one moment."""

    at: datetime
    progress: "CampaignProgress"
    signals: dict[str, "RaterSignals"]
    """By the rater's code."""


def watched() -> Watched:
    """Return how the campaign goes, half a minute old at most."""
    with _one_at_a_time:
        kept: Watched | None = current_app.extensions.get(_KEY)
        if kept is None or not timedelta() <= now() - kept.at < _KEPT:
            kept = _computed()
            current_app.extensions[_KEY] = kept
        return kept


def forget() -> None:
    """Compute anew for the next page: the owner has changed something."""
    current_app.extensions.pop(_KEY, None)


def _computed() -> Watched:
    from annotate_ui.watching.progress import campaign_progress
    from annotate_ui.watching.signals import rater_signals

    at = now()
    found = rater_signals(study())
    progress = campaign_progress(study(), found)
    return Watched(at, progress, {one.rater: one for one in found})
