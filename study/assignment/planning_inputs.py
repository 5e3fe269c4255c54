"""Everything that raters' portions of work are made from, read once."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from study.assignment.check_items import Imported, imported_checks
from study.assignment.damaged_copies import Copies
from study.assignment.existing_assignments import (
    ExistingAssignment,
    Held,
    Pass,
    begun,
    held_by_raters,
    last_positions,
)
from study.assignment.passes import Rounds, rounds_of
from study.assignment.permanent_random_numbers import permanent_number
from study.assignment.presentation_order import Orders
from study.assignment.reading_time import WordCounts
from study.assignment.sampling_frame import Frame, FrameResponse
from study.settings.campaign import DesignSpec
from study.settings.constructs import ConstructSpec
from study.study import Study

Responses = Mapping[int, frozenset[str]]
Work = dict[int, dict[int, frozenset[str]]]
"""Query to response to constructs."""


@dataclass(frozen=True)
class Desk:
    """What there is, and what raters have of it."""

    seed: int
    design: DesignSpec
    specs: Sequence[ConstructSpec]
    """Constructs that are assigned now."""
    everything: Sequence[ConstructSpec]
    """All constructs of the study."""
    frame: Frame
    reading: WordCounts
    by_purpose: Mapping[str, Held]
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


def words_of_held(reading: WordCounts, passes: Mapping[Pass, Mapping[int, Responses]]) -> float:
    """Return the words of all passes of a rater; what is met again is read again."""
    return float(sum(reading.total(queries) for queries in passes.values()))


def desk_of(
    connection: Connection,
    study: Study,
    design: DesignSpec,
    specs: Sequence[ConstructSpec],
    frame: Frame,
    given: Sequence[ExistingAssignment],
    calibration: Sequence[int],
    *,
    dry_run: bool,
) -> Desk:
    """Read what portions are made from."""
    reading = WordCounts(connection, study.config.constructs)
    of_query: dict[int, list[FrameResponse]] = defaultdict(list)
    for answer in frame.answers:
        of_query[answer.query].append(answer)
    by_rater: dict[int, list[ExistingAssignment]] = defaultdict(list)
    had: dict[int, set[int]] = defaultdict(set)
    for one in given:
        if one.rater is not None:
            by_rater[one.rater].append(one)
            had[one.rater].add(one.response)
    measured = [answer.id for answer in frame.answers]
    return Desk(
        seed=study.config.seed,
        design=design,
        specs=specs,
        everything=study.config.constructs,
        frame=frame,
        reading=reading,
        by_purpose=_by_purpose(given),
        works={rater: main_work(mine) for rater, mine in by_rater.items()},
        had={rater: frozenset(mine) for rater, mine in had.items()},
        given=given,
        begun=begun(connection),
        last=last_positions(connection),
        copies=Copies(connection, study.config.seed, measured, reading, dry_run=dry_run),
        imported=imported_checks(connection, measured),
        calibration=calibration,
        of_query=of_query,
        by_rater=by_rater,
        orders=Orders(study.config.seed),
        layouts={
            (one.rater, one.query): one.layout
            for one in given
            if one.rater is not None and not one.gone
        },
    )


def _by_purpose(given: Iterable[ExistingAssignment]) -> dict[str, Held]:
    some: dict[str, list[ExistingAssignment]] = {}
    for one in given:
        some.setdefault(one.purpose, []).append(one)
    return {purpose: held_by_raters(those) for purpose, those in some.items()}


def main_work(given: Iterable[ExistingAssignment]) -> Work:
    """Return what is rated for the first time and counts."""
    work: Work = {}
    for one in given:
        if one.counts:
            mine = work.setdefault(one.query, {})
            mine[one.response] = mine.get(one.response, frozenset()) | one.construct_keys
    return work


def original_rank(desk: Desk, response: int) -> float:
    """Return a response's turn to be copied for a check, which is the same for all raters."""
    return permanent_number(desk.seed, "original", str(response))
