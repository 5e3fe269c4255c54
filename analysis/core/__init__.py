"""From tables to the list of a report's figures: which statistics, of whom, in which scopes."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.core.analysis import (
        Analysis as Analysis,
        analyse as analyse,
        completed as completed,
        estimates as estimates,
        headline as headline,
    )
    from analysis.core.options import Options as Options

_HOME = {
    "Analysis": "analysis.core.analysis",
    "Options": "analysis.core.options",
    "analyse": "analysis.core.analysis",
    "completed": "analysis.core.analysis",
    "estimates": "analysis.core.analysis",
    "headline": "analysis.core.analysis",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'analysis.core' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
