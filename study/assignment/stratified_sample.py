"""The draw of a stratified random sample with known inclusion probabilities. No database access.

Every unit has a permanent random number, which depends on nothing else in the study. In each
stratum the units with the smallest numbers are the sample, so that a larger sample contains a
smaller one and the order of imports changes nothing (Ohlsson 1995, coordination of samples using
permanent random numbers). Places are shared among strata one after another, so that a larger
sample never takes a unit out.
"""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Literal, NamedTuple

from study.schema.content import digest


def permanent_number(seed: int, *names: str) -> float:
    """Return the number, from 0 up to but not 1, that these names have under a seed."""
    state = digest(str(seed).encode(), *(name.encode() for name in names))
    # As many bits as a float represents exactly.
    return (int.from_bytes(state[:8], "big") >> 11) * 2.0**-53


Allocation = Literal["proportional", "equal"]


class Unit(NamedTuple):
    """What is drawn: a query, or a response."""

    id: int
    number: float
    """Its permanent random number."""
    stratum: str | None = None
    cell: Hashable = None
    """The raters to whom it may be assigned; calibration is chosen by cell."""
    assigned: bool = False
    """It was assigned before, so it stays in the sample."""
    barred: bool = False
    """It has another purpose, and is never drawn."""


@dataclass(frozen=True)
class DrawnStratum:
    """A stratum, and its units in the sample."""

    stratum: str | None
    units: tuple[Unit, ...]
    """All units, including barred ones."""
    chosen: tuple[Unit, ...]
    """In the order of their numbers."""

    @property
    def probability(self) -> float:
        """The probability of each unit to be in the sample: its share of the stratum."""
        return len(self.chosen) / len(self.units)


def draw(
    units: Iterable[Unit], size: int | None, *, allocation: Allocation, seed: int
) -> list[DrawnStratum]:
    """Draw `size` units (default: all), and every unit that was assigned before.

    Units that were assigned before, and all with smaller numbers in their stratum, are in the
    sample, so that it could have been drawn at once. It may therefore exceed `size`.

    Returns
    -------
    list of Drawn
        The strata in the order of their names.
    """
    strata: dict[str | None, list[Unit]] = defaultdict(list)
    for unit in units:
        strata[unit.stratum].append(unit)
    names = sorted(strata, key=lambda name: (name is not None, name or ""))
    free = {}
    for name in names:
        able = [unit for unit in strata[name] if unit.assigned or not unit.barred]
        free[name] = sorted(able, key=lambda unit: (unit.number, unit.id))
    floors = {
        name: max((place for place, unit in enumerate(free[name], 1) if unit.assigned), default=0)
        for name in names
    }
    seats = _seats(
        {name: len(strata[name]) for name in names},
        {name: len(free[name]) for name in names},
        floors,
        size,
        allocation,
        seed,
    )
    return [
        DrawnStratum(name, tuple(strata[name]), tuple(free[name][: seats[name]])) for name in names
    ]


def _seats(
    sizes: Mapping[str | None, int],
    most: Mapping[str | None, int],
    floors: Mapping[str | None, int],
    size: int | None,
    allocation: Allocation,
    seed: int,
) -> dict[str | None, int]:
    """Return how many units of each stratum are drawn.

    Each stratum has one before any has two. Then the next goes where it is due first: by
    Sainte-Lague's divisors, which stay within a seat of proportionality and, unlike the largest
    remainder, never take one back when the sample grows; or to the stratum that has the fewest.
    """
    if size is None:
        return dict(most)
    seats = dict(floors)
    remaining = size - sum(seats.values())
    chance = {name: permanent_number(seed, "stratum", name or "") for name in sizes}

    def turn(name: str | None) -> tuple[float, float, float, str]:
        drawn = seats[name]
        due = float(drawn) if allocation == "equal" else (2 * drawn + 1) / sizes[name]
        # The larger stratum goes first where there are fewer units than strata.
        first = (0.0, -float(sizes[name])) if drawn == 0 else (1.0, due)
        return (*first, chance[name], name or "")

    wanting = [name for name in sizes if seats[name] < most[name]]
    queue = [(turn(name), name is not None, name or "") for name in wanting]
    heapify(queue)
    while remaining > 0 and queue:
        _, has_name, text = heappop(queue)
        name = text if has_name else None
        seats[name] += 1
        remaining -= 1
        if seats[name] < most[name]:
            heappush(queue, (turn(name), has_name, text))
    return seats


def probabilities(
    drawn: Sequence[DrawnStratum], by_cell: Collection[str | None] = ()
) -> dict[int, float]:
    """Return the inclusion probability of each unit of the sample.

    In the strata `by_cell`, units may be barred in one cell and not in another. What is drawn of a
    cell is then the beginning of its random order, and the probability is its share of the cell.
    """
    result: dict[int, float] = {}
    for drawn_stratum in drawn:
        if drawn_stratum.stratum not in by_cell:
            result |= dict.fromkeys(
                (unit.id for unit in drawn_stratum.chosen), drawn_stratum.probability
            )
            continue
        cells: dict[Hashable, list[int]] = defaultdict(lambda: [0, 0])
        for unit in drawn_stratum.units:
            cells[unit.cell][1] += 1
        for unit in drawn_stratum.chosen:
            cells[unit.cell][0] += 1
        for unit in drawn_stratum.chosen:
            n_drawn, n_units = cells[unit.cell]
            result[unit.id] = n_drawn / n_units
    return result
