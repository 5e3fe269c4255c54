"""Progress of a campaign: what was assigned, what was entered, and what counts.

`ccrs status`, `ccrs watch` and the owner's pages all use this module.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

import numpy as np
import pandas as pd
from sqlalchemy import ColumnElement, Connection, case, func, select

from study.facts.active_time import active_seconds
from study.facts.label_studio_left import left_in_label_studio
from study.facts.links import is_live_link
from study.facts.passages_opened import passages_opened
from study.facts.ratings import MEASURING, counted_ratings, is_of_owner, rated_again
from study.facts.slots import (
    OWN_CHANNEL,
    is_further,
    is_handed_on,
    is_live,
    is_live_comparison,
    is_released,
)
from study.schema.database import read_frame
from study.schema.tables import (
    assignments,
    closing_answers,
    comparisons as comparison_table,
    decisions,
    invitations,
    raters,
    ratings,
    responses,
    reveals,
)

Link = Literal["none", "live", "revoked"]


@dataclass(frozen=True)
class RaterProgress:
    """Counts of one rater. A value is one construct of one response, given or declined."""

    rater: str
    responses: int
    """Assigned responses; a repeat counts again, a slot that is not live if it has a value."""
    responses_done: int
    """Those with a value of every construct, whether it counts or not."""
    values: int
    """Those that count; without training, as the rater's own pages count."""
    values_expected: int
    """Those assigned, without training; a response that the rater is asked for twice, repeats
    aside, counts once."""
    after_reveal: int
    """Values entered after the reveal: kept, and counted in no figure of agreement."""
    cannot_judge: int
    skipped: int
    late: int
    """Values that were saved after the lease had run out."""
    comparisons: int
    comparisons_done: int
    last_activity: datetime | None
    """When something was saved or shown last."""
    link: Link
    own_left: int
    """Values left to enter on the project's own pages, and comparisons."""
    label_studio_left: int
    """Open tasks in Label Studio, which any rater may take, that this rater has not done."""

    def as_json(self) -> dict[str, Any]:
        """Return the counts as values for JSON; times as in ISO 8601."""
        return {
            name: value.isoformat(timespec="seconds") if isinstance(value, datetime) else value
            for name, value in asdict(self).items()
        }


@dataclass(frozen=True)
class RatingProgress:
    """Everything that was assigned, and how much of it is done."""

    raters: list[RaterProgress]
    values: int
    """Those that count, without training."""
    values_expected: int
    """Those of open slots included, without training."""
    open_slots: int
    """Responses that wait for a rater who is not known yet, on the project's own pages."""
    open_elsewhere: int = 0
    """Those that wait for one in another place, such as Label Studio."""
    after_reveal: int = 0
    """Values entered after the reveal: kept, and counted in no figure of agreement."""
    seen_more: int = 0
    """Values that count and were given by raters who had been shown more of the query before."""
    passages_shown: int = 0
    """Values that count and whose pages record whether a passage was opened before."""
    passages_unopened: int = 0
    """Those of them that were given before any passage was opened."""
    recognized: dict[str, int] = field(default_factory=dict)
    """Raters by their last word on whether they recognized a system: yes, no or unsure."""

    def as_json(self) -> dict[str, Any]:
        """Return the counts as values for JSON."""
        return {**asdict(self), "raters": [rater.as_json() for rater in self.raters]}


