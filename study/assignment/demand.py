"""The demand for raters: which responses need how many more raters, on which constructs."""

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field

from study.assignment.existing_assignments import ExistingAssignment
from study.assignment.sampling_frame import FrameResponse, SamplingFrame
from study.assignment.stratified_sample import permanent_number
from study.settings.constructs import ConstructSpec


def overlapping(
    queries: Iterable[tuple[int, str]],
    share: float,
    existing: Iterable[ExistingAssignment],
    seed: int,
) -> set[int]:
    """Return the queries that get several raters.

    Those that have several already come first, then those with the smallest permanent random
    numbers; `queries` are database keys with keys.
    """
    if share == 1:
        return {query for query, _ in queries}
    raters: Counter[tuple[int, str]] = Counter()
    several = set()
    for assignment in existing:
        if assignment.counts:
            for key in assignment.construct_keys:
                raters[assignment.response, key] += 1
                if raters[assignment.response, key] > 1:
                    several.add(assignment.query)
    turns = sorted(
        (query not in several, permanent_number(seed, "overlap", key), query)
        for query, key in queries
    )
    return {query for *_, query in turns[: round(share * len(turns))]}


NO_PASSAGES = "the response has no passages"
NO_REFERENCE = "the query has no reference answer"


@dataclass(frozen=True)
class Block:
    """Responses to one query that are assigned to the same further raters."""

    query: int
    responses: tuple[int, ...]
    construct_keys: tuple[str, ...]
    need: int
    """How many further raters."""
    excluded_raters: frozenset[int]
    """Raters to whom these responses were assigned before, for any purpose."""


@dataclass
class Demand:
    """The blocks in the order of the database, and the responses that have none."""

    blocks: list[Block] = field(default_factory=list)
    covered: int = 0
    """Responses that have all their raters."""
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(construct, reason) to number of responses that can't be rated on it."""
    unratable: list[str] = field(default_factory=list)
    """Keys of responses that can be rated on none of the constructs."""


# Query, constructs, need, and those who have them.
_Alike = tuple[int, tuple[str, ...], int, frozenset[int]]


def compute_demand(
    frame: SamplingFrame,
    constructs: Sequence[ConstructSpec],
    existing: Iterable[ExistingAssignment],
    raters_of: Callable[[int], int],
    *,
    among: Container[int] | None = None,
) -> Demand:
    """Return the assignments that are missing until each response has its raters.

    Existing assignments and open slots count. One that was handed on or taken back does not, but
    its rater has seen the response and does not get it again.

    Parameters
    ----------
    raters_of
        Query to the number of raters of its responses.
    among
        The responses to rate; default: all.
    """
    result = Demand()
    by_response: dict[int, list[ExistingAssignment]] = defaultdict(list)
    for assignment in existing:
        by_response[assignment.response].append(assignment)
    alike: dict[_Alike, list[int]] = {}
    for answer in frame.answers:
        if among is not None and answer.id not in among:
            continue
        keys = _ratable(answer, constructs, result.left_out)
        if not keys:
            result.unratable.append(answer.key)
            continue
        missing = _missing(keys, by_response[answer.id], raters_of(answer.query))
        if not missing:
            result.covered += 1
        for together, need, excluded in missing:
            alike.setdefault((answer.query, together, need, excluded), []).append(answer.id)
    for (query, together, need, excluded), responses in alike.items():
        result.blocks.append(Block(query, tuple(responses), together, need, excluded))
    return result


def _missing(
    keys: Iterable[str], existing: Sequence[ExistingAssignment], per_item: int
) -> list[tuple[tuple[str, ...], int, frozenset[int]]]:
    """Return the constructs that need equally many raters together, with excluded raters."""
    groups: dict[tuple[int, frozenset[int]], list[str]] = {}
    # Raters who were trained with a response know its expected values.
    trained = {g.rater for g in existing if g.purpose == "training" and g.rater is not None}
    for key in keys:
        having = [g for g in existing if key in g.construct_keys]
        need = per_item - sum(g.counts for g in having)
        if need > 0:
            excluded = frozenset(trained | {g.rater for g in having if g.rater is not None})
            groups.setdefault((need, excluded), []).append(key)
    return [(tuple(together), need, excluded) for (need, excluded), together in groups.items()]


def _ratable(
    answer: FrameResponse, constructs: Iterable[ConstructSpec], left_out: Counter[tuple[str, str]]
) -> list[str]:
    keys = []
    for construct in constructs:
        if "context" in construct.sees and not answer.has_passages:
            left_out[construct.key, NO_PASSAGES] += 1
        elif "reference" in construct.sees and not answer.has_reference:
            left_out[construct.key, NO_REFERENCE] += 1
        else:
            keys.append(construct.key)
    return keys
