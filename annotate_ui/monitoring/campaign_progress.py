"""Progress of a campaign, by rater, response and construct, and the action items that follow."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import pandas as pd
from sqlalchemy import Connection, select

from annotate_ui.monitoring.action_items import ActionItem, action_items
from annotate_ui.monitoring.activity import RaterActivity, activity
from annotate_ui.monitoring.careless_responding import RaterSignals, rater_signals
from annotate_ui.monitoring.expected_material import lacking_material
from annotate_ui.monitoring.interim_analysis import newest
from annotate_ui.monitoring.rater_status import RaterStatus, rater_statuses
from annotate_ui.participants.enrolment_links import LinkState, list_links
from annotate_ui.participants.invitation import more_slots
from annotate_ui.participation import paused
from study.facts.rating_progress import CampaignRecords, read_records
from study.facts.ratings import MEASURING, values_so_far
from study.schema import now
from study.schema.tables import queries, responses
from study.study import Study

# Values. With fewer, a snapshot is computed before another process would have started.
_LARGE = 3000


@dataclass(frozen=True)
class ItemProgress:
    """One response: how many raters have finished it."""

    response: str
    query: str
    finished: int
    required: int
    """Raters that it was assigned to, with open slots and vacant places."""
    vacant: int
    """Of those required: places of raters who left and of rejected work, which nobody else has."""


@dataclass(frozen=True)
class ConstructProgress:
    """One construct, over the assignments that measure."""

    construct: str
    values: int
    """Those that count."""
    expected: int
    after_reveal: int
    """Values entered after the reveal: kept, and counted in no figure of agreement."""
    cannot_judge: int
    skipped: int


@dataclass(frozen=True)
class CampaignProgress:
    """Everything that the owner of a campaign monitors, except figures of agreement."""

    raters: tuple[RaterStatus, ...]
    items: tuple[ItemProgress, ...]
    constructs: tuple[ConstructProgress, ...]
    action_items: tuple[ActionItem, ...]
    """Most urgent first."""
    activity: tuple[RaterActivity, ...]
    """Of raters who have entered a value."""
    links: tuple[LinkState, ...]
    """Enrolment links, with the slots that their raters can still take."""
    paused: bool

    def as_json(self) -> dict[str, Any]:
        """Return the progress as values that JSON can represent."""
        return {
            "paused": self.paused,
            "action_items": [asdict(item) for item in self.action_items],
            "raters": [rater.as_json() for rater in self.raters],
            "items": [asdict(item) for item in self.items],
            "constructs": [asdict(construct) for construct in self.constructs],
            "links": [link.as_json() for link in self.links],
            "activity": [rater.as_json() for rater in self.activity],
        }


@dataclass(frozen=True)
class Snapshot:
    """The state of a campaign at one moment."""

    at: datetime
    progress: CampaignProgress
    signals: dict[str, RaterSignals]
    """By the rater's code."""


def snapshot(study: Study) -> Snapshot:
    """Return the present state of a campaign."""
    at = now()
    signals = rater_signals(study)
    by_rater = {rater.rater: rater for rater in signals}
    return Snapshot(at, campaign_progress(study, signals), by_rater)


def is_large(study: Study) -> bool:
    """Return whether a snapshot takes so long that raters would wait for the processor."""
    with study.read() as connection:
        return values_so_far(connection) > _LARGE


def campaign_progress(
    study: Study, signals: Sequence[RaterSignals] | None = None
) -> CampaignProgress:
    """Return the progress of a campaign.

    `signals` are those of `rater_signals`, where the caller has them already.
    """
    signals = rater_signals(study) if signals is None else signals
    stopping = newest(study, "stopping")
    links = list_links(study)
    idle_links = [link.name for link in links if link.open and not link.free_slots]
    with study.read() as connection:
        records = read_records(connection, study.construct_versions(connection))
        raters = rater_statuses(connection, study, records)
        items = item_progress(connection, records.assignments)
        lacking = lacking_material(connection, study.config.design)
        is_paused = paused(connection) is not None
        entered = activity(connection, records)
    return CampaignProgress(
        tuple(raters),
        items,
        _constructs(study, records),
        action_items(
            study,
            raters,
            signals,
            lacking,
            records.assignments,
            vacant=sum(item.vacant for item in items),
            idle_links=idle_links,
            more_slots=more_slots(study) if idle_links else "",
            stopping=None if stopping is None else stopping.stopping,
            paused=is_paused,
        ),
        entered,
        tuple(links),
        is_paused,
    )


