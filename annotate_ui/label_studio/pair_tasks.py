"""Pairs of responses as tasks: which are drawn, their texts, and a name that is always the same.

A task shows the responses as first and second. Which one is first is as random as the draw of the
pair, and the same for all raters, since they share the task.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import permutations
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from annotate_ui.label_studio.reserved_slots import Slot
from annotate_ui.label_studio.task_data import passages_of_responses, study_name
from annotate_ui.tasks.stages import FIELDS, in_order
from study.assignment.response_pairs import all_pairs, draw
from study.schema.tables import queries, responses
from study.settings.constructs import ConstructSpec
from study.study import Study
from study.types import Sees

Sides = tuple[int, int]
"""The first and the second response."""


class PairToCompare(NamedTuple):
    """A pair that people should compare in Label Studio."""

    sides: Sides
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
    """Return the drawn pairs whose query is rated by all, with the number of people.

    As many compare a pair as rate each of its responses.
    """
    design = study.config.design
    if not design.comparisons:
        return []
    waiting = {slot.query_id for slot in slots if slot.id not in rated}
    counts = Counter((s.response_id, key) for s in slots for key in s.current_keys if not s.further)
    people: dict[int, int] = defaultdict(int)
    for (response, _), count in counts.items():
        people[response] = max(people[response], count)
    specs = compared_constructs(study)
    asked = {slot.query_id for slot in slots} - waiting
    pairs = all_pairs(connection, study.config.seed, specs, asked)
    probability, _ = draw(pairs, design.comparisons, ())
    chosen = []
    for pair in pairs:
        keys = tuple(spec.key for spec in specs if spec.key not in pair.unratable)
        wanted = min(people[pair.a], people[pair.b])
        if pair.name in probability and keys and wanted:
            swapped = int(pair.chance * 2**32) % 2
            sides = (pair.b, pair.a) if swapped else (pair.a, pair.b)
            chosen.append(PairToCompare(sides, keys, wanted))
    return chosen


def probabilities(connection: Connection, study: Study) -> dict[frozenset[int], float]:
    """Return the probability with which each pair of the study was drawn."""
    specs = compared_constructs(study)
    pairs = all_pairs(connection, study.config.seed, specs, None)
    return draw(pairs, study.config.design.comparisons, ())[0]


def pair_names(connection: Connection) -> dict[str, Sides]:
    """Return the responses of each possible task by its name, which does not tell a system.

    It depends on the texts, which do not change, and not on which pairs are drawn now.
    """
    study = study_name(connection)
    rows: Any = connection.execute(
        select(
            responses.c.id,
            responses.c.query_id,
            responses.c.content_hash,
            queries.c.text,
            queries.c.references,
        ).join_from(responses, queries, responses.c.query_id == queries.c.id)
    )
    by_query: dict[int, list[Any]] = defaultdict(list)
    for row in rows:
        by_query[row.query_id].append(row)
    names: dict[str, Sides] = {}
    for answers in by_query.values():
        for first, second in permutations(answers, 2):
            content = (study, "pair", first.id, first.content_hash, second.id, second.content_hash)
            text = repr((*content, first.text, first.references))
            name = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
            names[name] = first.id, second.id
    return names


def pair_data(
    connection: Connection, pairs: Sequence[Sides], fields: Sequence[Sees]
) -> list[dict[str, Any]]:
    """Return the data of each pair's task: these fields and nothing else."""
    ids = sorted({response for pair in pairs for response in pair})
    rows: Any = connection.execute(
        select(
            responses.c.id,
            responses.c.text,
            queries.c.text.label("question"),
            queries.c.references,
        )
        .join_from(responses, queries, responses.c.query_id == queries.c.id)
        .where(responses.c.id.in_(ids))
    )
    texts = {row.id: row for row in rows}
    passages = passages_of_responses(connection, ids) if "context" in fields else {}
    return [
        {
            "response_1": texts[first].text,
            "response_2": texts[second].text,
            **({"question": texts[first].question} if "question" in fields else {}),
            **(
                {"reference": next(iter(texts[first].references), "")}
                if "reference" in fields
                else {}
            ),
            **({"passages": _of_both(first, second, passages)} if "context" in fields else {}),
        }
        for first, second in pairs
    ]


def _of_both(
    first: int, second: int, passages: Mapping[int, list[dict[str, str]]]
) -> list[dict[str, str]]:
    """Return the passages that both responses have, or those of one after those of the other."""
    if passages[first] == passages[second]:
        return passages[first]
    return [
        {**passage, "title": f"{passage['title']} of response {number}"}
        for number, response in ((1, first), (2, second))
        for passage in passages[response]
    ]
