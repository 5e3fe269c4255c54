"""Signals of careless responding, by rater."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Connection

from analysis.core.context import Context
from analysis.topics.agreement.human_ceiling import raters_against_others
from annotate_ui.monitoring.attention_checks import checks_missed, missed_checks, stored_checks
from annotate_ui.monitoring.constant_stretch import constant_stretches, responses_in_order
from annotate_ui.monitoring.interim_analysis import human_context
from annotate_ui.monitoring.signals import (
    ConstructValues,
    Signal,
    little_variation,
    many_missing,
    passages_unopened,
    run_of,
    straight_lining,
    too_few,
)
from study.facts.rating_progress import read_records
from study.facts.ratings import AS_ENTERED
from study.facts.score_table import score_table
from study.settings.study_toml import StudyConfig
from study.study import Study
from study.text import counted

#: With fewer queries of known time, no signal of reading pace is computed.
LEAST_TIMED = 5

#: A rater who reads everything takes at least this share of the reading time.
_SHARE = 1 / 3

#: Share of queries below that from which a rater is flagged, and the least number of them.
_FLAGGED, _LEAST_FAST = 0.25, 3

#: With fewer queries shared with others, no signal of agreement is computed.
LEAST_SHARED = 10

#: Raters needed to find one who differs: of two raters, both always agree equally.
LEAST_RATERS = 3


@dataclass(frozen=True)
class RaterSignals:
    """The signals of one rater, by construct and for the work as a whole."""

    rater: str
    signals: tuple[Signal, ...]

    @property
    def flagged(self) -> tuple[Signal, ...]:
        """Those that the owner should look at."""
        return tuple(signal for signal in self.signals if signal.verdict == "flagged")

    def as_json(self) -> dict[str, Any]:
        """Return the signals as values that JSON can represent."""
        return {"rater": self.rater, "signals": [signal.as_json() for signal in self.signals]}


def rater_signals(study: Study) -> list[RaterSignals]:
    """Return the signals of every rater who has rated, in order of their codes.

    They are computed from the ratings that count (`study.facts.ratings`), without repeats; those of
    raters whose whole work was rejected from all that was entered, so that the reason can still be
    seen. Signals never exclude ratings: a rule for excluding ratings is declared in advance.
    """
    found, emptied = _signals(study)
    if not emptied:
        return found
    entered = {rater.rater: rater for rater in _signals(study, as_entered=True)[0]}
    return [entered[rater.rater] if rater.rater in emptied else rater for rater in found]


def _signals(study: Study, *, as_entered: bool = False) -> tuple[list[RaterSignals], set[str]]:
    """Return the signals, and the raters of whom none counts since their ratings are withdrawn."""
    with study.read() as connection:
        versions = study.construct_versions(connection)
        conditions = [AS_ENTERED] if as_entered else []
        ratings = read_records(connection, versions, *conditions).ratings
        counted = ratings[ratings["counts"] & (ratings["repeat"] == 0)]
        shares = reading_shares(connection, study.config, counted)
        missed = missed_checks(stored_checks(connection), counted, study.config.constructs)
        frame = score_table(connection, versions, as_entered=as_entered)
    context = human_context(study, frame)
    by_construct: dict[str, list[AgreementWithOthers]] = {}
    if context is not None:
        for agreement in agreement_with_others(context):
            by_construct.setdefault(agreement.construct, []).append(agreement)
    main = counted[counted["purpose"] == "main"]
    values = {str(key): _values(rows) for key, rows in main.groupby("construct", sort=False)}
    stretches = constant_stretches(responses_in_order(main[main["value"].notna()]))
    raters = ratings.drop_duplicates("rater_id").set_index("rater_id")["rater"].sort_values()
    found = [
        RaterSignals(
            str(code),
            (
                *_value_signals(rater_id, values, study.config.seed),
                *([stretches[rater_id]] if rater_id in stretches else []),
                too_fast(shares.get(code, [])),
                checks_missed(missed.get(code, [])),
                *_agreement_signals(code, by_construct),
                *_passage_signals(main[main["rater_id"] == rater_id]),
            ),
        )
        for rater_id, code in raters.items()
    ]
    withdrawn = ratings.loc[~ratings["answered"], "rater"]
    return found, set(withdrawn) - set(counted["rater"])


def _values(rows: pd.DataFrame) -> ConstructValues:
    # Arrays in place of a frame: a campaign has many raters, each compared with all others.
    rater, response, query = (
        rows[name].to_numpy(dtype=np.int64) for name in ("rater_id", "response", "query")
    )
    return ConstructValues(rater, response, query, rows["value"].to_numpy(dtype=np.float64))


def _value_signals(rater: Any, values: dict[str, ConstructValues], seed: int) -> Iterator[Signal]:
    for construct, rows in values.items():
        is_rater = rows.rater == rater
        if is_rater.any():
            own_rows, others = rows.where(is_rater), rows.where(~is_rater)
            yield straight_lining(run_of(own_rows, seed), own_rows, construct)
            yield little_variation(own_rows, others, construct)
            yield many_missing(own_rows, others, construct)


def _passage_signals(main: pd.DataFrame) -> Iterator[Signal]:
    for construct, rows in main[main["value"].notna()].groupby("construct", sort=False):
        signal = passages_unopened(list(rows["passages_opened"]), str(construct))
        if signal is not None:
            yield signal


def reading_shares(
    connection: Connection, config: StudyConfig, ratings: pd.DataFrame
) -> dict[str, list[float]]:
    """Return for each rater, query by query, active seconds as a share of the reading time.

    Question, reference and shared passages are read once for all responses of a query, so time is
    compared by query. Only the first pass counts: a second one need not be read again. Ratings
    without a time, such as those from Label Studio, do not enter.
    """
    from study.assignment.reading_time import WordCounts

    timed = ratings[
        ratings["purpose"].isin(["main", "calibration"]) & ratings["active_seconds"].notna()
    ]
    if timed.empty:
        return {}
    first = timed.groupby(["rater", "query"])["round"].transform("min")
    timed = timed[timed["round"] == first]
    reading = WordCounts(connection, config.constructs)
    shares: dict[str, list[float]] = {}
    passes: Any = timed.groupby(["rater", "query"], sort=False)
    for (rater, query), rows in passes:
        rated: dict[int, set[str]] = {}
        for response, construct in zip(rows["response"], rows["construct"], strict=True):
            rated.setdefault(response, set()).add(construct)
        keys = {response: frozenset(constructs) for response, constructs in rated.items()}
        minutes = reading.words(query, keys) / config.rating.words_per_minute
        if minutes > 0:
            share = float(rows["active_seconds"].sum()) / (60 * minutes)
            shares.setdefault(str(rater), []).append(share)
    return shares


def too_fast(shares: Iterable[float]) -> Signal:
    """Return whether many of a rater's queries took less than a third of the reading time."""
    timed = pd.Series(list(shares), dtype="float64")
    if len(timed) < LEAST_TIMED:
        return too_few("too_fast", None, len(timed), "queries with a time")
    fast = int((timed < _SHARE).sum())
    share = fast / len(timed)
    flagged = share >= _FLAGGED and fast >= _LEAST_FAST
    return Signal(
        "too_fast",
        None,
        "flagged" if flagged else "fine",
        share,
        float(timed.median()),
        len(timed),
        f"{fast} of {counted(len(timed), 'query', 'queries')} in less than a third of the time "
        "that reading takes; "
        f"half of them in {timed.median():.0%} of it or less",
    )


