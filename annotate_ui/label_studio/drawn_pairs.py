"""The pairs of responses that people should compare in Label Studio.

A task shows the responses as first and second. Which one is first is as random as the draw of the
pair, and the same for all raters, since they share the task.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, select

from annotate_ui.label_studio import CHANNEL
from annotate_ui.label_studio.reserved_slots import Slot
from annotate_ui.label_studio.task_data import Shown
from annotate_ui.tasks.stages import FIELDS, in_order
from study.assignment.existing_assignments import existing_assignments
from study.assignment.response_pairs import all_pairs, draw
from study.assignment.sample import draw_sample
from study.assignment.sampling_frame import sampling_frame
from study.schema.tables import assignments, responses
from study.settings.constructs import ConstructSpec
from study.study import Study
from study.types import Sees


class PairToCompare(NamedTuple):
    """A pair that people should compare in Label Studio."""

    sides: Shown
    construct_keys: tuple[str, ...]
    wanted: int
    """How many people."""


def compared_constructs(study: Study) -> list[ConstructSpec]:
    """Return the constructs on which the study compares pairs."""
    keys = study.config.design.comparison_constructs
    return [spec for spec in study.config.constructs if not keys or spec.key in keys]


def shown_fields_of(study: Study, construct_keys: Iterable[str]) -> tuple[Sees, ...]:
    """Return the fields that a comparison on these constructs shows."""
    if study.config.rating.disclosure == "all":
        return FIELDS
    wanted = set(construct_keys)
    seen = {f for spec in compared_constructs(study) if spec.key in wanted for f in spec.sees}
    return in_order({"response", *seen})


def pairs_to_compare(
    connection: Connection, study: Study, slots: Sequence[Slot], rated: set[int]
) -> list[PairToCompare]:
    """Return the drawn pairs with the number of people.

    As many compare a pair as rate each of its responses, once its query is rated by all. Where
    nothing is rated (`design.ratings`), `design.per_item` people compare each pair.
    """
    design = study.config.design
    if not design.comparisons:
        return []
    specs = compared_constructs(study)
    queries = _query_probabilities(connection, study)
    people: dict[int, int] = defaultdict(lambda: 0 if design.ratings else design.per_item)
    if design.ratings:
        counts = Counter(
            (s.response_id, key) for s in slots for key in s.current_keys if not s.further
        )
        for (response, _), count in counts.items():
            people[response] = max(people[response], count)
    waiting = {slot.query_id for slot in slots if slot.id not in rated}
    # Drawn from all queries: a draw from those that are rated by now would be a larger share.
    pairs = all_pairs(connection, study.config.seed, specs, queries)
    probability, _ = draw(pairs, design.comparisons, ())
    chosen = []
    for pair in pairs:
        keys = tuple(spec.key for spec in specs if spec.key not in pair.unratable)
        wanted = min(people[pair.a], people[pair.b])
        if pair.name in probability and pair.query not in waiting and keys and wanted:
            swapped = int(pair.chance * 2**32) % 2
            sides = (pair.b, pair.a) if swapped else (pair.a, pair.b)
            chosen.append(PairToCompare(sides, keys, wanted))
    return chosen


def pair_probabilities(connection: Connection, study: Study) -> dict[frozenset[int], float]:
    """Return the probability with which each pair of the study was drawn."""
    queries = _query_probabilities(connection, study)
    pairs = all_pairs(connection, study.config.seed, compared_constructs(study), queries)
    probability, _ = draw(pairs, study.config.design.comparisons, ())
    query_of = {pair.name: pair.query for pair in pairs}
    return {name: chance * queries[query_of[name]] for name, chance in probability.items()}


def _query_probabilities(connection: Connection, study: Study) -> Mapping[int, float]:
    """Return the queries whose pairs are compared here, with the probability of their draw.

    They are those that are rated here, or the sample of study.toml where nothing is rated.
    """
    design = study.config.design
    if design.ratings:
        rows = connection.execute(
            select(responses.c.query_id, assignments.c.inclusion_prob)
            .join_from(assignments, responses, assignments.c.response_id == responses.c.id)
            .where(assignments.c.channel == CHANNEL)
        )
        chances = {row.query_id: row.inclusion_prob for row in rows}
    else:
        frame = sampling_frame(connection)
        existing = existing_assignments(connection, study.config)
        sample = draw_sample(
            connection,
            study,
            design,
            frame,
            existing,
            eligible=lambda _: frozenset(),
            readable=lambda _: True,
        )
        drawn = {unit: chance for unit, (chance, _) in sample.chances().items()}
        chances = drawn if sample.of_queries else dict.fromkeys(frame.questions, 1.0)
    # A sample of responses is none of queries: pairs are drawn from all of them.
    return chances if design.sample_of == "queries" else dict.fromkeys(chances, 1.0)
