"""The panels of small multiples, and their axes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.arrays import FloatArray
from analysis.core.construct_data import ConstructData
from analysis.core.estimates import Estimate

#: Size of a panel in inches.
WIDTH, HEIGHT = 2.35, 2.2

#: Judges drawn; of others the report states that they are in the tables only.
JUDGES_DRAWN = 4

#: Constructs drawn; the tables have more.
CONSTRUCTS_DRAWN = 8


@dataclass(frozen=True, eq=False)
class Panel:
    """One construct of one scorer, on responses that people rated as well where there are any."""

    construct: str
    scorer: str
    data: ConstructData
    judge: FloatArray
    low: float
    high: float
    scale_declared: bool
    named_scorer: str = ""
    """The scorer, where several are drawn."""

    @property
    def name(self) -> str:
        """What tells the panel from the others."""
        return ", ".join(filter(None, (self.construct, self.named_scorer)))

    @property
    def kind(self) -> str:
        """Kind of the scorer: judge or metric."""
        return self.data.kinds[self.scorer]


def panels(analysis: Analysis) -> list[Panel]:
    """Constructs by judges; metrics only where a construct has no judge."""
    found = list(_panels(analysis))
    several = len({panel.scorer for panel in found}) > 1
    return [replace(panel, named_scorer=panel.scorer) for panel in found] if several else found


def _panels(analysis: Analysis) -> Iterator[Panel]:
    for construct, data in analysis.context.whole.items():
        judges = data.judges
        for scorer in (judges or list(data.scorers))[:JUDGES_DRAWN]:
            scale = analysis.scores.scale(construct, scorer)
            values = data.scorers[scorer]
            present = values[np.isfinite(values)]
            if not present.size:
                continue
            low, high = (scale.min, scale.max) if scale else _ends(present, data.reference)
            yield Panel(construct, scorer, data, values, low, high, scale is not None)


def _ends(values: FloatArray, reference: FloatArray) -> tuple[float, float]:
    both = np.concatenate([values, reference[np.isfinite(reference)]])
    low, high = float(both.min()), float(both.max())
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def left_out(analysis: Analysis) -> str:
    """A sentence naming the judges that are not drawn, or an empty text."""
    most = [
        name
        for data in analysis.context.whole.values()
        for name in [n for n in data.scorers if data.kinds[n] == "judge"][JUDGES_DRAWN:]
    ]
    names = ", ".join(dict.fromkeys(most))
    return f" Not drawn, see the tables: {names}." if names else ""


def estimates_by_construct(
    analysis: Analysis, statistic: str, constructs: Iterable[str]
) -> dict[str, list[Estimate]]:
    """The defined estimates of a statistic, of the first constructs that have any."""
    defined = {
        construct: [
            e for e in analysis.estimates.select(statistic, construct=construct) if e.defined
        ]
        for construct in constructs
    }
    return dict([part for part in defined.items() if part[1]][:CONSTRUCTS_DRAWN])