@dataclass(frozen=True)
class AgreementWithOthers:
    """A rater's correlation with the mean of the others on a construct, with its interval."""

    rater: str
    construct: str
    value: float
    low: float
    high: float
    n_queries: int


def agreement_with_others(context: Context) -> list[AgreementWithOthers]:
    """Return the pooled correlation of each rater on each construct."""
    return [
        AgreementWithOthers(
            row.scorers[0], row.constructs[0], row.value, row.ci_low, row.ci_high, row.n_queries
        )
        for row in raters_against_others(context, ("pearson",), ("pooled",))
    ]


def low_agreement(rater: AgreementWithOthers, others: list[AgreementWithOthers]) -> Signal:
    """Return whether a rater's interval is below those of the other raters.

    That is: below the median of the lower ends of the others' intervals on the same construct.
    """
    lows = [other.low for other in others if np.isfinite(other.low)]
    if rater.n_queries < LEAST_SHARED:
        cases = "queries shared with others"
        return too_few("low_agreement", rater.construct, rater.n_queries, cases)
    if not np.isfinite(rater.high):
        cases = "queries for an interval of the correlation"
        return too_few("low_agreement", rater.construct, rater.n_queries, cases)
    if len(lows) + 1 < LEAST_RATERS:
        return too_few("low_agreement", rater.construct, len(lows), "raters to compare with")
    least = float(np.median(lows))
    return Signal(
        "low_agreement",
        rater.construct,
        "flagged" if rater.high < least else "fine",
        rater.value,
        least,
        rater.n_queries,
        f"correlation with the mean of the others {rater.value:.2f} [{rater.low:.2f}, "
        f"{rater.high:.2f}]; half of the others' intervals begin above {least:.2f}",
    )


def _agreement_signals(
    code: str, by_construct: dict[str, list[AgreementWithOthers]]
) -> Iterator[Signal]:
    for raters in by_construct.values():
        for rater in raters:
            if rater.rater == code:
                yield low_agreement(rater, [other for other in raters if other.rater != code])
