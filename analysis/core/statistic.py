"""The declaration of a statistic: what it is, how to read it, and what computes it.

The order of a report's estimates, the ids that report.json may have, the headings of tables and the
list of statistics in the manual follow from these declarations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

from analysis.core.estimates import Estimate

if TYPE_CHECKING:
    from analysis.core.context import Context

#: Which values are good; neither for a statistic that only describes.
Better = Literal["higher", "lower", "0", "1", "neither"]

#: About which raters an interval makes a statement: this panel, or raters like these.
Target = Literal["these_raters", "raters_like_these"]

#: The measure of how well a scorer orders responses, on which the verdict rests.
ORDER: Literal["kendall_tau_b"] = "kendall_tau_b"

SYSTEM = "system:NAME"
SCOPES = ("pooled", "between_queries", "within_query", "system_level", SYSTEM)

_ID = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Statistic:
    """The declaration of one statistic.

    `heading` is its short name, in the report's tables and in the manual's list.
    `range` is the smallest and largest possible value, None where there is no bound. `targets` are
    those that its intervals may have, empty where they make no statement about raters. `definition`
    names the convention and the params of its estimates. `estimates` yields its estimates, and
    possibly those of other statistics computed with it. `nominal` is whether it means something
    where values only name categories; on a nominal scale all others are left out.

    Raises
    ------
    ValueError
        The id is not in lower case with underscores, or a word is unknown.
    """

    id: str
    heading: str
    definition: str
    estimates: Callable[[Context], Iterator[Estimate]]
    range: tuple[float | None, float | None] = (None, None)
    better: Better = "neither"
    scopes: tuple[str, ...] = ("pooled",)
    targets: tuple[Target, ...] = ()
    source: str = ""
    nominal: bool = False

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.id):
            raise ValueError(f"statistic {self.id!r}: use lower case letters, digits and _")
        if self.better not in get_args(Better):
            raise ValueError(f"statistic {self.id}: better = {self.better!r}")
        for words, allowed in ((self.scopes, SCOPES), (self.targets, get_args(Target))):
            for word in words:
                if word not in allowed:
                    listed = ", ".join(allowed)
                    raise ValueError(f"statistic {self.id}: {word!r} is not one of {listed}")

    def contains(self, value: float) -> bool:
        """Whether a value is in the range, up to float noise."""
        low, high = self.range
        return (low is None or value >= low - 1e-9) and (high is None or value <= high + 1e-9)

    def within_range(self, estimate: Estimate) -> Estimate:
        """The estimate with an interval that ends at the bounds of the range.

        Beyond them there is no possible value, so the interval covers as often without that part.
        An interval wholly outside, or with its low end above the high one, is withheld.
        """
        if not estimate.has_interval:
            return estimate
        low, high = self.range
        ends = [
            end if bound is None else choose(end, bound)
            for end, bound, choose in ((estimate.ci_low, low, max), (estimate.ci_high, high, min))
        ]
        if ends[0] > ends[1]:
            return estimate.without_interval(
                "the computed ends are not those of a possible interval"
            )
        if ends == [estimate.ci_low, estimate.ci_high]:
            return estimate
        return replace(estimate, ci_low=ends[0], ci_high=ends[1])


def estimates_of(statistics: Iterable[Statistic], context: Context) -> Iterator[Estimate]:
    """The estimates of these statistics, in order; functions that several share run once.

    On nominal scales only statistics of categories are computed.
    """
    declared = {statistic.id: statistic for statistic in statistics}
    yield from within_ranges(declared.values(), _computed(tuple(declared.values()), context))


def within_ranges(
    statistics: Iterable[Statistic], estimates: Iterable[Estimate]
) -> Iterator[Estimate]:
    """The estimates, each with its interval in the range that its statistic declares."""
    declared = {statistic.id: statistic for statistic in statistics}
    for estimate in estimates:
        yield declared[estimate.statistic].within_range(estimate)


def _computed(declared: tuple[Statistic, ...], context: Context) -> Iterator[Estimate]:
    nominal_ids = {statistic.id for statistic in declared if statistic.nominal}
    functions = {statistic.estimates for statistic in declared if statistic.nominal}
    for function in dict.fromkeys(statistic.estimates for statistic in declared):
        if function not in functions:
            yield from function(context.ordered)
            continue
        for estimate in function(context):
            if estimate.statistic in nominal_ids or not context.nominal(estimate.constructs):
                yield estimate
