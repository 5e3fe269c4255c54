import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from scipy import stats

from analysis.core import computation
from analysis.core.computation import chi2_quantile, f_quantile, t_quantile


def double(number: float) -> float:
    return 2 * number


COUNT = """
import numpy as np
from analysis.statistics.agreement import kendall
weights, one = np.ones((1, 2)), np.zeros(2, int)
print(kendall._by_table(weights, np.arange(2), one, one, (1, 1)).shape, kendall.__file__)
"""


def beside_the_package(**environment: str) -> set[str]:
    """Run a compiled loop in a new process; return the compiled files beside its module."""
    variables = {name: value for name, value in os.environ.items() if name not in environment}
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        variables.pop(name, None)
    done = subprocess.run(
        [sys.executable, "-c", COUNT],
        env=variables | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("(1, 3)")
    place = Path(done.stdout.split()[-1]).parent
    return {f"{file} {file.stat().st_mtime_ns}" for file in place.glob("__pycache__/*.nb?")}


def test_compiled_loops_are_kept_in_the_users_cache(tmp_path: Path) -> None:
    before = beside_the_package(HOME=os.devnull)
    assert beside_the_package(HOME=str(tmp_path)) == before
    kept = tmp_path / ".cache" / "ccrs-study" / "compiled"
    assert [*kept.rglob("kendall._by_table*.nbc")]
    # They hold code that is run.
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700


def test_the_users_own_choice_of_a_cache_holds(tmp_path: Path) -> None:
    beside_the_package(HOME=os.devnull, NUMBA_CACHE_DIR=str(tmp_path))
    assert [*tmp_path.rglob("kendall._by_table*.nbc")]
    beside_the_package(HOME=os.devnull, XDG_CACHE_HOME=str(tmp_path / "caches"))
    assert [*(tmp_path / "caches" / "ccrs-study").rglob("kendall._by_table*.nbc")]


def test_without_a_place_for_the_cache_it_is_compiled_anew(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    before = beside_the_package(HOME=os.devnull)
    assert beside_the_package(HOME=str(file)) == before


def test_a_compiled_function_gives_the_same() -> None:
    assert computation.compiled(double)(4) == 8


@pytest.mark.parametrize("probability", [0.005, 0.025, 0.5, 0.975])
@pytest.mark.parametrize("df", [1, 2.4, 30, 5000])
def test_equal_scipy_stats(probability: float, df: float) -> None:
    assert t_quantile(probability, df) == pytest.approx(stats.t.ppf(probability, df), abs=1e-12)
    assert chi2_quantile(probability, df) == pytest.approx(stats.chi2.ppf(probability, df))
    assert f_quantile(probability, df, 7.5) == pytest.approx(stats.f.ppf(probability, df, 7.5))
