"""The metric of a stored run, where this installation or the study has it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judge.metrics.metric import Metric
from judge.metrics.registry import load_metric
from judge.protocol.conditions import metric_of
from study.errors import StudyError


def run_metric(run: Mapping[str, Any], study_folder: Path) -> Metric | None:
    """Return the metric of a stored run with the very prompts that it asked; None: not at hand."""
    try:
        metric = load_metric(metric_of(run), run["prompt_version"], study_folder)
    except StudyError:
        return None
    if metric.prompts is None or metric.prompts.hash != str(run["prompt_hash"]):
        return None
    return metric
