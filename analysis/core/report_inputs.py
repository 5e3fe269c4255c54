"""What a report is told beside its tables of values, by whoever hands them over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True)
class Beside:
    """No figure depends on it."""

    judge_runs: tuple[Mapping[str, Any], ...] = ()
    """What the judges' scores were made with, as in report/schema.json."""
    reasons: Mapping[tuple[str, str, str], str] = field(
        default_factory=lambda: MappingProxyType({})
    )
    """What a judge wrote before its score, by scorer, response and construct."""
