"""What was assigned, or would be: the figures that the command shows."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from study.assignment.allocation import Allocation, connected
from study.assignment.assignment_rows import Row
from study.assignment.comparison_plan import ComparisonsPlanned
from study.assignment.demand import Block, Demand
from study.assignment.existing_assignments import MAIN_PHASE, Pass, WorkByRater, add
from study.assignment.planning_inputs import PlanningInputs, words_of_work
from study.assignment.sample import Sample


@dataclass(frozen=True)
class RaterLoad:
    """What a rater has to do, with what they had before."""

    rater: str
    queries: int
    """Of the main rating."""
    responses: int
    new_responses: int
    hours: float
    """Reading alone, at the study's words_per_minute; everything together."""
    hours_by_purpose: dict[str, float] = field(default_factory=dict)
    """main, calibration, check, repeat, ...: what makes up the hours."""


@dataclass(frozen=True)
class StratumDrawn:
    """A stratum of the sample."""

    stratum: str | None
    units: int
    """Queries or responses that there are."""
    drawn: int
    probability: float | None
    """Of each that is drawn; None where parts of it that other raters can read have others."""


@dataclass(frozen=True)
class LeftOver:
    """What is drawn and goes to nobody."""

    reason: str
    queries: list[str]
    """Their keys."""
    responses: int
    hours: float
    """Reading that it would take, all of its raters together."""


@dataclass(frozen=True)
class Assigned:
    """What was assigned, or would be."""

    stored: bool
    per_item: int
    queries: int
    """Queries with responses that get further raters."""
    responses: int
    """Responses that get further raters."""
    assignments: int
    """New ones of the main rating."""
    open_slots: int
    """New slots that nobody has yet."""
    covered: int
    """Responses that had all their raters before."""
    raters: list[RaterLoad]
    slot_hours: float
    """Reading of everything once, which is what one rater of open slots could come to."""
    connected: bool
    """All raters are linked through shared responses, so that severities can be compared."""
    left_out: list[dict[str, Any]] = field(default_factory=list)
    """construct, reason, responses: what can't be rated on a construct, and why."""
    unratable: list[str] = field(default_factory=list)
    """Keys of responses that can be rated on none of the constructs."""
    further: dict[str, int] = field(default_factory=dict)
    """Purpose to new assignments that are no main rating: calibration, check, repeat."""
    sample_of: str = "queries"
    sample: list[StratumDrawn] = field(default_factory=list)
    left_over: list[LeftOver] = field(default_factory=list)
    updated: int = 0
    """Existing assignments whose inclusion probability or stratum changes."""
    notes: list[str] = field(default_factory=list)
    """What is not quite as the design asks, and why."""
    comparisons: ComparisonsPlanned | None = None

    @property
    def anything(self) -> bool:
        """Whether there is anything to store."""
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
    desk: PlanningInputs,
    sample: Sample,
    chances: Mapping[int, tuple[float, str | None]],
    *,
    words_per_minute: float,
    updated: int,
    notes: Sequence[str],
    comparisons: ComparisonsPlanned | None,
    stored: bool,
) -> Assigned:
    """Sum up new rows and what raters held before."""
    per_hour = words_per_minute * 60
    query_of = {answer.id: answer.query for answer in desk.frame.answers}
    query_of |= {item.response: item.query for item in desk.imported}
    query_of |= desk.copies.queries | {item.response: item.query for item in desk.given}
    wanted = {(block.query, r) for block in demand.blocks for r in block.responses}
    over = {(b.query, r) for b, _ in shared.unread for r in b.responses}
    new: Counter[int | None] = Counter()
    further: Counter[str] = Counter()
    # The desk is not used after this, so what is new may be entered into what there was.
    by_purpose = dict(desk.by_purpose)
    slots: WorkByRater = {}
    for row in rows:
        rater, response, purpose = row["rater_id"], row["response_id"], row["purpose"]
        if purpose == "main":
            new[rater] += 1
        else:
            further[purpose] += 1
        the_pass = (MAIN_PHASE if purpose == "check" else purpose, row["round"], row["repeat"])
        work = slots if rater is None else by_purpose.setdefault(purpose, {})
        who = 0 if rater is None else rater
        add(work, who, the_pass, query_of[response], response, row["construct_keys"])
    reached = {(row["rater_id"], row["response_id"]) for row in rows if row["purpose"] == "main"}
    new_responses = Counter(rater for rater, _ in reached)
    loads = []
    for code, rater in codes.items():
        hours = _hours(desk, by_purpose, rater, per_hour)
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
    assigned = wanted - over
    return Assigned(
        stored=stored,
        per_item=desk.design.per_item,
        queries=len({query for query, _ in assigned}),
        responses=len(assigned),
        assignments=sum(new.values()) - new[None],
        open_slots=new[None],
        covered=demand.covered,
        raters=loads,
        slot_hours=words_of_work(desk.reading, slots.get(0, {})) / per_hour,
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
        sample_of=desk.design.sample_of,
        sample=_strata(sample, chances),
        left_over=_left_over(shared, desk, per_hour),
        updated=updated,
        notes=list(notes),
        comparisons=comparisons,
    )


def _queries(passes: Mapping[Pass, Mapping[int, Mapping[int, Any]]]) -> dict[int, set[int]]:
    queries_seen: dict[int, set[int]] = {}
    for queries in passes.values():
        for query, responses in queries.items():
            queries_seen.setdefault(query, set()).update(responses)
    return queries_seen


def _hours(
    desk: PlanningInputs, by_purpose: Mapping[str, WorkByRater], rater: int, per_hour: float
) -> dict[str, float]:
    """Return the hours of each purpose; a check costs what it adds to the work around it."""
    hours: dict[str, float] = {}
    for purpose, work in by_purpose.items():
        if purpose != "check" and rater in work:
            hours[purpose] = words_of_work(desk.reading, work[rater]) / per_hour
    checks = by_purpose.get("check", {}).get(rater)
    if checks:
        both: WorkByRater = {}
        for purpose in ("main", "check"):
            for the_pass, queries in by_purpose.get(purpose, {}).get(rater, {}).items():
                for query, responses in queries.items():
                    for response, keys in responses.items():
                        add(both, rater, the_pass, query, response, keys)
        together = words_of_work(desk.reading, both[rater]) / per_hour
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


def _left_over(shared: Allocation, desk: PlanningInputs, per_hour: float) -> list[LeftOver]:
    by_reason: dict[str, list[Block]] = {}
    for block, reason in shared.unread:
        by_reason.setdefault(reason, []).append(block)
    left_over = []
    for reason, blocks in sorted(by_reason.items()):
        words = sum(
            block.need
            * desk.cost(
                block.query, dict.fromkeys(block.responses, frozenset(block.construct_keys))
            )
            for block in blocks
        )
        left_over.append(
            LeftOver(
                reason=reason,
                queries=[desk.key(query) for query in dict.fromkeys(b.query for b in blocks)],
                responses=len({r for block in blocks for r in block.responses}),
                hours=words * (1 + desk.design.repeats) / per_hour,
            )
        )
    return left_over
