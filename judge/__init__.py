"""CCRS scores from a language model: prompts, engines, runs that resume, answers kept and read."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judge.engines.engine_settings import (
        BatchSettings as BatchSettings,
        OpenAISettings as OpenAISettings,
        RecordedSettings as RecordedSettings,
        VLLMSettings as VLLMSettings,
    )
    from judge.inspect.compare import RunComparison as RunComparison, compare_runs as compare_runs
    from judge.inspect.export import RunExport as RunExport, export_run as export_run
    from judge.inspect.list import RunSummary as RunSummary, list_runs as list_runs
    from judge.inspect.reparse import Reparsing as Reparsing, reparse_run as reparse_run
    from judge.inspect.response_details import (
        RunResponse as RunResponse,
        show_response as show_response,
    )
    from judge.inspect.run_details import RunDetails as RunDetails
    from judge.inspect.show import show_run as show_run
    from judge.metrics.lexical import (
        exact_match as exact_match,
        normalized_match as normalized_match,
        token_f1 as token_f1,
    )
    from judge.parsing import Parsed as Parsed, parse_answer as parse_answer
    from judge.prompts.prompt_versions import (
        VersionSummary as VersionSummary,
        copy_version as copy_version,
        list_versions as list_versions,
        prompt_version as prompt_version,
    )
    from judge.prompts.template import PromptVersion as PromptVersion
    from judge.running.preview import Preview as Preview, preview as preview
    from judge.running.probe_outcome import (
        ProbeOutcome as ProbeOutcome,
        ProbePreview as ProbePreview,
    )
    from judge.running.probe_run import (
        ProbingStoppedError as ProbingStoppedError,
        preview_probes as preview_probes,
        probe_study as probe_study,
    )
    from judge.running.run_outcome import Outcome as Outcome
    from judge.running.runner import RunStoppedError as RunStoppedError, judge_study as judge_study
    from judge.running.text_scores import store_text_metrics as store_text_metrics
    from judge.settings import JudgeSettings as JudgeSettings

_HOME = {
    "BatchSettings": "judge.engines.engine_settings",
    "JudgeSettings": "judge.settings",
    "OpenAISettings": "judge.engines.engine_settings",
    "RecordedSettings": "judge.engines.engine_settings",
    "VLLMSettings": "judge.engines.engine_settings",
    "Outcome": "judge.running.run_outcome",
    "Parsed": "judge.parsing",
    "Preview": "judge.running.preview",
    "ProbeOutcome": "judge.running.probe_outcome",
    "ProbePreview": "judge.running.probe_outcome",
    "ProbingStoppedError": "judge.running.probe_run",
    "PromptVersion": "judge.prompts.template",
    "Reparsing": "judge.inspect.reparse",
    "RunComparison": "judge.inspect.compare",
    "RunDetails": "judge.inspect.run_details",
    "RunExport": "judge.inspect.export",
    "RunResponse": "judge.inspect.response_details",
    "RunStoppedError": "judge.running.runner",
    "RunSummary": "judge.inspect.list",
    "VersionSummary": "judge.prompts.prompt_versions",
    "compare_runs": "judge.inspect.compare",
    "copy_version": "judge.prompts.prompt_versions",
    "exact_match": "judge.metrics.lexical",
    "export_run": "judge.inspect.export",
    "judge_study": "judge.running.runner",
    "list_runs": "judge.inspect.list",
    "list_versions": "judge.prompts.prompt_versions",
    "normalized_match": "judge.metrics.lexical",
    "parse_answer": "judge.parsing",
    "preview": "judge.running.preview",
    "preview_probes": "judge.running.probe_run",
    "probe_study": "judge.running.probe_run",
    "prompt_version": "judge.prompts.prompt_versions",
    "reparse_run": "judge.inspect.reparse",
    "show_response": "judge.inspect.response_details",
    "show_run": "judge.inspect.show",
    "store_text_metrics": "judge.running.text_scores",
    "token_f1": "judge.metrics.lexical",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    # Lazy (PEP 562): importing `judge` costs nothing until something of it is used.
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'judge' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
