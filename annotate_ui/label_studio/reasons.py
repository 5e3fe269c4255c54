"""Why an annotation or a value does not count: it is nobody's independent rating, or cannot be one.

Expected answers, prefilled annotations and predictions count where the caller says as what
(`FormatOptions.annotations`), and are left out elsewhere.
"""

from collections.abc import Iterator, Mapping
from typing import Any

SKIPPED = "skipped in Label Studio"
NO_NUMBER = "not a number"
UNNAMED = "the task does not name the responses that were compared"
NO_RANKING = "not a ranking of the task's responses"
MISSING = "required but missing"
ENTERED_TWICE = "given twice in one annotation"
UNKNOWN_CONTROL = "unknown control"
UNKNOWN_FLAG = "unknown remark"
UNKNOWN_CHOICE = "unknown choice"
MARKED_AND_NONE = "marks, and the statement that there is nothing to mark"
OTHER_CHANNEL = "the rater has this response on another channel, whose value counts"
LEFT = "the rater has left the study"
DELETED = "deleted in Label Studio"
CHANGED_TO_INVALID = "changed in Label Studio to an invalid value"
DUPLICATE = "another annotation of the same task by the same rater; the latest counts"
NO_SLOT = "no slot was planned for this task"
UNKNOWN_TASK = "a task that was not pushed"
NO_ACCOUNT = "its account was deleted in Label Studio, and it was not pulled before"
COMMENT_ONLY = "a comment without any value"
TOO_LONG = "longer than 5000 characters"
NO_LABEL = "a marked part without a label"
NOT_STORABLE = "contains characters that cannot be stored"

GROUND_TRUTH = "ground-truth"
"""Annotations marked as the expected answer, as Label Studio marks those that it imports."""
PREFILLED = "prefilled"
"""Annotations made from a prediction or from another annotation, with which they agree."""
PREDICTED = "predictions"
"""Predictions, which a model made: the field `model_version` names it."""
RATINGS = "ratings"
REFERENCE = "reference"
JUDGE = "judge"
NOT_INDEPENDENT = (
    "annotations made from a prediction or from another annotation, which agree with it by "
    "construction"
)
LEFT_OUT = {
    GROUND_TRUTH: (
        "annotations marked as ground truth, which are expected answers rather than ratings (of "
        "imported annotations that is Label Studio's default; --annotations ground-truth=ratings "
        "takes them as ratings, --annotations ground-truth=reference as the reference)"
    ),
    PREFILLED: (
        f"{NOT_INDEPENDENT} (--annotations prefilled=ratings takes them, with a source of their "
        "own)"
    ),
}
"""How those that are left out are counted."""
PREDICTIONS = (
    "predictions, which are not made by people (--annotations predictions=judge takes them as the "
    "scores of a judge that is named by their model_version)"
)


def kinds_of(raw: Any) -> Iterator[str]:
    """Yield which of these kinds an annotation is, as Label Studio exports it."""
    if isinstance(raw, dict):
        if raw.get("ground_truth") is True:
            yield GROUND_TRUTH
        if is_prefilled(raw):
            yield PREFILLED


def is_prefilled(raw: Mapping[str, Any]) -> bool:
    """Whether an annotation was made from a prediction or from another annotation."""
    return raw.get("parent_prediction") is not None or raw.get("parent_annotation") is not None


def left_out_as(raw: Any, taken: Mapping[str, str]) -> str | None:
    """Return how an annotation is counted that the caller does not take; None: it counts."""
    return next((LEFT_OUT[kind] for kind in kinds_of(raw) if not taken.get(kind)), None)


def predictions_of(task: Mapping[str, Any]) -> list[Any]:
    """Return a task's predictions in the form of annotations, which nobody completed."""
    made = task.get("predictions")
    return [
        {**prediction, "completed_by": None} if isinstance(prediction, dict) else prediction
        for prediction in (made if isinstance(made, list) else ())
    ]
