"""Whether an output passes in results of promptfoo: a person's grade, and each assertion's verdict.

Format: the objects `gradingResult` of promptfoo's results, versions 3 and 4, and what its pages
save where a person grades an output, as read in November 2026.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

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
