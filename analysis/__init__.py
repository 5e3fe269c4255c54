"""Statistics on plain arrays and tables: agreement, reliability, validity, reports."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.core.analysis import Analysis as Analysis
    from analysis.core.errors import AnalysisError as AnalysisError, TableError as TableError
    from analysis.core.estimates import Estimate as Estimate
    from analysis.core.options import Options as Options
    from analysis.core.tables import PreferenceTable as PreferenceTable, ScoreTable as ScoreTable
    from analysis.pipeline.estimation import analyse as analyse
    from analysis.pipeline.report_files import write_report as write_report
    from analysis.render.verdicts import verdicts as verdicts
    from analysis.statistics.answer_correctness import composed_ac as composed_ac
    from analysis.statistics.reliability.alpha import krippendorff_alpha as krippendorff_alpha
    from study.base.scales import Scale as Scale

_HOME = {
    "Analysis": "analysis.core.analysis",
    "AnalysisError": "analysis.core.errors",
    "Estimate": "analysis.core.estimates",
    "Options": "analysis.core.options",
    "PreferenceTable": "analysis.core.tables",
    "Scale": "study.base.scales",
    "ScoreTable": "analysis.core.tables",
    "TableError": "analysis.core.errors",
    "analyse": "analysis.pipeline.estimation",
    "composed_ac": "analysis.statistics.answer_correctness",
    "krippendorff_alpha": "analysis.statistics.reliability.alpha",
    "verdicts": "analysis.render.verdicts",
    "write_report": "analysis.pipeline.report_files",
}

# A function named as its module is imported from there:
# `from analysis.statistics.reliability.icc import icc`.
__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    # Lazy (PEP 562): importing `analysis` costs nothing until something of it is used.
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'analysis' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
