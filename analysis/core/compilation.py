"""Compiling loops that numpy can't do, with a cache on disk where there can be one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

Loop = TypeVar("Loop", bound=Callable[..., Any])


def compiled(function: Loop) -> Loop:
    """The function compiled; it releases the interpreter while it runs.

    Compiling takes a few seconds once per machine. In a read-only installation without a home there
    is no place for the cache, and each process compiles anew.
    """
    kept: Any = njit(cache=True, nogil=True)
    anew: Any = njit(nogil=True)
    try:
        kernel: Loop = kept(function)
    except RuntimeError:
        kernel = anew(function)
    return kernel
