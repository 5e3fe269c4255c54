"""Interfaces and figures that change only on purpose; `python -m tests.golden` renews them."""

import difflib

import pytest

from tests.golden.snapshot import FOLDER, SNAPSHOTS, figures

UPDATE = "If this is meant, run `python -m tests.golden` and commit the snapshot with its reason."


@pytest.mark.parametrize("name", [name for name in SNAPSHOTS if name != "figures"])
def test_an_interface_is_as_its_snapshot(name: str) -> None:
    before = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    after = SNAPSHOTS[name]().splitlines()
    changes = list(difflib.unified_diff(before, after, "snapshot", "now", lineterm="", n=1))
    assert not changes, "\n".join([UPDATE, *changes[:60]])


def test_the_figures_of_the_example_are_as_their_snapshot() -> None:
    before = _numbers((FOLDER / "figures.txt").read_text(encoding="utf-8"))
    after = _numbers(figures())
    assert after.keys() == before.keys(), UPDATE
    for key, numbers in before.items():
        # Other versions of NumPy and SciPy may round the last digit differently.
        assert after[key] == pytest.approx(numbers, rel=1e-9, abs=1e-12, nan_ok=True), (key, UPDATE)


def _numbers(text: str) -> dict[str, list[float]]:
    """Return the numbers of each estimate; a missing one is NaN."""
    pairs = (line.rsplit(" = ", 1) for line in text.splitlines())
    return {key: [float(number) for number in numbers.split()] for key, numbers in pairs}
