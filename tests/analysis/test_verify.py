import pytest

from analysis import verify as verifying
from analysis.verify import LibraryCheck, verify
from tests.analysis.scores import simulated, table


def test_every_figure_equals_that_of_the_other_libraries() -> None:
    checks = verify(table(simulated(queries=20, missing=0.2)))
    done = [check for check in checks if check.agrees is not None]
    assert {check.library for check in done} == {"krippendorff", "pingouin", "scipy"}
    assert [check for check in done if not check.agrees] == []


def test_what_a_library_cannot_take_is_left_with_a_reason() -> None:
    checks = verify(table(simulated(queries=2, systems=2)))
    icc = next(check for check in checks if check.library == "pingouin")
    assert icc.agrees is None
    assert icc.reason == "4 responses were rated by all; the library needs 5"


def test_nobody_to_check_gives_no_checks() -> None:
    frame = simulated(raters=0)
    assert verify(table(frame)) == []


def test_a_difference_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifying, "_krippendorff", lambda *_: 0.123)
    checks = verify(table(simulated()))
    wrong: list[LibraryCheck] = [check for check in checks if check.agrees is False]
    assert {check.library for check in wrong} == {"krippendorff"}


def test_a_library_that_refuses_is_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(values: object, level: object) -> float:
        raise RuntimeError("no more room")

    monkeypatch.setattr(verifying, "_krippendorff", broken)
    checks = verify(table(simulated()))
    first = next(check for check in checks if check.library == "krippendorff")
    assert first.agrees is None
    assert first.reason == "krippendorff refused: RuntimeError: no more room"
