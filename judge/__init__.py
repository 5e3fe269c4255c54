"""CCRS scores from a language model: prompts, engines, runs that resume, answers kept and read."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judge.ac_metrics import store_ac_metrics as store_ac_metrics
    from judge.audit.auditing import RunResponse as RunResponse, show_response as show_response
    from judge.audit.comparing import RunComparison as RunComparison, compare_runs as compare_runs
    from judge.audit.exporting import RunExport as RunExport, export_run as export_run
    from judge.audit.listing import RunSummary as RunSummary, list_runs as list_runs
    from judge.audit.reparsing import Reparsing as Reparsing, reparse_run as reparse_run
    from judge.audit.run_details import RunDetails as RunDetails
    from judge.audit.showing import show_run as show_run
    from judge.judging import RunStoppedError as RunStoppedError, judge_study as judge_study
    from judge.matches import (
        exact_match as exact_match,
        normalized_match as normalized_match,
        token_f1 as token_f1,
    )
    from judge.outcome import Outcome as Outcome
    from judge.parsing import Parsed as Parsed, parse_answer as parse_answer
    from judge.previewing import Preview as Preview, preview as preview
    from judge.probes.outcome import ProbeOutcome as ProbeOutcome, ProbePreview as ProbePreview
    from judge.probes.probing import (
        ProbingStoppedError as ProbingStoppedError,
        preview_probes as preview_probes,
        probe_study as probe_study,
    )
    from judge.prompts import PromptVersion as PromptVersion
    from judge.settings import JudgeSettings as JudgeSettings
    from judge.versions import (
        VersionSummary as VersionSummary,
        copy_version as copy_version,
        list_versions as list_versions,
        prompt_version as prompt_version,
    )

_HOME = {
    "JudgeSettings": "judge.settings",
    "Outcome": "judge.outcome",
    "Parsed": "judge.parsing",
    "Preview": "judge.previewing",
    "ProbeOutcome": "judge.probes.outcome",
    "ProbePreview": "judge.probes.outcome",
    "ProbingStoppedError": "judge.probes.probing",
    "PromptVersion": "judge.prompts",
    "Reparsing": "judge.audit.reparsing",
    "RunComparison": "judge.audit.comparing",
    "RunDetails": "judge.audit.run_details",
    "RunExport": "judge.audit.exporting",
    "RunResponse": "judge.audit.auditing",
    "RunStoppedError": "judge.judging",
    "RunSummary": "judge.audit.listing",
    "VersionSummary": "judge.versions",
    "compare_runs": "judge.audit.comparing",
    "copy_version": "judge.versions",
    "exact_match": "judge.matches",
    "export_run": "judge.audit.exporting",
    "judge_study": "judge.judging",
    "list_runs": "judge.audit.listing",
    "list_versions": "judge.versions",
    "normalized_match": "judge.matches",
    "parse_answer": "judge.parsing",
    "preview": "judge.previewing",
    "preview_probes": "judge.probes.probing",
    "probe_study": "judge.probes.probing",
    "prompt_version": "judge.versions",
    "reparse_run": "judge.audit.reparsing",
    "show_response": "judge.audit.auditing",
    "show_run": "judge.audit.showing",
    "store_ac_metrics": "judge.ac_metrics",
    "token_f1": "judge.matches",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    # Lazy (PEP 562): importing `judge` costs nothing until something of it is used.
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'judge' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
