"""Public data sets with human judgments, fetched from their own homes and made into studies."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from study.datasets.dataset_study import FetchSummary as FetchSummary, fetch as fetch
    from study.datasets.openqa_accuracy import openqa_table1 as openqa_table1

_HOME = {
    "FetchSummary": ("study.datasets.dataset_study", "FetchSummary"),
    "fetch": ("study.datasets.dataset_study", "fetch"),
    "openqa_table1": ("study.datasets.openqa_accuracy", "openqa_table1"),
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        module, attribute = _HOME[name]
        return getattr(import_module(module), attribute)
    raise AttributeError(f"module 'study.datasets' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
