"""What sentences about decisions need to know of their surroundings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

from study.base.scales import Scale


class Described(Protocol):
    """Names and scales of a table; an `Analysis` is one."""

    @property
    def level(self) -> float:
        """Confidence level of the intervals."""

    def full_name(self, construct: str) -> str:
        """Name of a construct as readers know it."""

    def human_scale(self, construct: str) -> Scale | None:
        """Scale of people's values."""

    def scorer_scale(self, construct: str, scorer: str) -> Scale | None:
        """Scale of a scorer's values."""


@dataclass(frozen=True)
class DescribedTable:
    """The names and scales of a table of which only the first figures are computed."""

    level: float
    human_scale: Callable[[str], Scale | None]
    scorer_scale: Callable[[str, str], Scale | None]
    names: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def full_name(self, construct: str) -> str:
        """The construct's own name without another one."""
        return self.names.get(construct, construct)
