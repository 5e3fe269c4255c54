"""Hypotheses on pairs of systems, declared before the scores are known."""

from dataclasses import dataclass, field
from typing import Literal

from study.base.declaration import Declaration, described


@dataclass(frozen=True)
class Hypothesis(Declaration):
    """A hypothesis about pairs of systems, declared before there are scores.

    `aggregation` maximum takes the largest p of all pairs and constructs; bonferroni_minimum the
    smallest p times the number of constructs (the test already allows for the number of pairs).

    Raises
    ------
    ValueError
        It has no name or no pair, a system is paired with itself, or `direction` or `aggregation`
        is unknown.
    """

    name: str = field(metadata=described("name in the report"))
    pairs: tuple[tuple[str, str], ...] = field(
        metadata=described("pairs of systems; the first is expected above the second")
    )
    direction: Literal["greater", "different"] = field(
        default="greater",
        metadata=described("greater tests each pair one-sided, different two-sided"),
    )
    constructs: tuple[str, ...] = field(
        default=(), metadata=described("keys of the constructs that it is about; default: all")
    )
    scorer: str | None = field(
        default=None, metadata=described("scorer whose scores test it; default: each judge")
    )
    aggregation: Literal["maximum", "bonferroni_minimum"] = field(
        default="maximum",
        metadata=described(
            "maximum claims every pair on every construct, bonferroni_minimum at least one"
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.name.strip():
            raise ValueError("a hypothesis needs a name")
        if not self.pairs:
            raise ValueError(f"hypothesis {self.name!r} has no pairs of systems")
        for pair in self.pairs:
            if len(pair) != 2 or pair[0] == pair[1]:
                raise ValueError(
                    f"hypothesis {self.name!r}: {list(pair)} is not a pair of two systems"
                )
