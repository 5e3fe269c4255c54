"""Everything that raters' portions of work are made from, read once."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from study.assignment.assignment_rows import Orders, Rounds, rounds_of
from study.assignment.checks import Copies, Imported, imported_checks
from study.assignment.existing_assignments import (
    ExistingAssignment,
    Pass,
    WorkByRater,
    begun,
    last_positions,
    work_by_rater,
)
from study.assignment.reading_time import WordCounts
from study.assignment.sampling_frame import FrameResponse, SamplingFrame
from study.assignment.stratified_sample import permanent_number
from study.settings.constructs import ConstructSpec
from study.settings.design import DesignSpec
from study.study import Study

Responses = Mapping[int, frozenset[str]]
Work = dict[int, dict[int, frozenset[str]]]
"""Query to response to constructs."""


@dataclass(frozen=True)
class PlanningInputs:
    """What there is, and what raters have of it."""

    seed: int
    design: DesignSpec
    specs: Sequence[ConstructSpec]
    """Constructs that are assigned now."""
    everything: Sequence[ConstructSpec]
    """All constructs of the study."""
    frame: SamplingFrame
    reading: WordCounts
    by_purpose: Mapping[str, WorkByRater]
    """Purpose to what raters have for it."""
    works: Mapping[int, Work]
    """Rater to their main work."""
    had: Mapping[int, frozenset[int]]
    """Rater to all responses that they were ever given."""
    given: Sequence[ExistingAssignment]
    begun: Mapping[int, set[int]]
    last: Mapping[int | None, int]
    copies: Copies
    imported: Sequence[Imported]
    calibration: Sequence[int]
    of_query: Mapping[int, Sequence[FrameResponse]]
    by_rater: Mapping[int, Sequence[ExistingAssignment]]
    orders: Orders
    layouts: Mapping[tuple[int, int], str]
    """Rater and query to the layout in which they have it."""

    def rounds(self, code: str | None) -> Rounds | None:
        """Return the rounds of a rater; None where all constructs are rated together."""
        if not self.design.one_construct_a_pass:
            return None
        return rounds_of(self.everything, self.seed, code)

    def cost(self, query: int, responses: Responses) -> float:
        """Return the words that are read of responses to a query, in all rounds."""
        if not self.design.one_construct_a_pass:
            return float(self.reading.words(query, responses))
        keys = frozenset().union(*responses.values()) if responses else frozenset()
        return float(
            sum(
                self.reading.words(
                    query, {r: frozenset({key}) for r, mine in responses.items() if key in mine}
                )
                for key in keys
            )
        )

    def layout(self, rater: int, query: int) -> str:
        """Return the layout in which a rater has a query; a query never has two."""
        return self.layouts.get((rater, query), self.design.layout)

    def keys_of(self, answer: FrameResponse) -> tuple[str, ...]:
        """Return the constructs that are assigned now on which a response can be rated."""
        return tuple(spec.key for spec in self.specs if answer.shows(spec))

    def key(self, query: int) -> str:
        """Return the key of a query."""
        return self.frame.questions[query].key


def words_of_work(reading: WordCounts, passes: Mapping[Pass, Mapping[int, Responses]]) -> float:
    """Return the words of all passes of a rater; what is met again is read again."""
    return float(sum(reading.total(queries) for queries in passes.values()))


def planning_inputs(
    connection: Connection,
    study: Study,
    design: DesignSpec,
    specs: Sequence[ConstructSpec],
    frame: SamplingFrame,
    existing: Sequence[ExistingAssignment],
    calibration: Sequence[int],
    *,
    dry_run: bool,
) -> PlanningInputs:
    """Read what portions are made from."""
    reading = WordCounts(connection, study.config.constructs)
    of_query: dict[int, list[FrameResponse]] = defaultdict(list)
    for answer in frame.answers:
        of_query[answer.query].append(answer)
    by_rater: dict[int, list[ExistingAssignment]] = defaultdict(list)
    had: dict[int, set[int]] = defaultdict(set)
    for assignment in existing:
        if assignment.rater is not None:
            by_rater[assignment.rater].append(assignment)
            had[assignment.rater].add(assignment.response)
    measured = [answer.id for answer in frame.answers]
    return PlanningInputs(
        seed=study.config.seed,
        design=design,
        specs=specs,
        everything=study.config.constructs,
        frame=frame,
        reading=reading,
        by_purpose=_by_purpose(existing),
        works={rater: main_work(mine) for rater, mine in by_rater.items()},
        had={rater: frozenset(mine) for rater, mine in had.items()},
        given=existing,
        begun=begun(connection),
        last=last_positions(connection),
        copies=Copies(connection, study.config.seed, measured, reading, dry_run=dry_run),
        imported=imported_checks(connection, measured),
        calibration=calibration,
        of_query=of_query,
        by_rater=by_rater,
        orders=Orders(study.config.seed),
        layouts={
            (assignment.rater, assignment.query): assignment.layout
            for assignment in existing
            if assignment.rater is not None and not assignment.gone
        },
    )


def _by_purpose(existing: Iterable[ExistingAssignment]) -> dict[str, WorkByRater]:
    some: dict[str, list[ExistingAssignment]] = {}
    for assignment in existing:
        some.setdefault(assignment.purpose, []).append(assignment)
    return {purpose: work_by_rater(those) for purpose, those in some.items()}


def main_work(existing: Iterable[ExistingAssignment]) -> Work:
    """Return what is rated for the first time and counts."""
    work: Work = {}
    for assignment in existing:
        if assignment.counts:
            mine = work.setdefault(assignment.query, {})
            mine[assignment.response] = (
                mine.get(assignment.response, frozenset()) | assignment.construct_keys
            )
    return work


def original_rank(desk: PlanningInputs, response: int) -> float:
    """Return a response's turn to be copied for a check, which is the same for all raters."""
    return permanent_number(desk.seed, "original", str(response))
