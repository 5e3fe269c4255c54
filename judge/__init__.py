"""Scores of responses from a language model: prompts, engines, resumable runs, stored answers."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judge.engines.engine_settings import (
        FilesSettings as FilesSettings,
        OpenAISettings as OpenAISettings,
        RaySettings as RaySettings,
        VLLMSettings as VLLMSettings,
    )
    from judge.inspect.compare import compare_runs as compare_runs
    from judge.inspect.export import export_run as export_run
    from judge.inspect.list import list_runs as list_runs
    from judge.inspect.measured_response import show_measurements as show_measurements
    from judge.inspect.reparse import reparse_run as reparse_run
    from judge.inspect.response_details import show_response as show_response
    from judge.inspect.show import show_run as show_run
    from judge.metrics.lexical import (
        exact_match as exact_match,
        normalized_match as normalized_match,
        token_f1 as token_f1,
    )
    from judge.parsing.parse_answer import parse_answer as parse_answer
    from judge.prompts.prompt_versions import (
        copy_version as copy_version,
        list_versions as list_versions,
        prompt_version as prompt_version,
    )
    from judge.prompts.rubric import store_rubric as store_rubric
    from judge.responding.respond import respond_study as respond_study
    from judge.running.item_runs import (
        compare_pairs as compare_pairs,
        preview_pairs as preview_pairs,
        preview_probes as preview_probes,
        probe_study as probe_study,
    )
    from judge.running.preview import preview as preview
    from judge.running.run_outcome import Outcome as Outcome
    from judge.running.runner import (
        RunStoppedError as RunStoppedError,
        judge_metrics as judge_metrics,
        judge_study as judge_study,
    )
    from judge.running.text_scores import (
        measure_study as measure_study,
        store_text_metrics as store_text_metrics,
    )
    from judge.running.unprompted_metrics import MetricModels as MetricModels

_MODULES = {
    "engines.engine_settings": (
        "FilesSettings",
        "OpenAISettings",
        "RaySettings",
        "VLLMSettings",
    ),
    "inspect.compare": ("compare_runs",),
    "inspect.export": ("export_run",),
    "inspect.list": ("list_runs",),
    "inspect.measured_response": ("show_measurements",),
    "inspect.reparse": ("reparse_run",),
    "inspect.response_details": ("show_response",),
    "inspect.show": ("show_run",),
    "metrics.lexical": ("exact_match", "normalized_match", "token_f1"),
    "parsing.parse_answer": ("parse_answer",),
    "prompts.prompt_versions": ("copy_version", "list_versions", "prompt_version"),
    "prompts.rubric": ("store_rubric",),
    "responding.respond": ("respond_study",),
    "running.item_runs": ("compare_pairs", "preview_pairs", "preview_probes", "probe_study"),
    "running.preview": ("preview",),
    "running.run_outcome": ("Outcome",),
    "running.runner": ("RunStoppedError", "judge_metrics", "judge_study"),
    "running.unprompted_metrics": ("MetricModels",),
    "running.text_scores": ("measure_study", "store_text_metrics"),
}
_MODULE_OF = {name: f"judge.{module}" for module, names in _MODULES.items() for name in names}

__all__ = list(_MODULE_OF)


def __getattr__(name: str) -> Any:
    # Lazy (PEP 562): importing `judge` loads a module only when one of its names is used.
    if name in _MODULE_OF:
        return getattr(import_module(_MODULE_OF[name]), name)
    raise AttributeError(f"module 'judge' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
