"""Scales as they are written in Python: (1, 5), "1-5", "1:5:1" or a `Scale`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from analysis.core.errors import AnalysisError
from analysis.core.scales import parse_scale
from study.base.scales import Scale

OneScale = Scale | str | tuple[float, float] | tuple[float, float, float]
Scales = OneScale | Mapping[str, OneScale]

_RANGE = re.compile(r"\s*([+-]?[\d.]+)\s*(?:-|–|to)\s*([+-]?[\d.]+)\s*")


def scales_by_construct(scale: Scales | None, constructs: list[str]) -> dict[str, Scale]:
    """Return the scale of each construct that one is declared for.

    Raises
    ------
    AnalysisError
        A scale cannot be read, or is declared for a construct that the table does not have.
    """
    if scale is None:
        return {}
    if not isinstance(scale, Mapping):
        return dict.fromkeys(constructs, scale_of(scale))
    unknown = [key for key in scale if key not in constructs]
    if unknown:
        raise AnalysisError(
            f"scale names the construct {unknown[0]!r}; the table has {', '.join(constructs)}"
        )
    return {key: scale_of(one) for key, one in scale.items()}


def scale_of(scale: OneScale) -> Scale:
    """Read a scale.

    Raises
    ------
    AnalysisError
        It cannot be read.

    Examples
    --------
    >>> scale_of("1-5")
    Scale(min=1.0, max=5.0, step=None, level='interval')
    """
    if isinstance(scale, Scale):
        return scale
    try:
        if isinstance(scale, str):
            ends = _RANGE.fullmatch(scale)
            return parse_scale(f"{ends[1]}:{ends[2]}" if ends else scale)
        low, high, *step = map(float, scale)
        if len(step) > 1:
            raise TypeError
        return parse_scale(":".join(map(repr, (low, high, *step))))
    except (TypeError, ValueError) as error:
        if isinstance(error, AnalysisError) and "can't be read" not in str(error):
            raise
        raise AnalysisError(
            f'scale={scale!r} can\'t be read; write (1, 5), "1-5", or "1:5:1" with a step'
        ) from None
