"""The settings of a run by a rubric of one sentence (`ccrs judge --rubric`)."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judge.run_settings import JudgeSettings


@contextmanager
def rubric_settings(
    study: Any, settings: JudgeSettings, rubric: str | None
) -> Iterator[JudgeSettings]:
    """Return the settings with the prompt version of a rubric, which only a run of it keeps."""
    if rubric is None:
        yield settings
        return
    from shutil import rmtree

    from judge.prompts.prompt_versions import STUDY_PROMPTS
    from judge.prompts.rubric import store_rubric
    from judge.running.runs import has_run

    kept = {path.name for path in (study.folder / STUDY_PROMPTS).glob("*")}
    version = store_rubric(study, rubric, settings.constructs, settings.prompts)
    # Beside a run with other words, the model alone says nothing.
    name = settings.name or " ".join(filter(None, (settings.model, version)))
    try:
        yield settings.model_copy(update={"prompts": version, "name": name})
    finally:
        if version not in kept and not has_run(study, version):
            rmtree(study.folder / STUDY_PROMPTS / version)
