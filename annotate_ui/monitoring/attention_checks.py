"""Attention checks: unannounced items with a known answer, and how many a rater missed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from scipy import stats
from sqlalchemy import Connection, select

from annotate_ui.monitoring.signals import Signal, too_few
from study.schema.tables import check_pairs, expected_values
from study.settings.constructs import ConstructSpec

#: With fewer checks, no signal is computed.
LEAST_CHECKS = 3

#: Share of checks that careful raters may miss; a number of misses is flagged when it is this
#: unlikely with that share.
_ALLOWED, _UNLIKELY = 0.1, 0.02


@dataclass(frozen=True)
class AttentionCheck:
    """One check: an order on some constructs, or ranges on them."""

    original: int | None
    response: int
    """The damaged copy, or the response whose values are known."""
    ranges: Mapping[str, tuple[float, float] | None]
    """By construct; None where the copy has to be below its original."""


def stored_checks(connection: Connection) -> list[AttentionCheck]:
    """Return every check of the study."""
    pairs = [
        AttentionCheck(row.original_id, row.damaged_id, dict.fromkeys(row.construct_keys))
        for row in connection.execute(select(check_pairs).order_by(check_pairs.c.id))
    ]
    ranges: dict[int, dict[str, tuple[float, float] | None]] = {}
    for row in connection.execute(
        select(expected_values)
        .where(expected_values.c.purpose == "check")
        .order_by(expected_values.c.id)
    ):
        ranges.setdefault(row.response_id, {})[row.construct_key] = (row.low, row.high)
    return pairs + [AttentionCheck(None, key, by_construct) for key, by_construct in ranges.items()]


def missed_checks(
    checks: Sequence[AttentionCheck], ratings: pd.DataFrame, constructs: Sequence[ConstructSpec]
) -> dict[str, list[bool]]:
    """Return for each rater whether each check that they answered was missed.

    A check is missed when the copy is not below its original, or the value out of its range, on
    half of its constructs or more. Where the original has the lowest value of the scale, nothing
    can be below it, and the construct does not enter.
    """
    lowest = {construct.key: construct.scale.min for construct in constructs}
    concerned = {check.response for check in checks} | {check.original for check in checks}
    rows = ratings[ratings["response"].isin(concerned) & ratings["value"].notna()]
    rows = rows[~rows["purpose"].isin(["training", "adjudication"])]
    missed: dict[str, list[bool]] = {}
    for rater, rows_of_rater in rows.groupby("rater", sort=False):
        # The first answer to a response is the one that was entered without a warning.
        answers: dict[tuple[int, str], float] = {}
        for row in list[Any](rows_of_rater.itertuples()):
            answers.setdefault((row.response, row.construct), row.value)
        for check in checks:
            misses = list(_misses(check, answers, lowest))
            if misses:
                missed.setdefault(str(rater), []).append(sum(misses) * 2 >= len(misses))
    return missed


def checks_missed(missed: Sequence[bool]) -> Signal:
    """Return whether a rater missed more checks than careful raters do."""
    count, total = sum(missed), len(missed)
    if total < LEAST_CHECKS:
        return too_few("checks_missed", None, total, "checks answered")
    p = float(stats.binom.sf(count - 1, total, _ALLOWED))
    return Signal(
        "checks_missed",
        None,
        "flagged" if p < _UNLIKELY else "fine",
        count / total,
        _ALLOWED,
        total,
        f"{count} of {total} checks missed ({count / total:.0%})",
    )


def _misses(
    check: AttentionCheck, answers: Mapping[tuple[int, str], float], lowest: Mapping[str, float]
) -> Iterator[bool]:
    for construct, bounds in check.ranges.items():
        value = answers.get((check.response, construct))
        if value is None:
            continue
        if bounds is not None:
            yield not bounds[0] <= value <= bounds[1]
            continue
        original = answers.get((check.original or 0, construct))
        if original is not None and original > lowest.get(construct, float("-inf")):
            yield value >= original
