"""How far a campaign is, by rater, item and construct, and what of it needs a hand."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from annotate_ui.monitoring.action_items import NeedsAHand, needs_a_hand
from annotate_ui.monitoring.careless_responding import RaterSignals, rater_signals
from annotate_ui.monitoring.item_progress import ItemProgress, item_progress
from annotate_ui.monitoring.material import lacking_material
from annotate_ui.monitoring.rater_status import RaterStatus, rater_statuses
from annotate_ui.participation import paused
from study.facts.rating_progress import CampaignRecords, read_records
from study.study import Study


@dataclass(frozen=True)
class ConstructProgress:
    """One construct, over the values that measure."""

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
    """Everything that the owner of a campaign watches, figures of agreement excepted."""

    raters: tuple[RaterStatus, ...]
    items: tuple[ItemProgress, ...]
    constructs: tuple[ConstructProgress, ...]
    needs_a_hand: tuple[NeedsAHand, ...]
    """Most urgent first."""
    paused: bool

    def as_json(self) -> dict[str, Any]:
        """Return the progress as values that JSON can hold."""
        return {
            "paused": self.paused,
            "needs_a_hand": [asdict(one) for one in self.needs_a_hand],
            "raters": [one.as_json() for one in self.raters],
            "items": [asdict(one) for one in self.items],
            "constructs": [asdict(one) for one in self.constructs],
        }


def campaign_progress(
    study: Study, signals: Sequence[RaterSignals] | None = None
) -> CampaignProgress:
    """Return how far a campaign is.

    `signals` are those of `rater_signals`, where the caller has them already.
    """
    from annotate_ui.monitoring.interim_analysis import newest

    signals = rater_signals(study) if signals is None else signals
    stopping = newest(study, "stopping")
    with study.read() as connection:
        records = read_records(connection, study.construct_versions(connection))
        raters = rater_statuses(connection, study, records)
        items = item_progress(connection, records.assignments)
        material = lacking_material(connection, study.config.design)
        is_paused = paused(connection) is not None
    return CampaignProgress(
        tuple(raters),
        items,
        _constructs(study, records),
        needs_a_hand(
            study,
            raters,
            signals,
            material,
            records.assignments,
            nobodys=sum(item.nobodys for item in items),
            stopping=None if stopping is None else stopping.stopping,
            paused=is_paused,
        ),
        is_paused,
    )


def _constructs(study: Study, records: CampaignRecords) -> tuple[ConstructProgress, ...]:
    assignments = records.assignments
    assignments = assignments[assignments["purpose"].isin(["main", "repeat"])]
    ratings = records.ratings
    ratings = ratings[ratings["assignment"].isin(assignments["assignment"])]
    entered = ratings[ratings["status"] != "withdrawn"]
    live = ~(assignments["handed_on"] | assignments["released"])
    progress = []
    for construct in study.config.constructs:
        of_construct = entered[entered["construct"] == construct.key]
        asked = [construct.key in keys for keys in assignments["construct_keys"]]
        rated = assignments["assignment"].isin(of_construct["assignment"])
        expected = pd.Series(asked, assignments.index, dtype=bool) & (live | rated)
        progress.append(
            ConstructProgress(
                construct=construct.key,
                values=int(of_construct["counts"].sum()),
                expected=int(expected.sum()),
                after_reveal=int(of_construct["after_reveal"].sum()),
                cannot_judge=int((of_construct["status"] == "cannot_judge").sum()),
                skipped=int((of_construct["status"] == "skipped").sum()),
            )
        )
    return tuple(progress)
