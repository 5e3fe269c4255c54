"""Repeats: queries that a rater rates again, to see how well they agree with themselves."""

from collections.abc import Callable, Collection, Mapping

from study.assignment.assignment_rows import Group, Piece
from study.assignment.permanent_random_numbers import permanent_number

Responses = Mapping[int, frozenset[str]]


def repeats_of(
    code: str,
    work: Mapping[int, Responses],
    repeated: Collection[int],
    share: float,
    seed: int,
    *,
    key: Callable[[int], str],
    layout: Callable[[int], str],
) -> list[Group]:
    """Return the queries that a rater is to rate a second time, in addition to `repeated`.

    Parameters
    ----------
    work
        Query to what the rater has of it in the main rating.
    share
        Share of these queries; one at least where it is above 0.
    """
    if not share or not work:
        return []
    wanted = max(1, round(share * len(work)))
    turns = sorted(work, key=lambda query: permanent_number(seed, "repeat", code, key(query)))
    # Those that were repeated before count, also where they have other turns now.
    missing = wanted - len(set(repeated) & set(work))
    groups: list[Group] = []
    for query in turns:
        if len(groups) >= missing:
            break
        if query in repeated:
            continue
        pieces = [
            Piece(response, tuple(sorted(keys)), "repeat", 1, layout(query))
            for response, keys in work[query].items()
        ]
        groups.append(Group(query, pieces))
    return groups
