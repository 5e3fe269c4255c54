"""How far a campaign is, by rater, item and construct, and what of it needs a hand."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from annotate_ui.monitoring.action_items import NeedsAHand, needs_a_hand
from annotate_ui.monitoring.careless_responding import RaterSignals, rater_signals
from annotate_ui.monitoring.item_progress import ItemProgress, item_progress
from annotate_ui.monitoring.material import lacking_material
from annotate_ui.monitoring.rater_status import CampaignRecords, RaterStatus, read_stored, standings
from annotate_ui.participation import paused
from study.study import Study


@dataclass(frozen=True)
class ConstructProgress:
    """One construct, over the values that measure."""

    construct: str
    values: int
    expected: int
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
        stored = read_stored(connection, study.construct_versions(connection))
        raters = standings(connection, study, stored)
        items = item_progress(connection, stored.given)
        material = lacking_material(connection, study.config.design)
        is_paused = paused(connection) is not None
    return CampaignProgress(
        tuple(raters),
        items,
        _constructs(study, stored),
        needs_a_hand(
            study,
            raters,
            signals,
            material,
            stored.given,
            nobodys=sum(item.nobodys for item in items),
            stopping=None if stopping is None else stopping.stopping,
            paused=is_paused,
        ),
        is_paused,
    )


def _constructs(study: Study, stored: CampaignRecords) -> tuple[ConstructProgress, ...]:
    given = stored.given[stored.given["purpose"].isin(["main", "repeat"])]
    said = stored.said[stored.said["assignment"].isin(given["assignment"])]
    gone = given["replaced"] | given["released"]
    found = []
    for construct in study.config.constructs:
        values = said[said["construct"] == construct.key]
        asked = [construct.key in keys for keys in given["construct_keys"]]
        answered = given["assignment"].isin(values["assignment"])
        found.append(
            ConstructProgress(
                construct=construct.key,
                values=len(values),
                expected=int(
                    (pd.Series(asked, given.index, dtype=bool) & (~gone | answered)).sum()
                ),
                cannot_judge=int((values["status"] == "cannot_judge").sum()),
                skipped=int((values["status"] == "skipped").sum()),
            )
        )
    return tuple(found)
