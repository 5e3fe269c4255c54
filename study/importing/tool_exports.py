"""Exports of other evaluation tools, as a report reads them without a study."""

from collections.abc import Callable, Iterable
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

from study.errors import Fault
from study.importing.readers.input_file import Record
from study.importing.readers.json_text import count_other_members, objects
from study.importing.readers.source import Head, RecordSource


def record_names(head: Head) -> set[str]:
    """Return the names of a record's cells, which are the columns unless the file is a page."""
    page = head.first.get("data") if head.form == "json document" else None
    first = page[0] if isinstance(page, list) and page else None
    return set(first) if isinstance(first, dict) else set(head.columns)


def page_records(source: RecordSource) -> Iterable[Record | Fault]:
    """Return the records of a file, or of the page that it contains."""
    document = source.document
    if isinstance(document, dict) and isinstance(document.get("data"), list):
        count_other_members(source, document, "data")
        return objects(source, document["data"])
    return source.records()


class ToolExport(NamedTuple):
    """A format of another tool."""

    name: str
    module: ModuleType
    has_ratings: bool
    """Whether the file has people's scores and automatic ones under one name.

    Other files need a study, which knows what a metric measures and has people's ratings.
    """


Rated = Callable[[ModuleType, RecordSource], bool]


def _never(module: ModuleType, source: RecordSource) -> bool:
    del module, source
    return False


def _always(module: ModuleType, source: RecordSource) -> bool:
    del module, source
    return True


def _looked_for(module: ModuleType, source: RecordSource) -> bool:
    return bool(module.has_ratings(source))


def _by_cell(cell: str) -> Rated:
    """Whether records have a cell that comes with people's scores."""

    def rated(module: ModuleType, source: RecordSource) -> bool:
        del module
        return cell in record_names(source.head)

    return rated


_FORMATS: tuple[tuple[str, str, frozenset[str], Rated], ...] = (
    ("promptfoo", "promptfoo", frozenset({"results", "promptIdx"}), _looked_for),
    ("deepeval", "deepeval", frozenset({"testCases", "test_results", "testRunData"}), _never),
    ("inspect-log", "inspect_log", frozenset({"eval"}), _looked_for),
    ("langfuse-traces", "langfuse_traces",
     frozenset({"sessionId", "userId", "htmlPath", "bookmarked", "release", "observations"}),
     _by_cell("scores")),
    ("langfuse-scores", "langfuse_scores", frozenset({"traceId", "trace_id"}), _by_cell("source")),
    ("langsmith", "langsmith", frozenset({"feedback_source", "feedback_source.type",
     "feedback_stats"}), _always),
    ("phoenix-spans", "phoenix_spans", frozenset({"context.span_id"}), _never),
    ("phoenix-annotations", "phoenix_annotations", frozenset({"annotator_kind"}),
     _by_cell("annotator_kind")),
)  # fmt: skip
"""Name, module, columns of which such a file has one, and whether it has people's scores."""


def tool_export(source: RecordSource) -> ToolExport | None:
    """Return the format of an export of another tool; None for other files."""
    head = source.head
    names = record_names(head)
    for name, home, signs, rated in _FORMATS:
        # The formats are loaded where a file may be one of theirs: they take a quarter of a second.
        if names & signs:
            module = import_module(f"study.importing.formats.{home}")
            if module.matches(head):
                return ToolExport(name, module, rated(module, source))
    return None
