"""Checks that raters meet unannounced: how many they answered, and how many they missed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from scipy import stats
from sqlalchemy import Connection, select

from annotate_ui.monitoring.signal import Signal, too_few
from study.schema import CheckPair, ExpectedValue, table
from study.settings.constructs import ConstructSpec

#: With fewer checks, no signal is computed.
LEAST_CHECKS = 3

#: Share of checks that careful raters may miss, and how unlikely a number under it is flagged.
_ALLOWED, _UNLIKELY = 0.1, 0.02


@dataclass(frozen=True)
class AttentionCheck:
    """One check: an order on some constructs, or ranges on them."""

    original: int | None
    response: int
    """The damaged copy, or the response whose values are known."""
    ranges: Mapping[str, tuple[float, float] | None]
    """By construct; none where the copy has to lie below its original."""


def stored_checks(connection: Connection) -> list[AttentionCheck]:
    """Return every check of the study."""
    p, e = table(CheckPair), table(ExpectedValue)
    found = [
        AttentionCheck(row.original_id, row.damaged_id, dict.fromkeys(row.construct_keys))
        for row in connection.execute(select(p).order_by(p.c.id))
    ]
    ranges: dict[int, dict[str, tuple[float, float] | None]] = {}
    for row in connection.execute(select(e).where(e.c.purpose == "check").order_by(e.c.id)):
        ranges.setdefault(row.response_id, {})[row.construct_key] = (row.low, row.high)
    return found + [AttentionCheck(None, response, known) for response, known in ranges.items()]


def answered(
    checks: Sequence[AttentionCheck], values: pd.DataFrame, constructs: Sequence[ConstructSpec]
) -> dict[str, list[bool]]:
    """Return for each rater the checks they answered: whether each was missed.

    A check is missed when the copy is not below its original, or the value out of its range, on
    half of its constructs or more. Where the original has the lowest value there is, nothing can
    lie below it, and the construct tells nothing.
    """
    lowest = {construct.key: construct.scale.min for construct in constructs}
    concerned = {c.response for c in checks} | {c.original for c in checks}
    rows = values[
        values["response"].isin(concerned) & (values["repeat"] == 0) & values["value"].notna()
    ]
    rows = rows[~rows["purpose"].isin(["training", "adjudication"])]
    found: dict[str, list[bool]] = {}
    for rater, own in rows.groupby("rater", sort=False):
        # The first answer to a response is the one given without a warning.
        said: dict[tuple[int, str], float] = {}
        answers: list[Any] = list(own.itertuples())
        for row in answers:
            said.setdefault((row.response, row.construct), row.value)
        for check in checks:
            told = list(_misses(check, said, lowest))
            if told:
                found.setdefault(str(rater), []).append(sum(told) * 2 >= len(told))
    return found


def checks_missed(missed: Sequence[bool]) -> Signal:
    """Return whether a rater missed more checks than careful raters do."""
    count, total = sum(missed), len(missed)
    if total < LEAST_CHECKS:
        return too_few("checks_missed", None, total, "checks answered")
    unlikely = float(stats.binom.sf(count - 1, total, _ALLOWED))
    return Signal(
        "checks_missed",
        None,
        "flagged" if unlikely < _UNLIKELY else "fine",
        count / total,
        _ALLOWED,
        total,
        f"{count} of {total} checks missed ({count / total:.0%})",
    )


def _misses(
    check: AttentionCheck, said: Mapping[tuple[int, str], float], lowest: Mapping[str, float]
) -> Iterator[bool]:
    for construct, bounds in check.ranges.items():
        value = said.get((check.response, construct))
        if value is None:
            continue
        if bounds is not None:
            yield not bounds[0] <= value <= bounds[1]
            continue
        original = said.get((check.original or 0, construct))
        if original is not None and original > lowest.get(construct, float("-inf")):
            yield value >= original
