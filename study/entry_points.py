"""What installed packages register: commands, importers, engines, metrics and rating controls."""

import importlib.metadata
import sys
from functools import lru_cache
from importlib.metadata import EntryPoints


def entry_points(group: str) -> EntryPoints:
    """Return the entry points of a group, of the packages that can be imported now."""
    return _entry_points_in(tuple(sys.path), group)


@lru_cache
def _entry_points_in(path: tuple[str, ...], group: str) -> EntryPoints:
    """Look once: each look opens a file of every installed package."""
    del path
    return importlib.metadata.entry_points(group=group)
