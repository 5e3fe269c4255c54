"""Which responses of a run are probed: drawn by the study's seed, spread over its queries."""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b

from sqlalchemy import Connection

from judge.running.pages import Place
from judge.running.work_items import EMPTY_RESPONSE
from study.facts.judgments import as_read
from study.schema import Judgment, table

Judged = Mapping[int, frozenset[str]]
"""Response (database key) to the constructs on which the run has a score of it."""


def scored(
    connection: Connection, run_id: int, versions: Mapping[str, int], constructs: Sequence[str]
) -> Judged:
    """Return what a run has scored by asking: its shifts can be told."""
    j = table(Judgment)
    names = ("response_id", "construct_key", "construct_version", "value", "rule")
    found: dict[int, set[str]] = {}
    rows = connection.execute(as_read(names, j.c.run_id == run_id, j.c.repeat == 0))
    for response, key, version, value, rule in rows:
        current = key in constructs and version == versions.get(key)
        if current and value is not None and rule != EMPTY_RESPONSE:
            found.setdefault(response, set()).add(key)
    return {response: frozenset(keys) for response, keys in found.items()}


def drawn(order: Iterable[Place], judged: Judged, size: int, seed: int) -> list[Place]:
    """Return so many of the responses, one a query as long as there are queries.

    The draw depends on the seed alone: a larger sample holds the smaller one, other runs of the
    study are probed on the same responses, and a run that was stopped goes on with the same.
    """
    of_query: dict[int, list[Place]] = {}
    for place in order:
        if place.selected and place.response in judged:
            of_query.setdefault(place.query, []).append(place)
    turns: list[tuple[int, bytes, Place]] = []
    for query, places in of_query.items():
        mixed = sorted(places, key=lambda place: rank(seed, place.response))
        turns += [(turn, rank(seed, -query), place) for turn, place in enumerate(mixed)]
    chosen = [place for _, _, place in sorted(turns, key=lambda item: item[:2])[:size]]
    return sorted(chosen, key=lambda place: (place.query, place.context_hash, place.response))


def rank(seed: int, *of: object) -> bytes:
    """Return where something stands in a draw: random, and the same each time."""
    return blake2b(repr((seed, *of)).encode(), digest_size=8).digest()