@dataclass(frozen=True)
class CampaignRecords:
    """Assignments and ratings of a campaign, read at one moment; a row each."""

    assignments: pd.DataFrame
    """`assignment`, `rater_id`, `rater` (its code), `response` and `query` (database keys),
    `construct_keys` (those of study.toml), `purpose`, `round`, `repeat`, `channel`, `created_at`,
    `released_at`, `released`, `handed_on`, `further`, `live`; and numbers of constructs: `entered`
    (with an answer), `counted` (of these, with one that counts), `after_reveal` (with one first
    entered after the reveal), `expected`, `values_expected` (of these, without those that the
    rater is asked for in another assignment). `open`: fewer are entered than expected."""
    expected: pd.DataFrame
    """Constructs of assignments: all of a live slot, and those of another slot that have an answer.
    `assignment`, `construct`; `once`: no row above is of the same rater, response and construct,
    since one rating of them counts."""
    ratings: pd.DataFrame
    """The revision that counts of each rating on the current version of its construct:
    `assignment`, `construct`, `value`, `status`, `late`, `seen_more`, `order` (rises as ratings
    were first entered), `active_seconds` (sum over revisions, see
    `study.facts.active_time`), `saved_at`, `rater_id`, `rater`,
    `response`, `query`, `purpose`, `round`, `repeat`, `passages_opened` (see
    `study.facts.passages_opened`); `answered`: not withdrawn;
    `after_reveal`: first entered after the reveal, so that it is kept and not counted; `counts`:
    neither that, nor withdrawn, nor a second rating of the same response by its rater."""
    comparing_seconds: Mapping[int, float]
    """Active seconds of each rater's comparisons, by `rater_id`."""


def read_records(
    connection: Connection, versions: Mapping[str, int], *conditions: ColumnElement[bool]
) -> CampaignRecords:
    """Read the assignments and ratings of a campaign.

    `versions` are the current versions of the constructs of study.toml; others are not asked for
    any more. `conditions` are as in `newest_ratings`.
    """
    assignments = _assignments(connection, versions)
    seconds = active_seconds(connection)
    ratings = _ratings(connection, versions, *conditions)
    tasks = zip(ratings["assignment"], ratings["construct"], strict=True)
    ratings["active_seconds"] = [seconds.by_rating.get(task, np.nan) for task in tasks]
    entered = ratings[ratings["answered"]]
    expected = _expected(assignments, entered)
    for name, rows in (
        ("entered", entered),
        ("counted", entered[entered["counts"]]),
        ("after_reveal", entered[entered["after_reveal"]]),
        ("expected", expected),
        ("values_expected", expected[expected["once"]]),
    ):
        counts = rows.groupby("assignment").size()
        assignments[name] = assignments["assignment"].map(counts).fillna(0).astype(int)
    assignments["open"] = assignments["entered"] < assignments["expected"]
    current = ratings["construct_version"] == ratings["construct"].map(versions)
    ratings = ratings[current].drop(columns="construct_version")
    return CampaignRecords(assignments, expected, ratings, seconds.comparing)


def _expected(assignments: pd.DataFrame, entered: pd.DataFrame) -> pd.DataFrame:
    asked = assignments.loc[assignments["live"], ["assignment", "construct_keys"]]
    asked = asked.explode("construct_keys").dropna()
    asked = asked.rename(columns={"construct_keys": "construct"})
    columns = ["assignment", "construct"]
    expected = pd.concat([entered[columns], asked], ignore_index=True).drop_duplicates(columns)
    expected = expected.sort_values("assignment", kind="stable", ignore_index=True)
    task = ["rater_id", "response", "purpose", "repeat"]
    slot_values = expected.join(assignments.set_index("assignment")[task], on="assignment")
    # As in `rated_again`. Open slots are each for another rater.
    measuring = slot_values[
        slot_values["purpose"].isin(MEASURING) & slot_values["rater_id"].notna()
    ]
    again = measuring.duplicated(["rater_id", "response", "repeat", "construct"])
    return expected.assign(once=~expected.index.isin(again.index[again]))


def rating_progress(connection: Connection, versions: Mapping[str, int]) -> RatingProgress | None:
    """Count what was assigned and what is done; None where nothing was assigned.

    `versions` are as in `read_records`.
    """
    records = read_records(connection, versions)
    work = records.assignments
    if work.empty:
        return None
    waiting = work[work["rater_id"].isna() & (work["expected"] > 0)]
    on_own_pages = waiting["channel"] == OWN_CHANNEL
    ratings = records.ratings
    measuring = ratings["counts"] & ratings["purpose"].isin(MEASURING) & ratings["value"].notna()
    opened = ratings.loc[measuring, "passages_opened"]
    measured = work["purpose"] != "training"
    return RatingProgress(
        raters=rater_progress(connection, records),
        values=int(work.loc[measured, "counted"].sum()),
        values_expected=int(work.loc[measured, "values_expected"].sum()),
        open_slots=int(on_own_pages.sum()),
        open_elsewhere=int((~on_own_pages).sum()),
        after_reveal=int(work["after_reveal"].sum()),
        seen_more=int((ratings["seen_more"] & ratings["counts"]).sum()),
        passages_shown=int(opened.notna().sum()),
        passages_unopened=int(opened.eq("no").sum()),
        recognized=_recognized(connection),
    )


