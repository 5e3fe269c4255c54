"""Who rates what: a seeded, balanced assignment of responses to raters."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from study.assignment.planner import Assigned as Assigned, assign as assign

__all__ = ["Assigned", "assign"]


def __getattr__(name: str) -> Any:
    # Lazy (PEP 562): the command's module lies here, and loads fast.
    if name in __all__:
        return getattr(import_module("study.assignment.planner"), name)
    raise AttributeError(f"module 'study.assignment' has no attribute {name!r}")
