"""Statistics on plain arrays and tables: agreement, reliability, validity, reports."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.answer_correctness.composing import composed_ac as composed_ac
    from analysis.compose import Analysis as Analysis, Options as Options, analyse as analyse
    from analysis.errors import AnalysisError as AnalysisError, TableError as TableError
    from analysis.estimates import Estimate as Estimate
    from analysis.reliability.alpha import krippendorff_alpha as krippendorff_alpha
    from analysis.report import write_report as write_report
    from analysis.scales import Scale as Scale
    from analysis.tables import PreferenceTable as PreferenceTable, ScoreTable as ScoreTable

_HOME = {
    "Analysis": "analysis.compose",
    "AnalysisError": "analysis.errors",
    "Estimate": "analysis.estimates",
    "Options": "analysis.compose",
    "PreferenceTable": "analysis.tables",
    "Scale": "analysis.scales",
    "ScoreTable": "analysis.tables",
    "TableError": "analysis.errors",
    "analyse": "analysis.compose",
    "composed_ac": "analysis.answer_correctness.composing",
    "krippendorff_alpha": "analysis.reliability.alpha",
    "write_report": "analysis.report",
}

# A function named as its module is imported from there: `from analysis.reliability.icc import icc`.
__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    # Lazy (PEP 562): importing `analysis` costs nothing until something of it is used.
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'analysis' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
