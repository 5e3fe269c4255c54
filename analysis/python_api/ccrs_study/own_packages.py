"""The project's packages are imported under their names, whatever the user's files are called.

The packages are called study, judge, annotate_ui and analysis. A user's own analysis.py or study.py
next to a script or notebook would be imported in their place.
"""

import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

PACKAGES = ("study", "judge", "annotate_ui", "analysis")


def home() -> Path:
    """The folder in which the project's packages are."""
    return next(
        folder
        for folder in Path(__file__).resolve().parents
        if (folder / "analysis" / "core").is_dir()
    )


def import_packages() -> None:
    """Import the project's packages from where this one is.

    Raises
    ------
    ImportError
        Another module of such a name is already imported.
    """
    place = home()
    for name in PACKAGES:
        module = sys.modules.get(name)
        if module is None:
            spec = PathFinder.find_spec(name, [str(place)])
            if spec is None or spec.loader is None:
                raise ImportError(f"ccrs-study is incomplete: {place / name} is missing")
            module = sys.modules[name] = module_from_spec(spec)
            spec.loader.exec_module(module)
        elif Path(module.__file__ or "").resolve().parent != place / name:
            raise ImportError(
                f"{module.__file__ or name} is imported as {name!r}, the name of a package of "
                "ccrs-study. Import ccrs_study before it, or rename that file."
            )
