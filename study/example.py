"""The example study, which is part of the package."""

from importlib.resources import as_file, files
from pathlib import Path

from study.importing.file_import import import_file
from study.study import Study


def build_example(folder: Path | str) -> Study:
    """Create the example study in `folder`.

    Its raters and its judge are simulated and named accordingly; data/example/README.md describes
    how, and which effects are built in.
    """
    with as_file(files("study._example")) as source:
        study = Study.create(folder, (source / "study.toml").read_text(encoding="utf-8"))
        for name in ("responses.jsonl", "scores.csv"):
            import_file(study, source / name)
    return study
