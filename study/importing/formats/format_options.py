"""What is known beforehand when a file is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from study.importing.readers.record_cells import KINDS, RecordCells
from study.scales import RatingScale


@dataclass(frozen=True)
class FormatOptions:
    """What the caller says about a file, and what the study knows.

    `scorer`, `system` and `construct` stand for columns that the file lacks.
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
        given = cells.key("scorer_kind")
        said = self.said.get(scorer or "", given)
        if given in KINDS and given != said:
            _contradicted(cells, f"{scorer!r} is {given}", f"--kind {scorer}={said}", "scorer_kind")
        known = given or self.kinds.get(scorer or "")
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
        """Return the scorer that the record names, or the one that stands for all."""
        return _own(cells, "scorer", self.scorer, "--scorer")

    def system_of(self, cells: RecordCells) -> str | None:
        """Return the system that the record names, or the one that stands for all."""
        return _own(cells, "system", self.system, "--system")

    def construct_of(self, cells: RecordCells) -> str | None:
        """Return the construct that the record names, or the one that stands for all."""
        return _own(cells, "construct_key", self.construct, "construct =")


def _own(cells: RecordCells, name: str, option: str | None, flag: str) -> str | None:
    own = cells.key(name)
    if own is not None and option not in (None, own):
        _contradicted(cells, f"{name.partition('_')[0]} {own!r}", f"{flag} {option}", name)
    return own or option


def _contradicted(cells: RecordCells, own: str, option: str, name: str) -> None:
    cells.fault_once(
        f"the file says {own}, but the option {option}.",
        "Options say what a file leaves unsaid: leave it out, or correct the file.",
        cells.column(name),
    )
