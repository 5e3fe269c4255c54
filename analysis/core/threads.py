"""One thread for linear algebra, so that figures have the same bits on every machine's cores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController


@cache
def _libraries() -> ThreadpoolController:
    # SciPy carries a BLAS of its own, which is found only once it is loaded.
    import scipy.special  # noqa: F401

    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Run BLAS products in one thread: with several, their sums depend on how many there are."""
    with _libraries().limit(limits=1, user_api="blas"):
        yield
