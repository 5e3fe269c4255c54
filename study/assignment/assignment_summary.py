"""The figures of an assignment, stored or planned, which the command shows."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from study.assignment.allocation import Allocation, connected
from study.assignment.assignment_rows import Row
from study.assignment.comparison_plan import ComparisonsPlanned
from study.assignment.demand import Block, Demand
from study.assignment.existing_assignments import MAIN_PHASE, Pass, WorkByRater, add_work
from study.assignment.planning_inputs import PlanningInputs, words_of_work
from study.assignment.sample import Sample


@dataclass(frozen=True)
class RaterLoad:
    """The assignments of a rater, new and existing."""

    rater: str
    queries: int
    """Of the main rating."""
    responses: int
    new_responses: int
    hours: float
    """Reading only, at the study's words_per_minute; all purposes together."""
    hours_by_purpose: dict[str, float] = field(default_factory=dict)
    """The hours of each purpose: main, calibration, check, repeat, ..."""


@dataclass(frozen=True)
class StratumDrawn:
    """A stratum of the sample."""

    stratum: str | None
    units: int
    """Number of queries or responses."""
    drawn: int
    probability: float | None
    """Of each drawn unit; None if it differs between parts that different raters can read."""


@dataclass(frozen=True)
class LeftOver:
    """Drawn responses that are assigned to no rater."""

    reason: str
    queries: list[str]
    """Their keys."""
    responses: int
    hours: float
    """Hours of reading, of all raters together."""


@dataclass(frozen=True)
class Assigned:
    """The result of an assignment, stored or planned."""

    stored: bool
    per_item: int
    queries: int
    """Queries with responses that get further raters."""
    responses: int
    """Responses that get further raters."""
    assignments: int
    """New ones of the main rating."""
    open_slots: int
    """New open slots."""
    covered: int
    """Responses that already had all their raters."""
    raters: list[RaterLoad]
    slot_hours: float
    """Hours of reading everything once: the most that one rater of open slots may have."""
    connected: bool
    """All raters are linked through shared responses, so that severities can be compared."""
    left_out: list[dict[str, Any]] = field(default_factory=list)
    """construct, reason, responses: responses that cannot be rated on a construct, and why."""
    unratable: list[str] = field(default_factory=list)
    """Keys of responses that can be rated on none of the constructs."""
    further: dict[str, int] = field(default_factory=dict)
    """Purpose to new assignments other than the main rating: calibration, check, repeat."""
    sample_of: str = "queries"
    sample: list[StratumDrawn] = field(default_factory=list)
    left_over: list[LeftOver] = field(default_factory=list)
    updated: int = 0
    """Existing assignments whose inclusion probability or stratum changes."""
    notes: list[str] = field(default_factory=list)
    """Deviations from the design, with their reasons."""
    comparisons: ComparisonsPlanned | None = None
    replaces_imported: dict[str, int] = field(default_factory=dict)
    """Rater to the number of their imported values that values given here will replace."""

    @property
    def anything(self) -> bool:
        """Whether the plan changes the study."""
        compared = self.comparisons.comparisons if self.comparisons else 0
        return bool(self.assignments or self.open_slots or self.further or self.updated or compared)

    def as_json(self) -> dict[str, Any]:
        """Return the figures as plain objects for JSON."""
        return asdict(self)


