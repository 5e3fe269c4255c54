"""The state of a campaign at one moment: progress, and signals of careless responding."""

from dataclasses import dataclass
from datetime import datetime

from annotate_ui.monitoring.campaign_progress import CampaignProgress, campaign_progress
from annotate_ui.monitoring.careless_responding import RaterSignals, rater_signals
from study.facts.ratings import values_so_far
from study.schema import now
from study.study import Study

# Values. With fewer, a snapshot is computed before another process would have started.
_LARGE = 3000


@dataclass(frozen=True)
class Snapshot:
    """The state of a campaign."""

    at: datetime
    progress: CampaignProgress
    signals: dict[str, RaterSignals]
    """By the rater's code."""


def snapshot(study: Study) -> Snapshot:
    """Return the present state of a campaign."""
    at = now()
    found = rater_signals(study)
    return Snapshot(at, campaign_progress(study, found), {one.rater: one for one in found})


def is_large(study: Study) -> bool:
    """Say whether a snapshot takes so long that raters would wait for the processor."""
    with study.read() as connection:
        return values_so_far(connection) > _LARGE
