"""Studies: settings, database, import and export, and the tables that `analysis` takes."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from study.base.scales import Scale as Scale
    from study.errors import Fault as Fault, InputError as InputError, StudyError as StudyError
    from study.export.study_export import export_study as export_study
    from study.importing.file_import import import_file as import_file
    from study.importing.read_table import read_scores as read_scores
    from study.schema.upgrade import upgrade_study as upgrade_study
    from study.settings.study_toml import StudyConfig as StudyConfig
    from study.status import study_status as study_status
    from study.study import Study as Study

_HOME = {
    "Study": "study.study",
    "StudyConfig": "study.settings.study_toml",
    "Fault": "study.errors",
    "InputError": "study.errors",
    "StudyError": "study.errors",
    "Scale": "study.base.scales",
    "export_study": "study.export.study_export",
    "import_file": "study.importing.file_import",
    "read_scores": "study.importing.read_table",
    "study_status": "study.status",
    "upgrade_study": "study.schema.upgrade",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    # Lazy (PEP 562): importing `study` costs nothing until something of it is used.
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'study' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
