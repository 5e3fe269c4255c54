"""What of a campaign needs the owner's hand, most urgent first, each with what helps."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np
import pandas as pd

from analysis.statistics.reliability.two_way import rater_groups
from annotate_ui.monitoring.careless_responding import RaterSignals
from annotate_ui.monitoring.rater_status import RaterStatus
from study.schema import now
from study.study import Study

IDLE = timedelta(days=3)
"""A rater with open work is idle from then on."""

_RANKED = (
    "paused",
    "training_failed",
    "training_stuck",
    "no_live_link",
    "lacking_training",
    "lacking_checks",
    "nobodys",
    "checks_missed",
    "straight_lining",
    "little_variation",
    "too_fast",
    "low_agreement",
    "many_missing",
    "idle",
    "unconnected",
    "interval_wide",
)


@dataclass(frozen=True)
class NeedsAHand:
    """One thing that the owner should see to."""

    code: str
    """What it is: one of the documented words."""
    who: str | None
    """The rater's or the construct's code; null where it concerns the campaign."""
    words: str
    command: str | None
    """What helps, or shows more."""


def needs_a_hand(
    study: Study,
    raters: Sequence[RaterStatus],
    signals: Sequence[RaterSignals],
    material: Sequence[tuple[str, str]],
    given: pd.DataFrame,
    *,
    nobodys: int,
    stopping: Mapping[str, Any] | None,
    paused: bool,
) -> tuple[NeedsAHand, ...]:
    """Return what needs a hand; `stopping` is what the last look at the rule showed."""
    folder = study.folder
    gone = {one.rater for one in raters if one.phase == "left"}
    found = [
        *_of_raters(study, raters, paused),
        *_of_signals(study, [one for one in signals if one.rater not in gone]),
        *_of_stopping(study, stopping),
    ]
    if paused:
        words = "the campaign is paused: nothing new is opened for raters"
        found.append(NeedsAHand("paused", None, words, f"ccrs pause {folder} --resume"))
    for what, words in material:
        found.append(NeedsAHand(f"lacking_{what}", None, words, f"ccrs import {folder} FILE"))
    if nobodys:
        words = f"{_counted(nobodys, 'place')} of raters who left: nobody has taken over yet"
        found.append(NeedsAHand("nobodys", None, words, f"ccrs assign {folder}"))
    apart = _unconnected(given)
    if apart is not None:
        found.append(NeedsAHand("unconnected", None, apart, f"ccrs assign {folder}"))
    return tuple(sorted(found, key=lambda one: _RANKED.index(one.code)))


def _of_raters(study: Study, raters: Sequence[RaterStatus], paused: bool) -> Iterator[NeedsAHand]:
    folder = study.folder
    for one in raters:
        training = one.training
        if one.phase == "training_failed":
            share = "" if training is None or training.share is None else f" ({training.share:.0%})"
            words = f"failed the training in all attempts{share}"
            yield NeedsAHand(
                one.phase, one.rater, words, f"ccrs watch {folder} --readmit {one.rater}"
            )
        elif one.phase == "training" and training is not None and training.share is not None:
            words = (
                f"has not passed the training after {_counted(training.attempt, 'attempt')} of "
                f"{training.attempts} ({training.share:.0%} of the values met)"
            )
            yield NeedsAHand("training_stuck", one.rater, words, f"ccrs watch {folder}")
        if one.phase in {"left", "training_failed"}:
            continue
        remove = f"ccrs watch {folder} --remove {one.rater}"
        if not one.own_left:
            if one.waiting_since is not None and not paused:
                days = (now() - one.waiting_since).days
                if days >= IDLE.days:
                    words = f"enrolled and has begun nothing for {days} days; holds a place"
                    yield NeedsAHand("idle", one.rater, words, remove)
            continue
        if one.link != "live":
            had = "has no link" if one.link == "none" else "has a revoked link"
            words = f"{had} and {_counted(one.own_left, 'value')} to give"
            yield NeedsAHand("no_live_link", one.rater, words, f"ccrs invite {folder} {one.rater}")
        elif one.waiting_since is not None and not paused:
            patience = IDLE
            if one.phase == "repeats":
                patience += timedelta(hours=study.config.design.repeat_after_hours)
            idle = now() - one.waiting_since
            if idle > patience:
                words = f"idle for {idle.days} days with {_counted(one.own_left, 'value')} to give"
                yield NeedsAHand("idle", one.rater, words, remove)


def _of_signals(study: Study, signals: Sequence[RaterSignals]) -> Iterator[NeedsAHand]:
    for one in signals:
        kinds: dict[str, list[str]] = {}
        for signal in one.flagged:
            place = f"{signal.construct}: " if signal.construct else ""
            kinds.setdefault(signal.kind, []).append(f"{place}{signal.words}")
        for kind, words in kinds.items():
            more = f" (and on {len(words) - 1} more)" if len(words) > 1 else ""
            yield NeedsAHand(
                kind, one.rater, f"{words[0]}{more}", f"ccrs watch {study.folder} --json"
            )


def _of_stopping(study: Study, stopping: Mapping[str, Any] | None) -> Iterator[NeedsAHand]:
    for one in (stopping or {}).get("constructs", ()):
        if one["stop"] or one["half_width"] is None:
            continue
        more = f"; about {_counted(one['more'], 'more query')} expected" if one["more"] else ""
        words = (
            f"{one['half_width']:.3g} points to each side at the last look, wanted "
            f"{one['wanted']:g}{more}"
        )
        command = f"ccrs watch {study.folder} --stopping"
        yield NeedsAHand("interval_wide", one["construct"], words, command)


def _unconnected(given: pd.DataFrame) -> str | None:
    """Return that raters fall apart into groups that share no response; None where they don't."""
    main = given[
        (given["purpose"] == "main")
        & (given["repeat"] == 0)
        & given["rater"].notna()
        & (given["expected"] > 0)
    ]
    if main["rater"].nunique() < 2:
        return None
    shared = pd.crosstab(main["response"], main["rater"]).to_numpy(dtype=np.float64)
    groups = rater_groups(np.where(shared > 0, 0.0, np.nan))
    parts = int(groups.max(initial=-1)) + 1
    if parts < 2:
        return None
    return (
        f"raters fall into {parts} groups that share no response: how severe they are can't be "
        "compared between groups"
    )


def _counted(count: int, one: str) -> str:
    many = f"{one[:-1]}ies" if one.endswith("query") else f"{one}s"
    return f"{count:,} {one if count == 1 else many}"