def summary(
    demand: Demand,
    shared: Allocation,
    rows: Sequence[Row],
    codes: Mapping[str, int],
    inputs: PlanningInputs,
    sample: Sample,
    chances: Mapping[int, tuple[float, str | None]],
    *,
    words_per_minute: float,
    updated: int,
    notes: Sequence[str],
    comparisons: ComparisonsPlanned | None,
    replaces_imported: dict[str, int],
    stored: bool,
) -> Assigned:
    """Return the figures of new rows, including the existing assignments of the raters."""
    per_hour = words_per_minute * 60
    query_of = {answer.id: answer.query for answer in inputs.frame.answers}
    query_of |= {item.response: item.query for item in inputs.imported_checks}
    query_of |= inputs.copies.queries | {item.response: item.query for item in inputs.existing}
    demanded = {(block.query, r) for block in demand.blocks for r in block.responses}
    over = {(b.query, r) for b, _ in shared.unread for r in b.responses}
    new: Counter[int | None] = Counter()
    further: Counter[str] = Counter()
    # The inputs are not used after this, so new work may be added to the existing work.
    by_purpose = dict(inputs.by_purpose)
    slots: WorkByRater = {}
    for row in rows:
        rater, response, purpose = row["rater_id"], row["response_id"], row["purpose"]
        if purpose == "main":
            new[rater] += 1
        else:
            further[purpose] += 1
        rating_pass = (MAIN_PHASE if purpose == "check" else purpose, row["round"], row["repeat"])
        work = slots if rater is None else by_purpose.setdefault(purpose, {})
        work_key = 0 if rater is None else rater
        add_work(work, work_key, rating_pass, query_of[response], response, row["construct_keys"])
    reached = {(row["rater_id"], row["response_id"]) for row in rows if row["purpose"] == "main"}
    new_responses = Counter(rater for rater, _ in reached)
    loads = []
    for code, rater in codes.items():
        hours = _hours(inputs, by_purpose, rater, per_hour)
        mine = _queries(by_purpose.get("main", {}).get(rater, {}))
        loads.append(
            RaterLoad(
                rater=code,
                queries=len(mine),
                responses=sum(map(len, mine.values())),
                new_responses=new_responses[rater],
                hours=sum(hours.values()),
                hours_by_purpose=hours,
            )
        )
    assigned = demanded - over
    return Assigned(
        stored=stored,
        per_item=inputs.design.per_item,
        queries=len({query for query, _ in assigned}),
        responses=len(assigned),
        assignments=sum(new.values()) - new[None],
        open_slots=new[None],
        covered=demand.covered,
        raters=loads,
        slot_hours=words_of_work(inputs.word_counts, slots.get(0, {})) / per_hour,
        connected=connected(
            (rater, response)
            for rater, passes in by_purpose.get("main", {}).items()
            for responses in _queries(passes).values()
            for response in responses
        ),
        left_out=[
            {"construct": key, "reason": reason, "responses": count}
            for (key, reason), count in sorted(demand.left_out.items())
        ],
        unratable=demand.unratable,
        further=dict(sorted(further.items())),
        sample_of=inputs.design.sample_of,
        sample=_strata(sample, chances),
        left_over=_left_over(shared, inputs, per_hour),
        updated=updated,
        notes=list(notes),
        comparisons=comparisons,
        replaces_imported=replaces_imported,
    )


def _queries(passes: Mapping[Pass, Mapping[int, Mapping[int, Any]]]) -> dict[int, set[int]]:
    queries_seen: dict[int, set[int]] = {}
    for queries in passes.values():
        for query, responses in queries.items():
            queries_seen.setdefault(query, set()).update(responses)
    return queries_seen


def _hours(
    inputs: PlanningInputs, by_purpose: Mapping[str, WorkByRater], rater: int, per_hour: float
) -> dict[str, float]:
    """Return the hours of each purpose; a check counts with what it adds to the main work."""
    hours: dict[str, float] = {}
    for purpose, work in by_purpose.items():
        if purpose != "check" and rater in work:
            hours[purpose] = words_of_work(inputs.word_counts, work[rater]) / per_hour
    checks = by_purpose.get("check", {}).get(rater)
    if checks:
        both: WorkByRater = {}
        for purpose in ("main", "check"):
            for rating_pass, queries in by_purpose.get(purpose, {}).get(rater, {}).items():
                for query, responses in queries.items():
                    for response, keys in responses.items():
                        add_work(both, rater, rating_pass, query, response, keys)
        together = words_of_work(inputs.word_counts, both[rater]) / per_hour
        hours["check"] = together - hours.get("main", 0.0)
    return hours


def _strata(sample: Sample, chances: Mapping[int, tuple[float, str | None]]) -> list[StratumDrawn]:
    summaries = []
    for drawn_stratum in sample.strata:
        probabilities = {chances[unit.id][0] for unit in drawn_stratum.chosen if unit.id in chances}
        summaries.append(
            StratumDrawn(
                stratum=drawn_stratum.stratum,
                units=len(drawn_stratum.units),
                drawn=len([unit for unit in drawn_stratum.chosen if unit.id in chances]),
                probability=probabilities.pop() if len(probabilities) == 1 else None,
            )
        )
    return summaries


def _left_over(shared: Allocation, inputs: PlanningInputs, per_hour: float) -> list[LeftOver]:
    by_reason: dict[str, list[Block]] = {}
    for block, reason in shared.unread:
        by_reason.setdefault(reason, []).append(block)
    left_over = []
    for reason, blocks in sorted(by_reason.items()):
        words = sum(
            block.need
            * inputs.cost(
                block.query, dict.fromkeys(block.responses, frozenset(block.construct_keys))
            )
            for block in blocks
        )
        left_over.append(
            LeftOver(
                reason=reason,
                queries=[inputs.key(query) for query in dict.fromkeys(b.query for b in blocks)],
                responses=len({r for block in blocks for r in block.responses}),
                hours=words * (1 + inputs.design.repeats) / per_hour,
            )
        )
    return left_over
