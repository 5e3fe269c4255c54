"""Warnings about values that are allowed but look wrong."""

from collections.abc import Iterator
from dataclasses import dataclass

from study.scales import RatingScale

# Fewer equal values than this are no sign of a rater who gave one value throughout.
_THROUGHOUT = 5


@dataclass
class _Seen:
    scale: RatingScale
    lowest: float
    highest: float
    count: int = 0


class ValueWatch:
    """What range of values each scorer used on each construct."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], _Seen] = {}

    def see(self, scorer: str, construct: str, value: float | None, scale: RatingScale) -> None:
        """Take a value; missing ones say nothing."""
        if value is None:
            return
        seen = self._seen.get((scorer, construct))
        if seen is None:
            seen = self._seen[scorer, construct] = _Seen(scale, value, value)
        seen.lowest = min(seen.lowest, value)
        seen.highest = max(seen.highest, value)
        seen.count += 1

    def warnings(self) -> Iterator[str]:
        """Say which scorers probably used another scale, or one value throughout."""
        by_scorer: dict[str, list[tuple[str, _Seen]]] = {}
        for (scorer, construct), seen in self._seen.items():
            by_scorer.setdefault(scorer, []).append((construct, seen))
        for scorer, parts in by_scorer.items():
            values = {end for _, seen in parts for end in (seen.lowest, seen.highest)}
            for construct, seen in [_together(parts)] if len(values) == 1 else parts:
                if seen.lowest == seen.highest and seen.count >= _THROUGHOUT:
                    yield (
                        f"{scorer!r} gave {seen.lowest:g} throughout on {construct} "
                        f"({seen.count} values)."
                    )
        for (scorer, construct), seen in self._seen.items():
            # A range of 0 to 1 is a tenth of such a scale or less.
            if seen.scale.max >= 10 and seen.lowest >= 0 and 0 < seen.highest <= 1 < seen.count:
                yield (
                    f"all {seen.count} values of {scorer!r} on {construct} lie in 0 to 1, on a "
                    f"scale of {seen.scale}. If that is the scorer's own scale, declare it in "
                    f'study.toml: [scorers."{scorer}"] scale = {{ min = 0, max = 1 }}'
                )


def _together(parts: list[tuple[str, _Seen]]) -> tuple[str, _Seen]:
    """Return what a scorer gave on all constructs, where all of it is one value."""
    first = parts[0][1]
    seen = _Seen(first.scale, first.lowest, first.highest, sum(s.count for _, s in parts))
    return ", ".join(construct for construct, _ in parts), seen
