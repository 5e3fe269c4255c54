"""Test runs of DeepEval: the files that `deepeval test run` keeps, and `EvaluationResult` as JSON.

Format: `deepeval.test_run` and `deepeval.evaluate.types` of DeepEval 4.3.
"""

from typing import Any

from study.importing.importers import FormatOptions
from study.importing.readers.column_layout import Fields
from study.importing.readers.json_text import count_other_members, objects
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import Head, RecordSource
from study.importing.rows import Rows
from study.importing.tool_exports import made_id
from study.importing.tool_scores import ScoredResponse, ToolScores

DESCRIPTION = "a test run of DeepEval: testCases (or test_results) with metricsData"
TAKES = ("controls", "ranges")
FIELDS: Fields = {
    "query": ("input",),
    "response": ("actualOutput", "actual_output"),
    "references": ("expectedOutput", "expected_output"),
    "passages": ("retrievalContext", "retrieval_context"),
    "metrics": ("metricsData", "metrics_data"),
}
_LISTS = ("testCases", "test_results")
CONVERSATIONS = "conversations, which have turns in place of an input and an output"


def matches(head: Head) -> bool:
    """Whether the file is a document with the results of test cases."""
    return head.form == "json document" and _run(head.first) is not None


def rows(source: RecordSource, options: FormatOptions) -> Rows:
    """Read responses and the scores of metrics.

    Raises
    ------
    InputError
        The document has no test cases.
    """
    found = _run(source.document)
    if found is None:
        raise source.refused('the document has no list "testCases".', f"Give {DESCRIPTION}.")
    run, name = found
    if run is not source.document:
        count_other_members(source, source.document, "testRunData")
    count_other_members(source, run, name)
    reader = Reader(source, FIELDS)
    scores = ToolScores(source, options, "deepeval", from_0_to_1=True)

    def rows_of(cells: RecordCells) -> Rows:
        query, answer = cells.text("query"), cells.text("response")
        if query is None and "turns" in cells.columns:
            cells.left_out(CONVERSATIONS)
            return
        if answer is None:
            cells.left_out("test cases without an actual output")
            return
        reference, context = cells.text("references"), cells.raw("passages")
        response = ScoredResponse(
            made_id("deepeval", options.system, query, answer, context), query, options.system
        )
        yield from response.row(cells, answer, context, [reference] if reference else [])
        for metric in cells.listed("metrics"):
            if not isinstance(metric, dict) or not isinstance(metric.get("name"), str):
                cells.fault("a metric has no name.", "Export the run again.", "metricsData")
                continue
            model = metric.get("evaluationModel", metric.get("evaluation_model"))
            yield from scores.rows(
                cells,
                response,
                metric["name"],
                None if metric.get("error") else metric.get("score"),
                kind="judge" if model else "metric",
                missing_reason="error" if metric.get("error") else None,
            )

    yield from reader.rows(rows_of, objects(source, run[name]))
    yield from scores.wrong_controls()


def _run(document: Any) -> tuple[dict[str, Any], str] | None:
    """Return the object with the test cases and the name of their list."""
    if not isinstance(document, dict):
        return None
    inner = document.get("testRunData")
    run = inner if isinstance(inner, dict) else document
    name = next((name for name in _LISTS if isinstance(run.get(name), list)), None)
    return None if name is None else (run, name)
