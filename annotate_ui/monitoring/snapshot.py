"""Progress and signals at one moment, in large campaigns computed by a process of its own."""

import os
import pickle
import subprocess
import sys
from dataclasses import dataclass
from datetime import datetime

from annotate_ui.monitoring.background_job import LONGEST, ONE_THREAD
from annotate_ui.monitoring.campaign_progress import CampaignProgress, campaign_progress
from annotate_ui.monitoring.careless_responding import RaterSignals, rater_signals
from study.errors import StudyError
from study.facts.interim_analysis import values_so_far
from study.schema import now
from study.study import Study

# Fewer are done before another process would have started.
_LARGE = 3000


@dataclass(frozen=True)
class Snapshot:
    """How a campaign goes."""

    at: datetime
    progress: CampaignProgress
    signals: dict[str, RaterSignals]
    """By the rater's code."""


def snapshot(study: Study) -> Snapshot:
    """Return how a campaign goes now."""
    at = now()
    found = rater_signals(study)
    return Snapshot(at, campaign_progress(study, found), {one.rater: one for one in found})


def is_large(study: Study) -> bool:
    """Say whether a snapshot takes so long that raters would wait for the processor."""
    with study.read() as connection:
        return values_so_far(connection) > _LARGE


def snapshot_elsewhere(study: Study) -> Snapshot:
    """Return how a campaign goes now, computed by a process of low priority.

    Raises
    ------
    StudyError
        The process failed, or took longer than ten minutes.
    """
    command = [
        sys.executable,
        "-m",
        "annotate_ui.monitoring.snapshot_process",
        str(study.folder.resolve()),
    ]
    try:
        done = subprocess.run(  # noqa: S603  (our own module, by its full path)
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=os.environ | ONE_THREAD,
            timeout=LONGEST.total_seconds(),
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise StudyError(
            f"How {study.folder} goes can't be computed ({type(error).__name__}). `ccrs watch "
            f"{study.folder}` does the same in a terminal, and says why."
        ) from error
    found: Snapshot = pickle.loads(done.stdout)  # noqa: S301  (what our own process has written)
    return found
