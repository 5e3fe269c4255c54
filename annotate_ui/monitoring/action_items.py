"""Action items: what the owner of a campaign should see to, most urgent first, with a command."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from shlex import quote
from typing import Any

import numpy as np
import pandas as pd

from analysis.statistics.reliability.two_way import rater_groups
from annotate_ui.monitoring.careless_responding import RaterSignals
from annotate_ui.monitoring.rater_status import RaterStatus
from study.schema import now
from study.study import Study
from study.text import counted

IDLE = timedelta(days=3)
"""A rater with open work is idle from then on."""

_RANKED = (
    "paused",
    "training_failed",
    "training_stuck",
    "no_live_link",
    "no_open_slots",
    "lacking_training",
    "lacking_checks",
    "vacant_places",
    "checks_missed",
    "straight_lining",
    "little_variation",
    "too_fast",
    "low_agreement",
    "many_missing",
    "passages_unopened",
    "idle",
    "unconnected",
    "interval_wide",
)


@dataclass(frozen=True)
class ActionItem:
    """One thing that the owner should see to."""

    code: str
    """One of the documented kinds."""
    subject: str | None
    """The rater, construct or enrolment link; null where it concerns the campaign."""
    text: str
    command: str | None
    """What helps, or shows more, quoted for a shell."""


def action_items(
    study: Study,
    raters: Sequence[RaterStatus],
    signals: Sequence[RaterSignals],
    lacking: Sequence[tuple[str, str]],
    assignments: pd.DataFrame,
    *,
    vacant: int,
    idle_links: Sequence[str] = (),
    more_slots: str = "",
    stopping: Mapping[str, Any] | None,
    paused: bool,
) -> tuple[ActionItem, ...]:
    """Return the action items of a campaign.

    Parameters
    ----------
    lacking
        What there is too little of, `training` or `checks`, each with a text.
    assignments
        As in `CampaignRecords`.
    vacant
        Places of raters who left, and of rejected work, which no other rater has.
    idle_links
        Open enrolment links for whose raters no open slot is left.
    more_slots
        The command that creates slots.
    stopping
        The newest result of the stopping rule.
    """
    folder = quote(str(study.folder))
    have_left = {rater.rater for rater in raters if rater.phase == "left"}
    items = [
        *_rater_items(study, raters, paused),
        *_signal_items(study, [rater for rater in signals if rater.rater not in have_left]),
        *_stopping_items(study, stopping),
    ]
    if paused:
        text = "The campaign is paused: nothing new is opened for raters"
        items.append(ActionItem("paused", None, text, f"ccrs pause {folder} --resume"))
    for material, text in lacking:
        items.append(ActionItem(f"lacking_{material}", None, text, f"ccrs import {folder} FILE"))
    for link in idle_links:
        text = "the enrolment link is open, and no open slot is left for raters who join by it"
        items.append(ActionItem("no_open_slots", link, text, more_slots))
    if vacant:
        places = counted(vacant, "place")
        text = f"{places} of raters who left or whose work was rejected, not taken over yet"
        items.append(ActionItem("vacant_places", None, text, f"ccrs assign {folder}"))
    unconnected = _unconnected(assignments)
    if unconnected is not None:
        items.append(ActionItem("unconnected", None, unconnected, f"ccrs assign {folder}"))
    return tuple(sorted(items, key=lambda item: _RANKED.index(item.code)))


def _rater_items(study: Study, raters: Sequence[RaterStatus], paused: bool) -> Iterator[ActionItem]:
    folder = quote(str(study.folder))
    for rater in raters:
        code, training = rater.rater, rater.training
        quoted = quote(code)
        if rater.phase == "training_failed":
            share = "" if training is None or training.share is None else f" ({training.share:.0%})"
            text = f"failed the training in all attempts{share}"
            yield ActionItem(
                "training_failed", code, text, f"ccrs invite {folder} --readmit {quoted}"
            )
        elif rater.phase == "training" and training is not None and training.share is not None:
            text = (
                f"has not passed the training after {counted(training.attempt, 'attempt')} of "
                f"{training.attempts} ({training.share:.0%} of the values in range)"
            )
            yield ActionItem("training_stuck", code, text, f"ccrs watch {folder}")
        if rater.phase in {"left", "training_failed"}:
            continue
        remove = f"ccrs invite {folder} --remove {quoted}"
        if not rater.own_left:
            if rater.waiting_since is not None and not paused:
                days = (now() - rater.waiting_since).days
                if days >= IDLE.days:
                    text = (
                        f"enrolled {days} days ago, has not begun, and keeps a place of the quota"
                    )
                    yield ActionItem("idle", code, text, remove)
            continue
        if rater.link != "live":
            link = "has no link" if rater.link == "none" else "has a revoked link"
            text = f"{link} and {counted(rater.own_left, 'value')} left to enter"
            yield ActionItem("no_live_link", code, text, f"ccrs invite {folder} {quoted}")
        elif rater.waiting_since is not None and not paused:
            patience = IDLE
            if rater.phase == "repeats":
                patience += timedelta(hours=study.config.design.repeat_after_hours)
            idle = now() - rater.waiting_since
            if idle > patience:
                text = (
                    f"idle for {idle.days} days, {counted(rater.own_left, 'value')} left to enter"
                )
                yield ActionItem("idle", code, text, remove)


def _signal_items(study: Study, signals: Sequence[RaterSignals]) -> Iterator[ActionItem]:
    command = f"ccrs watch {quote(str(study.folder))} --json"
    for rater in signals:
        texts: dict[str, list[str]] = {}
        for signal in rater.flagged:
            place = f"{signal.construct}: " if signal.construct else ""
            texts.setdefault(signal.kind, []).append(f"{place}{signal.explanation}")
        for kind, explanations in texts.items():
            further = len(explanations) - 1
            more = f" (and on {further} more)" if further else ""
            text = f"{explanations[0]}{more}"
            yield ActionItem(kind, rater.rater, text, command)


def _stopping_items(study: Study, stopping: Mapping[str, Any] | None) -> Iterator[ActionItem]:
    for state in (stopping or {}).get("constructs", ()):
        if state["stop"] or state["half_width"] is None:
            continue
        more = state["more_queries"]
        expected = f"; about {counted(more, 'more query', 'more queries')} expected" if more else ""
        text = (
            f"the interval was {state['half_width']:.3g} points to each side at the last interim "
            f"analysis, target {state['target']:g}{expected}"
        )
        command = f"ccrs watch {quote(str(study.folder))} --stopping"
        yield ActionItem("interval_wide", state["construct"], text, command)


def _unconnected(assignments: pd.DataFrame) -> str | None:
    """Return that raters form groups that share no response; None where they do not."""
    main = assignments[
        (assignments["purpose"] == "main")
        & (assignments["repeat"] == 0)
        & assignments["rater"].notna()
        & (assignments["expected"] > 0)
    ]
    if main["rater"].nunique() < 2:
        return None
    shared = pd.crosstab(main["response"], main["rater"]).to_numpy(dtype=np.float64)
    groups = rater_groups(np.where(shared > 0, 0.0, np.nan))
    parts = int(groups.max(initial=-1)) + 1
    if parts < 2:
        return None
    return (
        f"Raters form {parts} groups that share no response: their severity can't be compared "
        "between groups"
    )
