"""The inputs of the planner, which are read once."""

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
    begun_queries,
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
    """The study's responses, constructs and existing assignments."""

    seed: int
    design: DesignSpec
    assigned_constructs: Sequence[ConstructSpec]
    """Constructs that are assigned now."""
    constructs: Sequence[ConstructSpec]
    """All constructs of the study."""
    frame: SamplingFrame
    word_counts: WordCounts
    by_purpose: Mapping[str, WorkByRater]
    """Purpose to the existing work of each rater."""
    main_work: Mapping[int, Work]
    """Rater to their main work."""
    previous_responses: Mapping[int, frozenset[int]]
    """Rater to all responses that were ever assigned to them."""
    existing: Sequence[ExistingAssignment]
    begun_queries: Mapping[int, set[int]]
    last_positions: Mapping[int | None, int]
    copies: Copies
    imported_checks: Sequence[Imported]
    calibration_queries: Sequence[int]
    responses_by_query: Mapping[int, Sequence[FrameResponse]]
    assignments_by_rater: Mapping[int, Sequence[ExistingAssignment]]
    orders: Orders
    layouts: Mapping[tuple[int, int], str]
    """Rater and query to the layout."""

    def rounds(self, code: str | None) -> Rounds | None:
        """Return the rounds of a rater; None where all constructs are rated together."""
        if not self.design.one_construct_a_pass:
            return None
        return rounds_of(self.constructs, self.seed, code)

    def cost(self, query: int, responses: Responses) -> float:
        """Return the words of responses to a query that a rater reads in all rounds."""
        if not self.design.one_construct_a_pass:
            return float(self.word_counts.words(query, responses))
        keys = frozenset().union(*responses.values()) if responses else frozenset()
        return float(
            sum(
                self.word_counts.words(
                    query, {r: frozenset({key}) for r, mine in responses.items() if key in mine}
                )
                for key in keys
            )
        )

    def layout(self, rater: int, query: int) -> str:
        """Return the layout of a query for a rater; it never has two."""
        return self.layouts.get((rater, query), self.design.layout)

    def keys_of(self, answer: FrameResponse) -> tuple[str, ...]:
        """Return the constructs that are assigned now on which a response can be rated."""
        return tuple(spec.key for spec in self.assigned_constructs if answer.shows(spec))

    def key(self, query: int) -> str:
        """Return the key of a query."""
        return self.frame.questions[query].key


def words_of_work(reading: WordCounts, passes: Mapping[Pass, Mapping[int, Responses]]) -> float:
    """Return the words of all passes of a rater; texts are read again in each pass."""
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
    """Read the inputs of the planner."""
    reading = WordCounts(connection, study.config.constructs)
    by_query: dict[int, list[FrameResponse]] = defaultdict(list)
    for answer in frame.answers:
        by_query[answer.query].append(answer)
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
        assigned_constructs=specs,
        constructs=study.config.constructs,
        frame=frame,
        word_counts=reading,
        by_purpose=_by_purpose(existing),
        main_work={rater: main_work_of(mine) for rater, mine in by_rater.items()},
        previous_responses={rater: frozenset(mine) for rater, mine in had.items()},
        existing=existing,
        begun_queries=begun_queries(connection),
        last_positions=last_positions(connection),
        copies=Copies(connection, study.config.seed, measured, reading, dry_run=dry_run),
        imported_checks=imported_checks(connection, measured),
        calibration_queries=calibration,
        responses_by_query=by_query,
        assignments_by_rater=by_rater,
        orders=Orders(study.config.seed),
        layouts={
            (assignment.rater, assignment.query): assignment.layout
            for assignment in existing
            if assignment.rater is not None and not assignment.inactive
        },
    )


def _by_purpose(existing: Iterable[ExistingAssignment]) -> dict[str, WorkByRater]:
    some: dict[str, list[ExistingAssignment]] = {}
    for assignment in existing:
        some.setdefault(assignment.purpose, []).append(assignment)
    return {purpose: work_by_rater(those) for purpose, those in some.items()}


def main_work_of(existing: Iterable[ExistingAssignment]) -> Work:
    """Return the main rating: what is rated for the first time and counts."""
    work: Work = {}
    for assignment in existing:
        if assignment.counts:
            mine = work.setdefault(assignment.query, {})
            mine[assignment.response] = (
                mine.get(assignment.response, frozenset()) | assignment.construct_keys
            )
    return work


def original_rank(inputs: PlanningInputs, response: int) -> float:
    """Return a response's rank among the originals of checks, the same for all raters."""
    return permanent_number(inputs.seed, "original", str(response))
