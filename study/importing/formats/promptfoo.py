"""Results of promptfoo (`promptfoo eval --output results.json` or `.jsonl`), with the grades of
people that its pages save.

Format: https://www.promptfoo.dev/docs/configuration/outputs (versions 3 and 4), as read in
November 2026.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from study.errors import Fault
from study.importing.importers import FormatOptions
from study.importing.readers.cells import blank
from study.importing.readers.column_layout import Fields
from study.importing.readers.input_file import Record
from study.importing.readers.json_text import count_other_members, objects
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import Head, RecordSource
from study.importing.rows import Rows
from study.importing.tool_exports import (
    CONTEXT_NAMES,
    QUESTION_NAMES,
    REFERENCE_NAMES,
    made_id,
    named_member,
)
from study.importing.tool_scores import ScoredResponse, ToolScores

DESCRIPTION = "results of promptfoo as JSON or JSON lines: vars, provider, response, gradingResult"
TAKES = ("controls", "ranges")
FIELDS: Fields = {
    "response_id": ("id",),
    "vars": ("vars",),
    "test_case": ("testCase",),
    "provider": ("provider",),
    "prompt": ("prompt",),
    "prompt_index": ("promptIdx",),
    "output": ("response",),
    "error": ("error",),
    "grading": ("gradingResult",),
    "named_scores": ("namedScores",),
    "score": ("score",),
    "success": ("success",),
}
ERRORS = "results with an error and no output"


def matches(head: Head) -> bool:
    """Whether the file is a document of promptfoo, or has one of its results in each line."""
    if head.form == "json lines":
        return {"promptIdx", "testIdx", "vars"} <= set(head.columns)
    inner = head.first.get("results") if head.form == "json document" else None
    return isinstance(inner, dict) and "results" in inner


is_certain = matches


def rows(source: RecordSource, options: FormatOptions) -> Rows:
    """Read responses and scores; a system is a provider, with its prompt where it has several."""
    systems = _systems(_results(source))
    reader = Reader(source, FIELDS)
    scores = ToolScores(source, options, "promptfoo", from_0_to_1=True)

    def rows_of(cells: RecordCells) -> Rows:
        variables, output = _variables(cells), cells.raw("output")
        answer = output.get("output") if isinstance(output, dict) else output
        if options.metrics_are_constructs:
            yield from _graded(cells, scores, systems)
            return
        if blank(answer):
            cells.left_out(ERRORS if cells.has("error") else "results without an output")
            return
        text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        query = _query(variables, cells.raw("prompt"))
        reference = named_member(variables, REFERENCE_NAMES)
        context = named_member(variables, CONTEXT_NAMES)
        system = _system(cells, systems)
        name = cells.key("response_id") or made_id("promptfoo", system, query, text, context)
        for variable in variables:
            if variable not in (*QUESTION_NAMES, *REFERENCE_NAMES, *CONTEXT_NAMES):
                cells.left_out(f"values of the variable {variable!r}")
        response = ScoredResponse(name, query, system)
        references = reference if isinstance(reference, list) else [reference or ""]
        yield from response.row(cells, text, context, references)
        for metric, value, kind, reason in _metrics(cells):
            scorer = "promptfoo:human" if kind == "human" else None
            yield from scores.rows(
                cells, response, metric, value, kind=kind, scorer=scorer, missing_reason=reason
            )

    yield from reader.rows(rows_of, _counted_results(source))
    yield from scores.wrong_controls()


def has_ratings(source: RecordSource) -> bool:
    """Whether people graded outputs in promptfoo's pages."""
    return any(
        manual_grade(grading) is not None
        for result in _results(source)
        if isinstance(result, dict) and isinstance(grading := result.get("gradingResult"), dict)
    )


def _graded(cells: RecordCells, scores: ToolScores, systems: dict[tuple[str, str], str]) -> Rows:
    """Yield whether an output passes, by a person and by each metric, without a study."""
    grading, query = cells.mapping("grading"), _query(_variables(cells), cells.raw("prompt"))
    system = _system(cells, systems)
    # The answer tells two results apart where they have no id.
    name = cells.key("response_id") or made_id("promptfoo", system, query, str(cells.raw("output")))
    response = ScoredResponse(name, query, system)
    grade = manual_grade(grading)
    found = [*verdicts(grading)]
    if grade is None and not found:
        cells.left_out("results without a grade")
    if grade is not None:
        yield from scores.rows(
            cells, response, PASSES, grade, kind="human", scorer="promptfoo:human"
        )
    for verdict in found:
        yield from scores.rows(
            cells, response, PASSES, verdict.passed, kind=verdict.kind,
            scorer=f"promptfoo:{verdict.name}",
            missing_reason="grader error" if verdict.passed is None else None,
        )  # fmt: skip


def _variables(cells: RecordCells) -> dict[str, Any]:
    """The variables of a result, or those of its test where the result has none."""
    test = cells.mapping("test_case").get("vars")
    return cells.mapping("vars") or (test if isinstance(test, dict) else {})


