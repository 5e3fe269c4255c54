"""What is known beforehand when a file is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from study.importing.readers.record_cells import KINDS, RecordCells
from study.scales import RatingScale


@dataclass(frozen=True)
class FormatOptions:
    """What the caller says about a file, and what the study knows.

    `scorer`, `system` and `construct` replace columns that the file lacks.
    """

    constructs: tuple[str, ...] = ()
    """Known constructs, which may be columns of a wide table."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    """By scorer: human, adjudicated, judge or metric."""
    said: Mapping[str, str] = field(default_factory=dict)
    """Those of `kinds` that the caller says of this very file."""
    scorer: str | None = None
    system: str | None = None
    construct: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    """Names of the constructs by their keys."""
    scales: Mapping[str, RatingScale] = field(default_factory=dict)
    """Scales of the constructs by their keys."""
    controls: Mapping[str, str] = field(default_factory=dict)
    """Control of a form that was rated on to the construct that it rates; empty: left out."""
    controls_said: Mapping[str, str] = field(default_factory=dict)
    """Those of `controls` that the caller says of this very file."""
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Control of such a form to its least and greatest value, which become its construct's."""
    raters: Mapping[str, str] = field(default_factory=dict)
    """User of such a form to the scorer that they are; empty: left out."""
    rater_prefix: str | None = None
    """What the scorers of other users begin with, before the user's number."""
    pulled: Sequence[tuple[str, str, str | None]] = ()
    """Server, user's number and code of each rater that was pulled; without a code: erased."""
    queries: Sequence[str] = ()
    """Ids of the study's queries in the order of their import."""

    def kind(self, cells: RecordCells, scorer: str | None) -> str | None:
        """Return the kind of a scorer, from the record or from what is known."""
        from_column = cells.key("scorer_kind")
        named = self.said.get(scorer or "", from_column)
        if from_column in KINDS and from_column != named:
            _contradicted(
                cells, f"{scorer!r} is {from_column}", f"--kind {scorer}={named}", "scorer_kind"
            )
        known = from_column or self.kinds.get(scorer or "")
        if known is None and scorer is not None:
            cells.unsaid("scorer_kind")
            cells.fault_once(
                f"what kind of scorer is {scorer!r}?",
                "Say so in a column scorer_kind, with --kind "
                f"{scorer}=human (or adjudicated, judge, metric), or in study.toml.",
                cells.column("scorer"),
            )
        return known

    def scorer_of(self, cells: RecordCells) -> str | None:
        """Return the scorer that the record names, or the one given for all."""
        return _from_file(cells, "scorer", self.scorer, "--scorer")

    def system_of(self, cells: RecordCells) -> str | None:
        """Return the system that the record names, or the one given for all."""
        return _from_file(cells, "system", self.system, "--system")

    def construct_of(self, cells: RecordCells) -> str | None:
        """Return the construct that the record names, or the one given for all."""
        return _from_file(cells, "construct_key", self.construct, "construct =")


def _from_file(cells: RecordCells, name: str, option: str | None, flag: str) -> str | None:
    value = cells.key(name)
    if value is not None and option not in (None, value):
        _contradicted(cells, f"{name.partition('_')[0]} {value!r}", f"{flag} {option}", name)
    return value or option


def _contradicted(cells: RecordCells, value: str, option: str, name: str) -> None:
    cells.fault_once(
        f"the file says {value}, but the option {option}.",
        "Options say what a file leaves unsaid: leave it out, or correct the file.",
        cells.column(name),
    )
