"""The report of an analysis: verdict, figures, tables, HTML and JSON."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.report.document import Document as Document, as_document as as_document
    from analysis.report.verdict import Verdict as Verdict, verdicts as verdicts
    from analysis.report.writing import (
        write_document as write_document,
        write_report as write_report,
    )

_HOME = {
    "Document": "analysis.report.document",
    "as_document": "analysis.report.document",
    "Verdict": "analysis.report.verdict",
    "verdicts": "analysis.report.verdict",
    "write_document": "analysis.report.writing",
    "write_report": "analysis.report.writing",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'analysis.report' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
