"""What was assigned, or would be: the figures that the command shows."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from study.assigning.given import Held, add
from study.assigning.needs import Needs
from study.assigning.planning import connected
from study.assigning.reading_time import Reading


@dataclass(frozen=True)
class RaterLoad:
    """What a rater has to do, with what they had before."""

    rater: str
    queries: int
    responses: int
    new_responses: int
    hours: float
    """Reading alone, at the study's words_per_minute."""


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
    """New ones."""
    open_slots: int
    """New slots that nobody has yet."""
    covered: int
    """Responses that had all their raters before."""
    raters: list[RaterLoad]
    slot_hours: float
    """Reading of everything once, which is what one rater of open slots could come to."""
    connected: bool
    """All raters are linked through responses they share, so that severities can be told."""
    left_out: list[dict[str, Any]] = field(default_factory=list)
    """construct, reason, responses: what can't be rated on a construct, and why."""
    unratable: list[str] = field(default_factory=list)
    """Keys of responses that can be rated on none of the constructs."""

    def as_json(self) -> dict[str, Any]:
        """Return the figures as plain objects for JSON."""
        return asdict(self)


def summary(
    found: Needs,
    rows: Sequence[Mapping[str, Any]],
    codes: Mapping[str, int],
    held: Held,
    reading: Reading,
    *,
    words_per_minute: float,
    per_item: int,
    stored: bool,
) -> Assigned:
    """Sum up new rows and what raters held before; `held` is brought up to date."""
    per_hour = words_per_minute * 60
    query_of = {response: block.query for block in found.blocks for response in block.responses}
    new: Counter[int | None] = Counter()
    everything: Held = {}
    for row in rows:
        rater, response = row["rater_id"], row["response_id"]
        new[rater] += 1
        if rater is None:
            add(everything, 0, query_of[response], response, row["construct_keys"])
        else:
            add(held, rater, query_of[response], response, row["construct_keys"])
    return Assigned(
        stored=stored,
        per_item=per_item,
        queries=len(set(query_of.values())),
        responses=len(query_of),
        assignments=len(rows) - new[None],
        open_slots=new[None],
        covered=found.covered,
        raters=[
            RaterLoad(
                rater=code,
                queries=len(held.get(rater, {})),
                responses=sum(map(len, held.get(rater, {}).values())),
                new_responses=new[rater],
                hours=reading.total(held.get(rater, {})) / per_hour,
            )
            for code, rater in codes.items()
        ],
        slot_hours=reading.total(everything.get(0, {})) / per_hour,
        connected=connected(
            (rater, response)
            for rater, queries in held.items()
            for responses in queries.values()
            for response in responses
        ),
        left_out=[
            {"construct": key, "reason": reason, "responses": count}
            for (key, reason), count in sorted(found.left_out.items())
        ],
        unratable=found.unratable,
    )
