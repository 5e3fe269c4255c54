"""What may be asked of an assignment together."""

from collections.abc import Sequence
from pathlib import Path

from study.errors import StudyError, nearest
from study.facts.slots import OWN_CHANNEL
from study.settings.design import DesignSpec

CHANNELS = (OWN_CHANNEL, "label_studio")
"""Where people rate: the project's own pages, or Label Studio."""


def check_request(
    plan: DesignSpec,
    raters: Sequence[str] | int | None,
    kept_for: Sequence[str] | None,
    items: Path | str | None,
    *,
    open_slots: bool,
    channel: str,
) -> None:
    """Check that the parts of a request fit together.

    The parameters are those of `study.assignment.planner.assign`.

    Raises
    ------
    StudyError
        Some exclude each other, or the channel is not known or cannot keep the design.
    """
    if open_slots and raters is not None:
        raise StudyError("Open slots are for raters who join; leave --raters out.")
    if items is not None and (open_slots or raters is not None):
        raise StudyError("--items names the raters and their items; leave --raters and --open out.")
    if kept_for is not None and not open_slots:
        raise StudyError("--for says who may take open slots; give --open as well.")
    if channel not in CHANNELS:
        hint = nearest(channel, CHANNELS)
        raise StudyError(f"Unknown channel {channel!r}. {hint} Known: {', '.join(CHANNELS)}.")
    if channel != OWN_CHANNEL and not open_slots:
        raise StudyError(
            f"Channel {channel!r} requires open slots (--open): its raters are known when their "
            "ratings are pulled."
        )
    if channel != OWN_CHANNEL and kept_for is not None:
        raise StudyError("--for is for the project's own pages; Label Studio shows tasks to all.")
    if channel != OWN_CHANNEL:
        _check_external(plan)


def _check_external(plan: DesignSpec) -> None:
    """Refuse settings by which open slots of another channel could not be rated as planned."""
    if not plan.ratings:
        raise StudyError(
            "design.ratings is false: no slots are needed. `ccrs label-studio push` sends the "
            "pairs that are compared."
        )
    problems = {
        "--calibration 0": plan.calibration
        and f"calibration = {plan.calibration}: no slots are made for calibration queries",
        "--layout single": plan.layout != "single"
        and f'layout = "{plan.layout}": Label Studio shows one response a task',
    }
    found = {option: problem for option, problem in problems.items() if problem}
    if found:
        raise StudyError(
            f"Label Studio cannot keep these settings of [design]: {'; '.join(found.values())}. "
            f"Assign with {' '.join(found)}, or change study.toml."
        )
