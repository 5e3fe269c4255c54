"""Attention checks: unannounced queries with known answers, and how many a rater missed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from scipy import stats
from sqlalchemy import Connection, select

from annotate_ui.monitoring.signals import Signal, too_few
from study.schema.tables import check_pairs, expected_values, responses
from study.settings.constructs import ConstructSpec
from study.text import counted

#: With fewer checks, no signal is computed.
LEAST_CHECKS = 3

#: Share of checks that careful raters may miss; a number of misses is flagged when it is this
#: unlikely with that share.
_ALLOWED, _UNLIKELY = 0.1, 0.02


@dataclass(frozen=True)
class AttentionCheck:
    """One response of a check: a damaged copy, or a response with known values."""

    query: int
    response: int
    ranges: Mapping[str, tuple[float, float] | None]
    """By construct; None where the value has to be below the rater's mean."""


def stored_checks(connection: Connection) -> list[AttentionCheck]:
    """Return every check of the study."""
    pairs = [
        AttentionCheck(row.query_id, row.damaged_id, dict.fromkeys(row.construct_keys))
        for row in connection.execute(
            select(check_pairs, responses.c.query_id)
            .join_from(check_pairs, responses, check_pairs.c.damaged_id == responses.c.id)
            .order_by(check_pairs.c.id)
        )
    ]
    ranges: dict[tuple[int, int], dict[str, tuple[float, float] | None]] = {}
    for row in connection.execute(
        select(expected_values, responses.c.query_id)
        .join_from(expected_values, responses, expected_values.c.response_id == responses.c.id)
        .where(expected_values.c.purpose == "check")
        .order_by(expected_values.c.id)
    ):
        response_ranges = ranges.setdefault((row.query_id, row.response_id), {})
        response_ranges[row.construct_key] = (row.low, row.high)
    return pairs + [AttentionCheck(*check, by_construct) for check, by_construct in ranges.items()]


def missed_checks(
    checks: Sequence[AttentionCheck], ratings: pd.DataFrame, constructs: Sequence[ConstructSpec]
) -> dict[str, list[bool]]:
    """Return for each rater whether each check that they answered was missed.

    A check is a query with its responses. It is missed when half of its values or more are missed:
    that of a copy is not below the mean of the rater's main ratings on the construct, or a value is
    out of its range. Where the mean is the lowest value of the scale, nothing can be below it, and
    the value does not enter.
    """
    lowest = {construct.key: construct.scale.min for construct in constructs}
    concerned = {check.response for check in checks}
    valued = ratings[ratings["value"].notna()]
    rows = valued[valued["response"].isin(concerned) & (valued["purpose"] == "check")]
    main = valued[valued["purpose"] == "main"].groupby(["rater", "construct"])["value"].mean()
    missed: dict[str, list[bool]] = {}
    for rater, rows_of_rater in rows.groupby("rater", sort=False):
        answers: dict[tuple[int, str], float] = {}
        for row in list[Any](rows_of_rater.itertuples()):
            answers.setdefault((row.response, row.construct), row.value)
        means = {key: mean for key in lowest if (mean := main.get((rater, key))) is not None}
        misses: dict[int, list[bool]] = {}
        for check in checks:
            misses.setdefault(check.query, []).extend(_misses(check, answers, means, lowest))
        missed[str(rater)] = [sum(those) * 2 >= len(those) for those in misses.values() if those]
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
        f"{count} of {counted(total, 'check')} missed ({count / total:.0%})",
    )


def _misses(
    check: AttentionCheck,
    answers: Mapping[tuple[int, str], float],
    means: Mapping[str, float],
    lowest: Mapping[str, float],
) -> Iterator[bool]:
    for construct, bounds in check.ranges.items():
        value = answers.get((check.response, construct))
        if value is None:
            continue
        if bounds is not None:
            yield not bounds[0] <= value <= bounds[1]
            continue
        mean = means.get(construct)
        if mean is not None and mean > lowest.get(construct, float("-inf")):
            yield value >= mean
