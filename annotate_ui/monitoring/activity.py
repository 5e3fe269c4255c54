"""What raters have entered: values a day, their distribution, and the time that an item takes."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Connection

from study.facts.rating_progress import CampaignRecords
from study.facts.ratings import MEASURING, moments_entered


@dataclass(frozen=True)
class RaterActivity:
    """What one rater has entered, without training."""

    rater: str
    days: Mapping[date, int]
    """Values, by the day in UTC on which they were first entered."""
    minutes: tuple[float, ...]
    """Active minutes of each finished response for which the time is known."""
    values: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Values that count, by construct."""
    others: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Values of other raters that count, on the same responses, by construct."""

    @property
    def quartiles(self) -> tuple[float, float, float] | None:
        """Quartiles of the minutes; None where no time is known."""
        if not self.minutes:
            return None
        low, middle, high = np.quantile(self.minutes, (0.25, 0.5, 0.75)).tolist()
        return low, middle, high

    def as_json(self) -> dict[str, Any]:
        """Return the counts and times as values for JSON."""
        return {
            "rater": self.rater,
            "days": {day.isoformat(): count for day, count in self.days.items()},
            "timed_responses": len(self.minutes),
            "minutes_quartiles": self.quartiles,
        }


def activity(connection: Connection, records: CampaignRecords) -> tuple[RaterActivity, ...]:
    """Return what each rater has entered, in the order of the first value."""
    entered = records.ratings[
        records.ratings["answered"] & records.ratings["purpose"].ne("training")
    ]
    days = _days(connection, entered)
    minutes = _minutes(records, entered)
    counting = entered[
        entered["counts"] & entered["value"].notna() & entered["purpose"].isin(MEASURING)
    ]
    by_construct: dict[Any, pd.DataFrame] = dict(iter(counting.groupby("construct")))
    by_rater: dict[Any, pd.DataFrame] = dict(iter(counting.groupby("rater")))
    found = []
    for rater in entered["rater"].drop_duplicates():
        own = by_rater.get(rater, counting.iloc[:0])
        values, others = {}, {}
        for construct, rows in own.groupby("construct", sort=False):
            same = by_construct[construct]
            same = same[same["response"].isin(rows["response"]) & same["rater"].ne(rater)]
            values[str(construct)] = tuple(rows["value"].tolist())
            others[str(construct)] = tuple(same["value"].tolist())
        found.append(
            RaterActivity(rater, days[rater], tuple(minutes.get(rater, ())), values, others)
        )
    return tuple(found)


def values_a_day(activities: tuple[RaterActivity, ...]) -> dict[date, int]:
    """Return the values of all raters by day, without the days that have none."""
    total: Counter[date] = Counter()
    for rater in activities:
        total.update(rater.days)
    return dict(sorted(total.items()))


def _days(connection: Connection, entered: pd.DataFrame) -> dict[str, dict[date, int]]:
    first = entered["order"].map(moments_entered(connection))
    counts: dict[str, Counter[date]] = defaultdict(Counter)
    for rater, moment in zip(entered["rater"], first, strict=True):
        counts[rater][moment.date()] += 1
    return {rater: dict(sorted(by_day.items())) for rater, by_day in counts.items()}


def _minutes(records: CampaignRecords, entered: pd.DataFrame) -> dict[str, list[float]]:
    assignments = records.assignments
    done = assignments.loc[
        assignments["entered"].ge(assignments["expected"]) & assignments["expected"].gt(0),
        "assignment",
    ]
    finished = entered[entered["assignment"].isin(done)]
    seconds = finished.groupby("assignment")["active_seconds"].sum(min_count=1).dropna()
    rater_of = dict(zip(finished["assignment"], finished["rater"], strict=True))
    minutes: dict[str, list[float]] = defaultdict(list)
    for assignment, total in seconds.items():
        minutes[rater_of[assignment]].append(float(total) / 60)
    return minutes
