"""Comparing how two runs were made."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from judge.inspect.run_details import RunDetails
from judge.inspect.show import show_run
from judge.text import Result, printable
from study.errors import StudyError
from study.study import Study

_CONDITIONS = (
    "engine",
    "endpoint",
    "model",
    "model_revision",
    "prompt_version",
    "prompt_hash",
    "seed",
    "repeats",
)


@dataclass(frozen=True)
class Difference:
    """A field in which two runs differ."""

    name: str
    """Such as model, or decoding.temperature."""
    first: Any
    second: Any

    def line(self) -> str:
        """Return the difference as a line of text."""
        first, second = (
            "none" if value is None else value if isinstance(value, str) else repr(value)
            for value in (self.first, self.second)
        )
        return f"{self.name}: {first} | {second}"


@dataclass(frozen=True)
class RunComparison(Result):
    """The differences between two runs of a study, apart from their scores."""

    first: str
    second: str
    conditions: tuple[Difference, ...]
    """Differences that make them two runs."""
    other: tuple[Difference, ...]
    """Differences outside of the identity that may shift scores: software, parser, served model."""

    def lines(self) -> list[str]:
        """Return the comparison as lines of text, without control characters."""
        lines = [f"{self.first} and {self.second} differ in:"]
        lines += [f"  {difference.line()}" for difference in self.conditions]
        if self.other:
            lines.append("Other differences:")
            lines += [f"  {difference.line()}" for difference in self.other]
        return [printable(line) for line in lines]


def compare_runs(study: Study, first: str, second: str) -> RunComparison:
    """Return the differences in how two runs were made.

    `analysis.statistics.agreement.scorer_comparison.two_scorers` computes how their scores differ.

    Raises
    ------
    StudyError
        The study does not have one of the runs, or both are the same.
    """
    if first == second:
        raise StudyError(f"{first!r} can't be compared with itself; name two runs.")
    runs = show_run(study, first), show_run(study, second)
    return RunComparison(
        first,
        second,
        tuple(_differences(*map(_conditions, runs))),
        tuple(_differences(*map(_other_properties, runs))),
    )


def _conditions(run: RunDetails) -> dict[str, Any]:
    conditions: dict[str, Any] = {name: getattr(run, name) for name in _CONDITIONS}
    return conditions | {f"decoding.{name}": value for name, value in run.decoding.items()}


def _other_properties(run: RunDetails) -> dict[str, Any]:
    return {
        **{f"software.{name}": value for name, value in run.software.items()},
        **{f"observed.{name}": value for name, value in run.observed.items()},
        "parser": ", ".join(run.parsers) or None,
        "served": "; ".join(served.name for served in run.served if served.name) or None,
        "study.toml": run.config_hash,
    }


def _differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[Difference]:
    for name in dict.fromkeys([*first, *second]):
        if first.get(name) != second.get(name):
            yield Difference(name, first.get(name), second.get(name))
