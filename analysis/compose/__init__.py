"""From tables to the list of a report's figures: which statistics, of whom, in which scopes."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.compose.analysing import (
        Analysis as Analysis,
        analyse as analyse,
        completed as completed,
        estimates as estimates,
        headline as headline,
    )
    from analysis.compose.options import Options as Options

_HOME = {
    "Analysis": "analysis.compose.analysing",
    "Options": "analysis.compose.options",
    "analyse": "analysis.compose.analysing",
    "completed": "analysis.compose.analysing",
    "estimates": "analysis.compose.analysing",
    "headline": "analysis.compose.analysing",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'analysis.compose' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
