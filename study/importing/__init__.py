"""Files and rows come in here, through one door, all or none."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from study.importing.file_import import import_file as import_file
    from study.importing.import_store import import_rows as import_rows
    from study.importing.import_summary import ImportSummary as ImportSummary
    from study.importing.read_table import (
        read_preferences as read_preferences,
        read_scores as read_scores,
    )
    from study.importing.rows import (
        LocatedRow as LocatedRow,
        PassageRow as PassageRow,
        PreferenceRow as PreferenceRow,
        ResponseRow as ResponseRow,
        ScoreRow as ScoreRow,
    )

_HOME = {
    "ImportSummary": "study.importing.import_summary",
    "PassageRow": "study.importing.rows",
    "LocatedRow": "study.importing.rows",
    "PreferenceRow": "study.importing.rows",
    "ResponseRow": "study.importing.rows",
    "ScoreRow": "study.importing.rows",
    "import_file": "study.importing.file_import",
    "import_rows": "study.importing.import_store",
    "read_preferences": "study.importing.read_table",
    "read_scores": "study.importing.read_table",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'study.importing' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
