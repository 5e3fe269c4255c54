"""Exports of other evaluation tools, as a report reads them without a study."""

from types import ModuleType
from typing import NamedTuple

from study.importing.api_page import record_names
from study.importing.formats import (
    deepeval,
    inspect_log,
    langfuse_scores,
    langfuse_traces,
    phoenix_annotations,
    phoenix_spans,
    promptfoo,
)
from study.importing.readers.source import Head


class ToolExport(NamedTuple):
    """A format of another tool."""

    name: str
    module: ModuleType
    has_ratings: bool
    """Whether the file has people's scores and automatic ones under one name.

    Other files need a study, which knows what a metric measures and has people's ratings.
    """


_FORMATS: tuple[tuple[str, ModuleType, str | None], ...] = (
    ("promptfoo", promptfoo, None),
    ("deepeval", deepeval, None),
    ("inspect-log", inspect_log, None),
    ("langfuse-traces", langfuse_traces, "scores"),
    ("langfuse-scores", langfuse_scores, "source"),
    ("phoenix-spans", phoenix_spans, None),
    ("phoenix-annotations", phoenix_annotations, "annotator_kind"),
)
"""Name, module, and the cell of a record that comes with people's scores."""


def tool_export(head: Head) -> ToolExport | None:
    """Return the format of an export of another tool; None for other files."""
    for name, module, cell in _FORMATS:
        if module.matches(head):
            return ToolExport(name, module, cell in record_names(head))
    return None