def rater_progress(connection: Connection, records: CampaignRecords) -> list[RaterProgress]:
    """Return the progress of every rater, in the order of the numbers in their codes."""
    people = {row.id: row.code for row in connection.execute(select(raters.c.id, raters.c.code))}
    links, active, compared = (
        _links(connection),
        _last_activity(connection),
        comparisons(connection),
    )
    work = records.assignments
    done = (work["expected"] > 0) & ~work["open"]
    measured = work["purpose"] != "training"
    left = (work["expected"] - work["entered"]).where(work["channel"] == OWN_CHANNEL, 0)
    columns = {
        "responses": work["expected"] > 0,
        "responses_done": done,
        "values": work["counted"].where(measured, 0),
        "values_expected": work["values_expected"].where(measured, 0),
        "after_reveal": work["after_reveal"],
        "own_left": left,
    }
    sums = pd.DataFrame(columns).astype(int).groupby(work["rater_id"]).sum()
    entered = records.ratings[records.ratings["answered"]]
    answer_counts = pd.DataFrame(
        {
            "cannot_judge": entered["status"] == "cannot_judge",
            "skipped": entered["status"] == "skipped",
            "late": entered["late"],
        }
    )
    sums = sums.join(answer_counts.astype(int).groupby(entered["rater_id"]).sum(), how="outer")
    counts = sums.reindex(list(people)).fillna(0).astype(int).to_dict("index")
    in_label_studio = left_in_label_studio(connection)
    progress = []
    for id_ in sorted(people, key=lambda id_: _by_number(people[id_])):
        decided, total = compared.get(id_, (0, 0))
        number: dict[str, int] = {str(name): count for name, count in counts[id_].items()}
        number["own_left"] += total - decided
        progress.append(
            RaterProgress(
                rater=people[id_],
                comparisons=total,
                comparisons_done=decided,
                last_activity=active.get(id_),
                link=links.get(id_, "none"),
                label_studio_left=in_label_studio.get(id_, 0),
                **number,
            )
        )
    return progress


def comparisons(connection: Connection) -> dict[int, tuple[int, int]]:
    """Return for each rater how many comparisons are decided, of how many."""
    decided = select(decisions.c.comparison_id).distinct().subquery()
    rows = connection.execute(
        select(
            comparison_table.c.rater_id,
            func.count(decided.c.comparison_id),
            # Comparisons that were released undecided are not expected any more.
            func.count(case((decided.c.comparison_id.is_not(None), 1), (is_live_comparison(), 1))),
        )
        .join_from(
            comparison_table,
            decided,
            decided.c.comparison_id == comparison_table.c.id,
            isouter=True,
        )
        .group_by(comparison_table.c.rater_id)
    )
    return {rater: (int(done), int(total)) for rater, done, total in rows}


def _assignments(connection: Connection, versions: Mapping[str, int]) -> pd.DataFrame:
    frame = read_frame(
        connection,
        select(
            assignments.c.id.label("assignment"),
            assignments.c.rater_id,
            raters.c.code.label("rater"),
            assignments.c.response_id.label("response"),
            responses.c.query_id.label("query"),
            assignments.c.construct_keys,
            assignments.c.purpose,
            assignments.c.round,
            assignments.c.repeat,
            assignments.c.channel,
            assignments.c.created_at,
            assignments.c.released_at,
            is_released().label("released"),
            is_handed_on().label("handed_on"),
            is_further().label("further"),
            is_live().label("live"),
        )
        .join_from(assignments, responses, assignments.c.response_id == responses.c.id)
        .join(raters, assignments.c.rater_id == raters.c.id, isouter=True)
        .order_by(assignments.c.id),
    )
    frame["construct_keys"] = [
        tuple(key for key in keys if key in versions) for keys in frame["construct_keys"]
    ]
    # Never released: unknown to the database, and not a further slot.
    frame["further"] = frame["further"].eq(True)
    return frame.astype({"released": "bool", "handed_on": "bool", "live": "bool"})


