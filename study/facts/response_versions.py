"""Which versions of a response are in use, and the ids under which tables and files mean them.

An id KEY@N means version N of the response KEY, whatever is in use. A bare KEY means the newest
version in use. Tables show a bare KEY for version 1 while it means that, and KEY@N for all else:
an id in a table leads back to its response.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Versions(NamedTuple):
    """The versions of all responses, by database key."""

    in_use: frozenset[int]
    """Responses that no later one has taken the place of."""
    ids: Mapping[int, str]
    """The id of each in tables and files."""


def response_versions(
    responses: Iterable[tuple[int, str, int]], outputs: Iterable[tuple[int, bool]]
) -> Versions:
    """Return which versions are in use, and their ids.

    `responses` are (database key, key, version); `outputs` are (response, whether it is the
    system's current output), as `study.facts.outputs.all_outputs` has them. In use is every current
    output, and the newest version of a key that is no system's output, past or current.
    """
    given: set[int] = set()
    current: set[int] = set()
    for response, is_current in outputs:
        given.add(response)
        if is_current:
            current.add(response)
    by_key: dict[str, list[tuple[int, int]]] = {}
    for response, key, version in responses:
        by_key.setdefault(key, []).append((version, response))
    in_use: set[int] = set()
    ids: dict[int, str] = {}
    for key, versions in by_key.items():
        versions.sort()
        newest = versions[-1][1]
        used = [r for _, r in versions if r in current or (r == newest and r not in given)]
        in_use.update(used)
        meant = used[-1] if used else newest
        for version, response in versions:
            ids[response] = key if version == 1 and response == meant else f"{key}@{version}"
    return Versions(frozenset(in_use), ids)
