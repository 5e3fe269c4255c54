"""Numbers as text: all rounding of a report is done here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from analysis.core.estimates import Estimate
from study.base.scales import Scale

#: Share of a scale's width below which a difference is floating-point noise.
NOISE = 1e-12


def correlation(value: float) -> str:
    """Two digits without a leading zero: .41, -.14, 1.00."""
    if math.isnan(value):
        return "undefined"
    text = f"{value:.2f}"
    if text in {"-0.00", "0.00"}:
        return ".00"
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def digits(scale: Scale | None, sided_values: Iterable[float] = ()) -> int:
    """Decimals that suit a scale: none on 0 to 100, one on 1 to 10, two on 0 to 1.

    More where one of `sided_values`, whose side of 0 matters, would be printed as 0.
    """
    width = _width(scale)
    decimals = 0 if width >= 50 else 1 if width >= 3 else 2
    sided = [abs(value) for value in sided_values if abs(value) > NOISE * width]
    while any(value <= 0.5 * 10**-decimals for value in sided):
        decimals += 1
    return decimals


def is_zero(value: float, scale: Scale | None) -> bool:
    """Whether a difference is 0, up to floating-point noise."""
    return abs(value) <= NOISE * _width(scale)


def _width(scale: Scale | None) -> float:
    return 100.0 if scale is None else scale.width


def points(
    value: float, scale: Scale | None, more: int = 0, sided_values: Iterable[float] = ()
) -> str:
    """A number of points, rounded to suit the scale (see `digits`), never '-0'."""
    if math.isnan(value):
        return "undefined"
    text = f"{value:.{digits(scale, sided_values) + more}f}"
    return text.lstrip("-") if not float(text) else text


def amount(value: float, scale: Scale | None, sided_values: Iterable[float] = ()) -> str:
    """With the unit: '11 points', '-1 point'; '0.04' on a scale that `on_scale` names."""
    text = points(value, scale, sided_values=sided_values)
    if on_scale(scale):
        return text
    return f"{text} point" if text.lstrip("-") == "1" else f"{text} points"


def threshold_amount(value: float, scale: Scale | None) -> str:
    """A threshold with its unit and all of its digits: '5 points', '0.05 points'."""
    text = points(value, scale)
    if not math.isclose(float(text), value, rel_tol=1e-9):
        text = f"{value:g}"
    if on_scale(scale):
        return text
    return f"{text} point" if text == "1" else f"{text} points"


def with_minus(text: str) -> str:
    """The text of numbers with minus signs in place of hyphens, for a drawing.

    The page sets them in its own texts; a name may have hyphens, so it stays outside.
    """
    return text.replace("-", "−")


def on_scale(scale: Scale | None) -> str:
    """'on a scale from 0 to 1' for a scale on which points are not informative, else ''."""
    narrow = scale is not None and scale.width < 3
    return f"on a scale from {scale.min:g} to {scale.max:g}" if narrow and scale else ""


def percent(share: float) -> str:
    """A share as a percentage; 'under 1%' and 'over 99%' instead of a false 0 or 100."""
    if math.isnan(share):
        return "undefined"
    if 0 < share < 0.005:
        return "under 1%"
    if 0.995 < share < 1:
        return "over 99%"
    return f"{share:.0%}"


def between(estimate: Estimate, scale: Scale | None = None, *, in_points: bool = False) -> str:
    """The interval in brackets, or an empty text where there is none."""
    if not estimate.has_interval:
        return ""
    if in_points:
        ends = (estimate.ci_low, estimate.ci_high)
        low, high = (points(end, scale, sided_values=ends) for end in ends)
        return f"[{low}, {high}]"
    return f"[{_end(estimate.ci_low)}, {_end(estimate.ci_high)}]"


def with_interval(estimate: Estimate) -> str:
    """A correlation with its interval, if it has one: '.41 [.21, .57]'."""
    return f"{correlation(estimate.value)} {between(estimate)}".rstrip()


def percents(estimate: Estimate) -> str:
    """The interval of a share in brackets, such as [79%, 88%], or an empty text without one."""
    if not estimate.has_interval:
        return ""
    return f"[{estimate.ci_low:.0%}, {estimate.ci_high:.0%}]"


def _end(value: float) -> str:
    """An end of an interval; up to four digits where two would hide on which side of 0 it is."""
    if 0.5e-4 < abs(value) < 0.005:
        decimals = 3
        while abs(value) <= 0.5 * 10**-decimals:
            decimals += 1
        return f"{value:.{decimals}f}".replace("0.", ".", 1)
    return correlation(value)


def listed(names: Sequence[str], most: int = 6) -> str:
    """'a', 'a and b', 'a, b and c', and 'a, b, ... and 4 more' beyond `most`."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """'1 rater', '3 raters', '4,719 queries'."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def p_value(p: float) -> str:
    """'p < .001', 'p = .012', 'p = .42', 'p > .99'."""
    if p < 0.001:
        return "p < .001"
    if p > 0.99:
        return "p > .99"
    return f"p = {p:.3f}".replace("0.", ".", 1) if p < 0.1 else f"p = {p:.2f}".replace("0.", ".", 1)
