"""Find out whether an LLM judge can be trusted: `import ccrs_study as ccrs`.

`evaluate` compares a judge with people in one line; the public names of the packages study, judge
and analysis are here too.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ccrs_study.own_packages import import_packages

import_packages()

if TYPE_CHECKING:
    from analysis import (
        Options as Options,
        PreferenceTable as PreferenceTable,
        Scale as Scale,
        ScoreTable as ScoreTable,
        analyse as analyse,
        krippendorff_alpha as krippendorff_alpha,
        write_report as write_report,
    )
    from ccrs_study.evaluation import Evaluation as Evaluation, evaluate as evaluate
    from judge import judge_study as judge_study
    from study import Study as Study, import_file as import_file, read_scores as read_scores

_HOME = {
    "Evaluation": "ccrs_study.evaluation",
    "evaluate": "ccrs_study.evaluation",
    **dict.fromkeys(("Options", "PreferenceTable", "Scale", "ScoreTable"), "analysis"),
    **dict.fromkeys(("analyse", "krippendorff_alpha", "write_report"), "analysis"),
    "judge_study": "judge",
    **dict.fromkeys(("Study", "import_file", "read_scores"), "study"),
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    # Lazy (PEP 562): importing this package costs nothing until something of it is used.
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'ccrs_study' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
