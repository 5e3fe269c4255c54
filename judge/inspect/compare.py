"""Two runs beside each other: what differs in how they were made."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from judge.inspect.run_details import RunDetails
from judge.inspect.show import show_run
from judge.text import printable
from study.errors import StudyError
from study.study import Study


@dataclass(frozen=True)
class Difference:
    """A point in which two runs differ."""

    name: str
    """Such as model, or decoding.temperature."""
    first: Any
    second: Any


@dataclass(frozen=True)
class RunComparison:
    """What differs between two runs of a study, apart from their scores."""

    first: str
    second: str
    conditions: tuple[Difference, ...]
    """What makes them two runs."""
    beside: tuple[Difference, ...]
    """What may move scores and is no part of a run's identity: software, parser, served model."""

    def as_json(self) -> dict[str, Any]:
        """Return the comparison as values that JSON can hold."""
        return asdict(self)

    def lines(self) -> list[str]:
        """Return the comparison as lines of text, without control characters."""
        lines = [f"{self.first} and {self.second} differ in:"]
        lines += [f"  {_line(one)}" for one in self.conditions]
        if self.beside:
            lines.append("Beside that:")
            lines += [f"  {_line(one)}" for one in self.beside]
        return [printable(line) for line in lines]


def compare_runs(study: Study, first: str, second: str) -> RunComparison:
    """Return what differs between two runs in how they were made.

    How their scores differ is computed from the score table by
    `analysis.statistics.agreement.scorer_comparison.two_scorers`.

    Raises
    ------
    StudyError
        The study has no such run, or both are the same.
    """
    if first == second:
        raise StudyError(f"{first!r} can't be compared with itself; name two runs.")
    one, other = show_run(study, first), show_run(study, second)
    return RunComparison(
        first,
        second,
        tuple(_differences(_conditions(one), _conditions(other))),
        tuple(_differences(_beside(one), _beside(other))),
    )


def _conditions(run: RunDetails) -> dict[str, Any]:
    names = (
        "engine",
        "endpoint",
        "model",
        "model_revision",
        "prompt_version",
        "prompt_hash",
        "seed",
        "repeats",
    )
    known: dict[str, Any] = {name: getattr(run, name) for name in names}
    return known | {f"decoding.{name}": value for name, value in run.decoding.items()}


def _beside(run: RunDetails) -> dict[str, Any]:
    served = [
        ", ".join(part for part in (one.model, one.fingerprint) if part) for one in run.served
    ]
    return {
        **{f"software.{name}": value for name, value in run.software.items()},
        **{f"observed.{name}": value for name, value in run.observed.items()},
        "parser": ", ".join(run.parsers) or None,
        "served": "; ".join(name for name in served if name) or None,
        "study.toml": run.config_hash,
    }


def _differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[Difference]:
    for name in dict.fromkeys([*first, *second]):
        if first.get(name) != second.get(name):
            yield Difference(name, first.get(name), second.get(name))


def _line(one: Difference) -> str:
    first, second = (
        "not there" if value is None else value if isinstance(value, str) else repr(value)
        for value in (one.first, one.second)
    )
    return f"{one.name}: {first} | {second}"
