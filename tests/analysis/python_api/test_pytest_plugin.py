"""The fixture `ccrs_check` in a user's tests."""

import subprocess
import sys
from pathlib import Path

SCORES = "query_id,system,construct,scorer,scorer_kind,value\n" + "".join(
    f"q{n},s,QR,{scorer},{kind},{(7 * n) % 90 + shift}\n"
    for n in range(12)
    for scorer, kind, shift in (("llm", "judge", 5), ("anna", "human", 0))
)
GATE = '[[check]]\nstatistic = "mae"\nscope = "pooled"\nmaximum = {maximum}\n'
TEST = """
def test_judge(ccrs_check):
    ccrs_check("scores.csv", "--scale", "0:100", "--thresholds", "{gate}")
"""


def test_ccrs_check_passes_and_fails_as_the_command_does(tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text(SCORES)
    for gate, maximum in (("wide", 10), ("narrow", 1)):
        (tmp_path / f"{gate}.toml").write_text(GATE.format(maximum=maximum))
        (tmp_path / f"test_{gate}.py").write_text(TEST.format(gate=f"{gate}.toml"))
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", tmp_path],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "1 failed, 1 passed" in ran.stdout, ran.stdout + ran.stderr
    assert "SHORT  mae (QR, llm; pooled) 5, at most 1" in ran.stdout
