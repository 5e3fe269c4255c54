"""The example study that travels with the package."""

from importlib.resources import as_file, files
from pathlib import Path

from study.importing.file_import import import_file
from study.study import Study


def build_example(folder: Path | str) -> Study:
    """Make the example study in `folder`.

    Its raters and its judge are simulated and named so; data/example/README.md says how, and
    which facts are planted in them.
    """
    with as_file(files("study._example")) as source:
        study = Study.create(folder, (source / "study.toml").read_text(encoding="utf-8"))
        for name in ("responses.jsonl", "scores.csv"):
            import_file(study, source / name)
    return study
