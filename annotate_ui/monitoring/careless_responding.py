"""How carefully each rater works, as far as the data can tell."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from annotate_ui.monitoring.agreement_with_others import (
    AgainstOthers,
    each_against_others,
    low_agreement,
)
from annotate_ui.monitoring.attention_checks import answered, checks_missed, stored_checks
from annotate_ui.monitoring.reading_pace import reading_shares, too_fast
from annotate_ui.monitoring.response_patterns import (
    ConstructValues,
    little_variation,
    many_missing,
    run_of,
    straight_lining,
    straight_lining_throughout,
)
from annotate_ui.monitoring.score_tables import people_and
from annotate_ui.monitoring.signal import Signal
from study.facts.rating_progress import read_records
from study.facts.score_table import score_table
from study.study import Study


@dataclass(frozen=True)
class RaterSignals:
    """The signals of one rater, by construct and for the work as a whole."""

    rater: str
    signals: tuple[Signal, ...]

    @property
    def flagged(self) -> tuple[Signal, ...]:
        """Those that the owner should look at."""
        return tuple(one for one in self.signals if one.verdict == "flagged")

    def as_json(self) -> dict[str, Any]:
        """Return the signals as values that JSON can hold."""
        return {"rater": self.rater, "signals": [one.as_json() for one in self.signals]}


def rater_signals(study: Study) -> list[RaterSignals]:
    """Return the signals of every rater who has rated, in order of their codes.

    Signals never exclude ratings: a rule for excluding ratings is declared in advance.
    """
    with study.read() as connection:
        versions = study.construct_versions(connection)
        said = read_records(connection, versions).ratings
        shares = reading_shares(connection, study.config, said)
        missed = answered(stored_checks(connection), said, study.config.constructs)
        frame = score_table(connection, versions)
    context = people_and(study, frame)
    against: dict[str, list[AgainstOthers]] = {}
    if context is not None:
        for one in each_against_others(context):
            against.setdefault(one.construct, []).append(one)
    main = said[(said["purpose"] == "main") & (said["repeat"] == 0)]
    by_construct = {str(key): _said(rows) for key, rows in main.groupby("construct", sort=False)}
    people = said.drop_duplicates("rater_id").set_index("rater_id")["rater"]
    found = []
    for rater_id, rater in people.sort_values().items():
        signals = [
            *_of_values(rater_id, by_construct, study.config.seed),
            too_fast(shares.get(rater, [])),
            checks_missed(missed.get(rater, [])),
            *_of_agreement(rater, against),
        ]
        found.append(RaterSignals(str(rater), tuple(signals)))
    return found


def _said(rows: pd.DataFrame) -> ConstructValues:
    # Arrays in place of a frame: a campaign has many raters, each held against all others.
    rater, response, query = (
        rows[name].to_numpy(dtype=np.int64) for name in ("rater_id", "response", "query")
    )
    return ConstructValues(rater, response, query, rows["value"].to_numpy(dtype=np.float64))


def _of_values(rater: Any, by_construct: dict[str, ConstructValues], seed: int) -> Iterator[Signal]:
    runs = []
    for construct, said in by_construct.items():
        mine = said.rater == rater
        if mine.any():
            own, others = said.where(mine), said.where(~mine)
            run = run_of(own, seed)
            runs += [run] if run is not None else []
            yield straight_lining(run, own, construct)
            yield little_variation(own, others, construct)
            yield many_missing(own, others, construct)
    if len(by_construct) > 1:
        yield straight_lining_throughout(runs)


def _of_agreement(rater: str, against: dict[str, list[AgainstOthers]]) -> Iterator[Signal]:
    for everybody in against.values():
        for own in everybody:
            if own.rater == rater:
                yield low_agreement(own, [one for one in everybody if one.rater != rater])
