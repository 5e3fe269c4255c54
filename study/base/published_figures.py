"""Figures that a publication reports on the data of a study."""

from dataclasses import dataclass, field
from typing import Literal

from study.base.declaration import Declaration, described

Measure = Literal["pearson", "spearman", "preference_accuracy", "mean"]


@dataclass(frozen=True)
class PublishedFigures(Declaration):
    """One measure of several scorers, as a publication reports it.

    In `figures`, two raters that are compared have both names with "and" between them.

    Raises
    ------
    ValueError
        The measure is unknown, there is no source or figure, or a construct is named for another
        measure than means, or for these is not.
    """

    source: str = field(metadata=described("publication and table"))
    measure: Measure = field(
        metadata=described("statistic of the report that they are; mean is that of each system")
    )
    figures: dict[str, dict[str, float]] = field(
        metadata=described(
            "by scorer, then by construct, or for means by system; a scorer of the study has its "
            "name there"
        )
    )
    on: Literal["responses", "preferences"] = field(
        default="responses",
        metadata=described("what a correlation is with: people's values, or their preferences"),
    )
    construct_key: str | None = field(
        default=None, metadata=described("key of the construct that a mean is of")
    )
    note: str = field(default="", metadata=described("remark below the table"))

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.source or not self.figures:
            raise ValueError("published figures need a source and figures")
        if (self.measure == "mean") != (self.construct_key is not None):
            raise ValueError("construct_key: a mean needs one, and other measures have none")
