"""The report of an analysis: verdict, figures, tables, HTML and JSON."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.pipeline.document import Document as Document, as_document as as_document
    from analysis.pipeline.report_files import (
        write_document as write_document,
        write_report as write_report,
    )
    from analysis.render.verdict.verdicts import Verdict as Verdict, verdicts as verdicts

_HOME = {
    "Document": "analysis.pipeline.document",
    "as_document": "analysis.pipeline.document",
    "Verdict": "analysis.render.verdict.verdicts",
    "verdicts": "analysis.render.verdict.verdicts",
    "write_document": "analysis.pipeline.report_files",
    "write_report": "analysis.pipeline.report_files",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'analysis.render' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
