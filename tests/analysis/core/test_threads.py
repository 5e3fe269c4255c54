"""The same bits with one thread of linear algebra and with two."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]

#: Large enough that BLAS divides its products among threads.
WORK = """
import json, sys
from analysis import Options, analyse
from analysis.render.output_files import as_json
from tests.analysis.scores import simulated, table
frame = simulated(queries=400, systems=4, raters=3, constructs=("QR", "CC"), missing=0.2)
analysis = analyse(table(frame), options=Options(resamples=1000, seed=5))
print(json.dumps([estimate.as_json() for estimate in analysis.estimates]))
"""


def estimates(threads: int) -> str:
    one_each = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), str(threads))
    run = subprocess.run(
        [sys.executable, "-c", WORK],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | one_each | {"NUMBA_NUM_THREADS": str(threads)},
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core: BLAS has one thread anyway")
def test_a_report_has_the_same_bits_with_one_thread_and_with_two() -> None:
    assert estimates(1) == estimates(2)
