"""How numbers are computed: compiled loops, one thread for linear algebra, quantiles.

Quantiles come from `scipy.special`, since importing `scipy.stats` takes a second or more. It is
loaded with the first one: what needs none does not wait for it (see `core.distributions`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from analysis.core.distributions import t_tail

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Loop = TypeVar("Loop", bound=Callable[..., Any])


def compiled(function: Loop) -> Loop:
    """Compile a loop over numpy arrays; it releases the interpreter lock while it runs.

    Compiling takes a few seconds once per machine: the result is kept in the user's folder of
    caches (`$XDG_CACHE_HOME`, else ~/.cache), or where NUMBA_CACHE_DIR says. Without a place to
    write, each process compiles again.
    """
    # Imported here: loading numba takes longer than most of what needs no compiled loop.
    from numba import config, njit

    # numba would write beside the module. There pip does not know the files: after an uninstall
    # they keep the package's folders, which then hide the package where it is installed anew.
    settings: Any = config
    user_folder: str = settings.CACHE_DIR
    folder = user_folder or _cache_folder()
    cached: Any = njit(nogil=True, cache=bool(folder))
    uncached: Any = njit(nogil=True)
    try:
        settings.CACHE_DIR = folder
        kernel: Loop = cached(function)
    except RuntimeError:
        kernel = uncached(function)
    finally:
        settings.CACHE_DIR = user_folder
    return kernel


def _cache_folder() -> str:
    """The user's own folder for compiled loops, or "" where it cannot be written.

    The files hold code that is run, so the folder is closed to others.
    """
    try:
        caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        folder = caches / "ccrs-study" / "compiled"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return ""
    return str(folder) if os.access(folder, os.W_OK | os.X_OK) else ""


@cache
def _libraries() -> ThreadpoolController:
    # SciPy's own BLAS is not listed before it is loaded.
    import scipy.special  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Run BLAS products in one thread: with several, their sums depend on how many there are."""
    with _libraries().limit(limits=1, user_api="blas"):
        yield


def t_quantile(probability: float, df: float) -> float:
    """Student's t with df degrees of freedom."""
    from scipy import special

    return float(special.stdtrit(df, probability))


def two_sided_p(t: float, df: float) -> float:
    """p of a t value with df degrees of freedom, infinite for the normal distribution."""
    return 2 * t_tail(abs(t), df)


def p_by_source(value: float, variances: Sequence[float], dfs: Sequence[float]) -> float:
    """The level at which an interval by source ends at 0.

    Its half width squared is the sum of each variance times the squared t quantile with the
    variance's own degrees of freedom.
    """
    low, high = -300.0, 0.0
    for _ in range(60):
        middle = (low + high) / 2
        quantiles = [t_quantile(10**middle / 2, df) for df in dfs]
        # A quantile of few degrees of freedom may be too large to be squared by a power.
        reach = sum(q * q * variance for q, variance in zip(quantiles, variances, strict=True))
        low, high = (middle, high) if reach > value**2 else (low, middle)
    return float(10**high)


def f_quantile(probability: float, df_numerator: float, df_denominator: float) -> float:
    """F with the degrees of freedom of numerator and denominator."""
    from scipy import special

    return float(special.fdtri(df_numerator, df_denominator, probability))


def chi2_quantile(probability: float, df: float) -> float:
    """Chi-squared with df degrees of freedom."""
    from scipy import special

    return 2 * float(special.gammaincinv(df / 2, probability))
