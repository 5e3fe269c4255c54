"""What is known beforehand when a file is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from study.importing.reading.record_cells import RecordCells


@dataclass(frozen=True)
class Options:
    """What the caller says about a file, and what the study knows.

    `scorer`, `system` and `construct` stand for columns that the file lacks.
    """

    constructs: tuple[str, ...] = ()
    """Known constructs, which may be columns of a wide table."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    """By scorer: human, adjudicated, judge or metric."""
    scorer: str | None = None
    system: str | None = None
    construct: str | None = None
    queries: Sequence[str] = ()
    """Ids of the study's queries in the order of their import."""

    def kind(self, cells: RecordCells, scorer: str | None) -> str | None:
        """Return the kind of a scorer, from the record or from what is known."""
        given = cells.key("scorer_kind")
        known = given or self.kinds.get(scorer or "")
        if known is None and scorer is not None:
            cells.fault(
                f"what kind of scorer is {scorer!r}?",
                "Say so in a column scorer_kind, with --kind "
                f"{scorer}=human (or adjudicated, judge, metric), or in study.toml.",
                "scorer",
            )
        return known