def _ratings(
    connection: Connection, versions: Mapping[str, int], *conditions: ColumnElement[bool]
) -> pd.DataFrame:
    counted = counted_ratings(*conditions)
    frame = read_frame(
        connection,
        select(
            counted.c.assignment_id.label("assignment"),
            counted.c.construct_key.label("construct"),
            counted.c.construct_version,
            counted.c.value,
            counted.c.status,
            counted.c.late,
            counted.c.seen_more,
            counted.c.channel,
            counted.c.revealed,
            counted.c.created_at,
            counted.c.first_id.label("order"),
            counted.c.saved_at,
            counted.c.answered,
            counted.c.entered_after_reveal.label("after_reveal"),
            assignments.c.rater_id,
            raters.c.code.label("rater"),
            assignments.c.response_id.label("response"),
            responses.c.query_id.label("query"),
            assignments.c.purpose,
            assignments.c.round,
            assignments.c.repeat,
        )
        .join_from(counted, assignments, counted.c.assignment_id == assignments.c.id)
        .join(responses, responses.c.id == assignments.c.response_id)
        .join(raters, raters.c.id == assignments.c.rater_id)
        .where(counted.c.construct_key.in_(sorted(versions)))
        .order_by(counted.c.first_id),
    )
    flags = dict.fromkeys(("late", "seen_more", "answered", "after_reveal"), "bool")
    frame = frame.astype({"value": "float64", **flags})
    current = frame["construct_version"] == frame["construct"].map(versions)
    # As in the score table. Ratings of training or checks are not compared with others.
    measuring = frame[frame["purpose"].isin(MEASURING)].sort_values(["assignment", "order"])
    by_scorer = measuring.rename(columns={"rater_id": "scorer"})
    again = rated_again(by_scorer, by_scorer["answered"])
    second = frame.index.isin(again.index[again])
    frame["counts"] = current & ~frame["after_reveal"] & frame["answered"] & ~second
    frame["passages_opened"] = passages_opened(connection, frame)
    return frame.drop(columns=["channel", "revealed", "created_at"])


def _recognized(connection: Connection) -> dict[str, int]:
    rows = connection.execute(
        select(closing_answers.c.rater_id, closing_answers.c.recognized).order_by(
            closing_answers.c.id
        )
    )
    last = {row.rater_id: str(row.recognized) for row in rows}
    return dict(sorted(Counter(last.values()).items()))


def _last_activity(connection: Connection) -> dict[int, datetime]:
    """Return when each rater was last shown or saved something."""
    latest_by_rater: dict[int, datetime] = {}
    for noun, owner, key in (
        (ratings, assignments, "assignment_id"),
        (reveals, assignments, "assignment_id"),
        (decisions, comparison_table, "comparison_id"),
    ):
        latest = func.max(noun.c.created_at, type_=noun.c.created_at.type)
        newest = (
            select(owner.c.rater_id, latest)
            .join_from(noun, owner, noun.c[key] == owner.c.id)
            .group_by(owner.c.rater_id)
        )
        rows = connection.execute(newest if noun is not ratings else newest.where(~is_of_owner()))
        for rater, moment in rows:
            latest_by_rater[rater] = max(
                moment, latest_by_rater.get(rater, datetime.min.replace(tzinfo=UTC))
            )
    return latest_by_rater


def _links(connection: Connection) -> dict[int, Link]:
    live = func.count().filter(is_live_link())
    rows = connection.execute(select(invitations.c.rater_id, live).group_by(invitations.c.rater_id))
    return {rater: "live" if count else "revoked" for rater, count in rows}


def _by_number(code: str) -> tuple[tuple[str, int], ...]:
    """Return a key that puts rater-2 before rater-10."""
    pieces = re.findall(r"(\D*)(\d*)", code)
    return tuple((text, int(number or 0)) for text, number in pieces)
