"""The sample: which responses are rated, with which probability; and the calibration queries."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from sqlalchemy import Connection

from study.assignment.existing_assignments import ExistingAssignment
from study.assignment.sampling_frame import FrameResponse, SamplingFrame
from study.assignment.sampling_strata import bands, query_number, strata_of, units_of
from study.assignment.stratified_sample import DrawnStratum, draw, probabilities
from study.settings.design import DesignSpec
from study.study import Study


def calibration_queries(
    target: int,
    answers: Iterable[FrameResponse],
    frame: SamplingFrame,
    existing: Iterable[ExistingAssignment],
    seed: int,
    *,
    drawn_queries: Collection[int],
    readable: Callable[[int], bool],
    everything: bool,
) -> tuple[list[int], list[str]]:
    """Return the calibration queries, and a note if there are too few of them.

    Those that are assigned already stay. Further ones come from the other end of the permanent
    random numbers than the sample, so that they were never in a smaller one.

    Parameters
    ----------
    answers
        Responses that can be rated.
    drawn_queries
        Queries that are drawn for rating.
    readable
        Whether all raters can read a query.
    everything
        All other queries are rated, so at least one must not be used for calibration.
    """
    stored, at_work = set(), set(drawn_queries)
    for assignment in existing:
        if assignment.purpose == "calibration":
            stored.add(assignment.query)
        elif assignment.purpose == "main":
            at_work.add(assignment.query)

    def number(query: int) -> float:
        return query_number(seed, frame.questions[query].key)

    queries = dict.fromkeys(answer.query for answer in answers)
    free = [q for q in queries if q not in stored and q not in at_work and readable(q)]
    if everything and not at_work and free:
        free.remove(min(free, key=number))
    free.sort(key=number, reverse=True)
    chosen = sorted(stored, key=number, reverse=True) + free[: max(target - len(stored), 0)]
    if len(chosen) >= target:
        return chosen, []
    return chosen, [
        f"Calibration: {len(chosen)} of {target} queries; no others are free that every rater "
        "can read and that are not drawn for rating."
    ]


@dataclass(frozen=True)
class Sample:
    """The units that are drawn, with their probabilities."""

    draws_queries: bool
    strata: list[DrawnStratum]
    answers: Sequence[FrameResponse]
    """All responses that can be rated."""
    calibration: list[int]
    """Queries that every rater rates first."""
    availability: Mapping[int, float]
    """Query to its probability of being available to a draw of responses, where calibration is
    chosen first. Where queries are drawn, it is part of the share of their stratum or cell."""
    by_cell: Collection[str | None]
    """Strata whose sample and calibration may meet, in some cells and not in others."""
    notes: list[str]

    @property
    def units(self) -> set[int]:
        """The queries or responses that are drawn."""
        return {unit.id for stratum in self.strata for unit in stratum.chosen}

    def responses(self) -> set[int]:
        """Return the responses that are to be rated."""
        units = self.units
        if self.draws_queries:
            return {answer.id for answer in self.answers if answer.query in units}
        return units

    def chances(self) -> dict[int, tuple[float, str | None]]:
        """Return probability and stratum of each unit that is rated."""
        names = {unit.id: drawn.stratum for drawn in self.strata for unit in drawn.chosen}
        probability = probabilities(self.strata, self.by_cell)
        available = {answer.id: self.availability[answer.query] for answer in self.answers}
        return {
            unit: (chance if self.draws_queries else chance * available[unit], names[unit])
            for unit, chance in probability.items()
        }


def draw_sample(
    connection: Connection,
    study: Study,
    design: DesignSpec,
    frame: SamplingFrame,
    existing: Sequence[ExistingAssignment],
    eligible: Callable[[int], Set[int]],
    readable: Callable[[int], bool],
) -> Sample:
    """Draw the units that are rated, and choose the queries for calibration.

    Parameters
    ----------
    eligible
        Query to the raters to whom it may be assigned, of those with existing or new assignments.
    readable
        Whether a query may be assigned to all raters of this call.
    """
    seed = study.config.seed
    answers = frame.ratable(study.config.constructs)
    draws_queries = design.sample_of == "queries"
    assigned = {item.response for item in existing if item.counts}
    stored = {item.query for item in existing if item.purpose == "calibration"}
    band = bands(connection, study, design)
    notes: list[str] = []

    def drawn(barred: Collection[int]) -> list[DrawnStratum]:
        units = units_of(
            answers,
            frame,
            design,
            seed,
            assigned=assigned,
            barred=barred,
            cell=eligible,
            band=band,
        )
        return draw(units, design.sample, allocation=design.allocation, seed=seed)

    # Queries are drawn first, so that their probability is their share of the stratum. Where all
    # other queries are rated, or responses are drawn, calibration is chosen first.
    first = drawn(stored) if draws_queries and design.sample is not None else None
    calibration, short = _calibration(
        design, answers, frame, existing, seed, first, readable, everything=first is None
    )
    strata = first if first is not None else drawn(stored.union(calibration))
    calibration_set = stored.union(calibration)
    availability = _left(
        {answer.query for answer in answers}, set() if draws_queries else calibration_set, eligible
    )
    most = max(design.calibration if design.ratings else 0, len(stored))
    by_cell = _meeting(strata, calibration_set, most, eligible) if draws_queries and most else set()
    notes += short
    if "system" in strata_of(design) and "system" not in design.strata:
        notes.append("Also stratified by system, so that all systems have equally many.")
    size = sum(len(item.chosen) for item in strata)
    if design.sample is not None and size != design.sample:
        notes.append(_other_size(design, size))
    empty = [item.stratum for item in strata if not item.chosen]
    if empty:
        names = "; ".join(str(name) for name in empty[:5])
        more = f" and {len(empty) - 5} more" if len(empty) > 5 else ""
        notes.append(f"No unit is drawn from {len(empty)} of {len(strata)} strata: {names}{more}.")
    return Sample(draws_queries, strata, answers, calibration, availability, by_cell, notes)


def _left(
    queries: Set[int], calibration_set: Set[int], eligible: Callable[[int], Set[int]]
) -> dict[int, float]:
    """Return the probability of each query not to be chosen for calibration.

    Only queries that every rater can read are chosen. Queries that the same raters can read have
    the same probability.
    """
    totals = Counter(frozenset(eligible(query)) for query in queries)
    calibrated = Counter(frozenset(eligible(query)) for query in queries & calibration_set)
    share = {cell: 1 - calibrated[cell] / count for cell, count in totals.items()}
    return {query: share[frozenset(eligible(query))] for query in queries}


def _meeting(
    strata: Sequence[DrawnStratum],
    calibration_set: Set[int],
    most: int,
    eligible: Callable[[int], Set[int]],
) -> set[str | None]:
    """Return the strata in which sample and calibration may meet, so that cells differ.

    Calibration comes from the other end of the random order of what all raters can read. Where the
    two cannot meet, the sample is the beginning of the order of the whole stratum. Whether they
    can depends only on numbers that are not random, so that it does not bias the draw.
    """
    cells = {frozenset(eligible(unit.id)) for drawn in strata for unit in drawn.units}
    everybody = frozenset[int]().union(*cells)
    meeting = set()
    for drawn in strata:
        unit_cells = {unit.id: frozenset(eligible(unit.id)) for unit in drawn.units}
        barred = {everybody} | {
            cell for unit, cell in unit_cells.items() if unit in calibration_set
        }
        totals = sum(cell in barred for cell in unit_cells.values())
        if 0 < totals < len(drawn.chosen) + most:
            meeting.add(drawn.stratum)
    return meeting


def _calibration(
    design: DesignSpec,
    answers: Sequence[FrameResponse],
    frame: SamplingFrame,
    existing: Sequence[ExistingAssignment],
    seed: int,
    first: list[DrawnStratum] | None,
    readable: Callable[[int], bool],
    *,
    everything: bool,
) -> tuple[list[int], list[str]]:
    if not design.calibration or not design.ratings:
        return [], []
    drawn_queries = {unit.id for stratum in first or () for unit in stratum.chosen}
    return calibration_queries(
        design.calibration,
        answers,
        frame,
        existing,
        seed,
        drawn_queries=drawn_queries,
        readable=readable,
        everything=everything,
    )


def _other_size(design: DesignSpec, size: int) -> str:
    if size < (design.sample or 0):
        return (
            f"The sample has {size:,} {design.sample_of}, all that are free, not {design.sample:,}."
        )
    return (
        f"The sample has {size:,} {design.sample_of}, not {design.sample:,}: what was assigned "
        "before stays in it, with all of its strata whose random numbers are smaller."
    )