def _metrics(cells: RecordCells) -> Iterator[tuple[str, Any, str, str | None]]:
    """Yield name, value, kind of scorer and reason of a missing value for each score."""
    grading = cells.mapping("grading")
    named = {**cells.mapping("named_scores")}
    kinds: dict[str, str] = {}
    occurrences: Counter[str] = Counter()
    for component in _components(grading):
        assertion = _assertion(component)
        kind = kind_of_assertion(str(assertion.get("type", "")))
        base = str(assertion.get("metric") or assertion.get("type") or "assertion")
        if base in named and kind != "human":
            # The named score is the weighted mean of the assertions with its name.
            kinds[base] = "judge" if "judge" in (kind, kinds.get(base)) else kind
            continue
        occurrences[base] += 1
        name = base if occurrences[base] == 1 else f"{base} {occurrences[base]}"
        kinds[name] = kind
        failed = _grader_failed(component)
        verdict = component.get("pass") if kind == "human" else component.get("score")
        yield name, None if failed else verdict, kind, "grader error" if failed else None
    for name, value in named.items():
        yield name, value, kinds.get(name, "metric"), None
    for name in ("score", "success"):
        yield name, cells.raw(name), "metric", None


def _query(variables: dict[str, Any], prompt: Any) -> str | None:
    question = named_member(variables, QUESTION_NAMES)
    if question is None:
        question = prompt.get("raw") if isinstance(prompt, dict) else prompt
    return question if question is None or isinstance(question, str) else json.dumps(question)


def _results(source: RecordSource) -> list[Any]:
    if source.form == "json lines":
        return [record.cells for record in source.records() if isinstance(record, Record)]
    document = source.document if isinstance(source.document, dict) else {}
    inner = document.get("results")
    results = inner.get("results") if isinstance(inner, dict) else None
    if not isinstance(results, list):
        problem = 'the document has no list "results" within "results".'
        raise source.refused(problem, "Export it again with --output.")
    return results


def _counted_results(source: RecordSource) -> Iterable[Record | Fault]:
    if source.form == "json lines":
        return source.records()
    count_other_members(source, source.document, "results")
    count_other_members(source, source.document["results"], "results")
    return objects(source, source.document["results"]["results"])


def _system(cells: RecordCells, systems: Mapping[tuple[str, str], str]) -> str | None:
    index = str(cells.raw("prompt_index")).zfill(3)
    return systems.get((_provider(cells.raw("provider")), index))


def _provider(provider: Any) -> str:
    members = provider if isinstance(provider, dict) else {"id": provider}
    return str(members.get("label") or members.get("id") or "provider")


def _systems(results: Iterable[Any]) -> dict[tuple[str, str], str]:
    """Return the name of the system by provider and index of its prompt.

    Prompts of a provider are numbered where it has several, in the order of their indices.
    """
    pairs = sorted(
        {
            (_provider(result.get("provider")), str(result.get("promptIdx")).zfill(3))
            for result in results
            if isinstance(result, dict)
        }
    )
    prompts_by_provider: dict[str, list[str]] = {}
    for provider, index in pairs:
        prompts_by_provider.setdefault(provider, []).append(index)
    return {
        (provider, index): provider
        if len(prompts_by_provider[provider]) == 1
        else f"{provider}, prompt {prompts_by_provider[provider].index(index) + 1}"
        for provider, index in pairs
    }


PASSES = "pass"
"""The construct of all verdicts: a person grades the output as a whole."""

_HUMAN = "human"
# Before there was a result of its own for it, a person's grade replaced the text alone.
_MANUAL = "Manual result"
_JUDGED = (
    "llm-rubric", "g-eval", "factuality", "model-graded", "answer-relevance", "context-",
    "conversation-relevance", "pi", "search-rubric", "trajectory:goal-success",
)  # fmt: skip


class AssertionVerdict(NamedTuple):
    """What an assertion says of an output."""

    name: str
    """The assertion's metric, else its type."""
    kind: str
    """judge or metric."""
    passed: Any
    """None where the grader failed."""


def kind_of_assertion(assertion: str) -> str:
    """The kind of scorer that an assertion of a type is: human, judge or metric."""
    if assertion == _HUMAN:
        return "human"
    return "judge" if assertion.removeprefix("not-").startswith(_JUDGED) else "metric"


def manual_grade(grading: Mapping[str, Any]) -> Any:
    """A person's grade of an output, true or false; None where nobody graded it."""
    for result in (*_components(grading), grading):
        if _assertion(result).get("type") == _HUMAN:
            return result.get("pass")
    if str(grading.get("reason") or "").startswith(_MANUAL):
        return grading.get("pass")
    return None


def verdicts(grading: Mapping[str, Any]) -> Iterator[AssertionVerdict]:
    """The verdict of each metric; of assertions with one name all must pass."""
    parts: dict[str, list[Mapping[str, Any]]] = {}
    results = _components(grading)
    if not results and manual_grade(grading) is None and _assertion(grading):
        results = [grading]
    for result in results:
        assertion = _assertion(result)
        if assertion.get("type") == _HUMAN or not isinstance(result.get("pass"), bool):
            continue
        name = str(assertion.get("metric") or assertion.get("type") or "assertion")
        parts.setdefault(name, []).append(result)
    for name, named_results in parts.items():
        kinds = {kind_of_assertion(str(_assertion(r).get("type", ""))) for r in named_results}
        failed = any(_grader_failed(result) for result in named_results)
        passed = None if failed else all(result["pass"] for result in named_results)
        yield AssertionVerdict(name, "judge" if "judge" in kinds else "metric", passed)


def _components(grading: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    components = grading.get("componentResults")
    return [c for c in components if isinstance(c, dict)] if isinstance(components, list) else []


def _assertion(result: Mapping[str, Any]) -> Mapping[str, Any]:
    assertion = result.get("assertion")
    return assertion if isinstance(assertion, dict) else {}


def _grader_failed(result: Mapping[str, Any]) -> bool:
    metadata = result.get("metadata")
    return bool(isinstance(metadata, dict) and metadata.get("graderError"))