def _constructs(study: Study, records: CampaignRecords) -> tuple[ConstructProgress, ...]:
    assignments, ratings = records.assignments, records.ratings
    measuring = assignments.loc[assignments["purpose"].isin(MEASURING), "assignment"]
    entered = ratings[ratings["answered"] & ratings["assignment"].isin(measuring)]
    expected = records.expected
    expected = expected[expected["once"] & expected["assignment"].isin(measuring)]
    progress = []
    for construct in study.config.constructs:
        construct_rows = entered[entered["construct"] == construct.key]
        progress.append(
            ConstructProgress(
                construct=construct.key,
                values=int(construct_rows["counts"].sum()),
                expected=int((expected["construct"] == construct.key).sum()),
                after_reveal=int(construct_rows["after_reveal"].sum()),
                cannot_judge=int((construct_rows["status"] == "cannot_judge").sum()),
                skipped=int((construct_rows["status"] == "skipped").sum()),
            )
        )
    return tuple(progress)


def item_progress(connection: Connection, assignments: pd.DataFrame) -> tuple[ItemProgress, ...]:
    """Return each response that is assigned to be rated, in the order of the study."""
    rows = connection.execute(
        select(responses.c.id, responses.c.key, queries.c.key.label("query"))
        .join_from(responses, queries, responses.c.query_id == queries.c.id)
        .order_by(queries.c.id, responses.c.id)
    )
    main = assignments[
        (assignments["purpose"] == "main")
        & (assignments["repeat"] == 0)
        & ~assignments["handed_on"]
    ]
    by_response: dict[int, list[Any]] = defaultdict(list)
    slots: list[Any] = list(main.itertuples())
    for slot in slots:
        by_response[slot.response].append(slot)
    return tuple(
        ItemProgress(row.key, row.query, *_counts(by_response[row.id]))
        for row in rows
        if row.id in by_response
    )


def _counts(slots: list[Any]) -> tuple[int, int, int]:
    """Return how many raters finished, how many are required, and how many places are vacant."""
    unfinished = [s for s in slots if s.released and s.entered < len(s.construct_keys)]
    given_back = {s.assignment for s in unfinished}
    unfinished = [s for s in unfinished if not s.further]
    live = [s for s in slots if s.assignment not in given_back]
    vacant = _most(_uncovered(unfinished, live))
    by_rater: dict[int, list[bool]] = defaultdict(list)
    for slot in live:
        if slot.rater is not None:
            by_rater[slot.rater].append(slot.entered >= len(slot.construct_keys))
    finished = sum(all(done) for done in by_rater.values())
    # One construct a pass: a rater has several slots for a response, each on its constructs.
    required = _most(key for slot in live for key in slot.construct_keys)
    return finished, required + vacant, vacant


def _uncovered(released: list[Any], live: list[Any]) -> Iterator[str]:
    """Yield the constructs of slots that were taken back and not replaced by a later slot."""
    used: set[int] = set()
    for slot in sorted(released, key=lambda slot: slot.released_at):
        later = next(
            (
                other.assignment
                for other in live
                if other.assignment not in used
                and other.created_at > slot.released_at
                and set(other.construct_keys) & set(slot.construct_keys)
            ),
            None,
        )
        if later is None:
            yield from slot.construct_keys
        else:
            used.add(later)


def _most(keys: Iterable[str]) -> int:
    return max(Counter(keys).values(), default=0)
