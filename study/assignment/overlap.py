"""The share of queries that several raters have; the others go to one rater."""

from collections import Counter
from collections.abc import Iterable

from study.assignment.existing_assignments import ExistingAssignment
from study.assignment.permanent_random_numbers import permanent_number


def overlapping(
    queries: Iterable[tuple[int, str]], share: float, given: Iterable[ExistingAssignment], seed: int
) -> set[int]:
    """Return the queries that are to have several raters.

    Those that have several already go first, then those with the smallest permanent random
    numbers; `queries` are database keys with keys.
    """
    if share == 1:
        return {query for query, _ in queries}
    raters: Counter[tuple[int, str]] = Counter()
    several = set()
    for one in given:
        if one.counts:
            for key in one.construct_keys:
                raters[one.response, key] += 1
                if raters[one.response, key] > 1:
                    several.add(one.query)
    turns = sorted(
        (query not in several, permanent_number(seed, "overlap", key), query)
        for query, key in queries
    )
    return {query for *_, query in turns[: round(share * len(turns))]}
