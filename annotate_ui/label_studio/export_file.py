"""Importing the export of any Label Studio project.

Controls that rate are mapped to constructs by `--control`, by study.toml, or by a common name.
Values that cannot be ratings become missing values, each with its reason.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations

from annotate_ui.label_studio import reasons
from annotate_ui.label_studio.annotations import Annotation
from annotate_ui.label_studio.export_annotations import Annotations
from annotate_ui.label_studio.export_inventory import read_inventory, scorers_of_users
from annotate_ui.label_studio.export_reading import ExportReading, export_reading
from annotate_ui.label_studio.short_exports import LACKING, tasks
from annotate_ui.label_studio.short_form import is_short
from annotate_ui.label_studio.task_content import TaskContent, TaskReader
from study.errors import Fault
from study.importing.importers import FormatOptions
from study.importing.readers.source import RecordSource
from study.importing.rows import MarkedPart, MarksRow, PreferenceRow, Rows, ScoreRow

SOURCE = "label_studio"
_REASONS = {
    reasons.MISSING: "blank",
    reasons.NO_NUMBER: "no_number",
    reasons.ENTERED_TWICE: "given_twice",
}


def rows(source: RecordSource, options: FormatOptions) -> Rows:
    """Read responses and ratings; the latest of a person's annotations of a task counts.

    Raises
    ------
    InputError
        The options do not fit the controls or users of the file.
    """
    found = read_inventory(source, options)
    reading = export_reading(source, found.controls, options)
    scorers = scorers_of_users(found.users, source, options)
    for key, used_range in reading.ranges.items():
        source.report.rules[f"{key}: mapped to its scale from {used_range.source}"] += 1
    if is_short(source.head):
        source.report.warnings.append(LACKING)
    contents = TaskReader(source, options)
    annotations = Annotations(source, reading, scorers)
    ratings = 0
    for record in tasks(source, options):
        content = contents.read(record)
        if isinstance(content, Fault):
            yield content
            continue
        yield from content.rows
        for annotation in annotations.of(content):
            if isinstance(annotation, Fault):
                yield annotation
                continue
            scorer = _scorer(annotation, scorers, source)
            if scorer is None:
                continue
            fault = reading.unplaced(annotation, content)
            if fault is not None:
                yield fault
                break
            _count_left_out(annotation, reading, source)
            values = [
                *_scores(content, annotation, scorer, reading.kinds),
                *_preferences(content, annotation, scorer, reading.kinds),
                *_marks(content, annotation, scorer, source),
            ]
            ratings += len(values)
            yield from values
        yield from content.cells.remaining_faults()
    yield from contents.unknown_columns()
    annotations.report_unreadable()
    if not ratings:
        source.report.warnings.append(_no_ratings(annotations.count, reading))


def _scorer(
    annotation: Annotation, scorers: Mapping[int, str | None], source: RecordSource
) -> str | None:
    """Return the scorer of an annotation, or count it as left out."""
    scorer = None if annotation.user is None else scorers[annotation.user]
    if annotation.user is None:
        source.report.left_out["annotations of deleted accounts"] += 1
    elif scorer is None:
        source.report.left_out["annotations of users that --rater leaves out"] += 1
    return scorer


def _no_ratings(annotations: int, reading: ExportReading) -> str:
    """Return why an export has no ratings."""
    inventory = reading.inventory
    if not annotations:
        reason = "its tasks have no annotations"
    elif inventory and not any(control.rates for control in inventory.values()):
        listed = ", ".join(f"{name!r} ({control})" for name, control in inventory.items())
        reason = (
            f"its controls are {listed}; numbers (Number) and stars (Rating) are ratings, and "
            "choices and comparisons whose construct is named with --control CONTROL=CONSTRUCT"
        )
    elif inventory and not reading.kinds:
        reason = "all controls that rate are left out"
    else:
        reason = "its annotations that count contain neither numbers nor stars"
    return f"the export has no ratings: {reason}."


def _scores(
    content: TaskContent, annotation: Annotation, scorer: str, kinds: Mapping[str, str]
) -> Rows:
    """Yield a score of each construct."""
    values: dict[str, tuple[float | None, str | None]] = {
        answer.construct_key: (answer.value, "skipped" if annotation.skipped else None)
        for answer in annotation.answers
    }
    values |= {key: (None, reason) for key, reason in _missing(annotation, kinds, {"number"})}
    for construct, (value, reason) in values.items():
        assert content.rated is not None  # noqa: S101
        yield from content.cells.row(
            ScoreRow,
            **content.rated._asdict(),
            construct_key=construct,
            scorer=scorer,
            scorer_kind="human",
            value=value,
            missing_reason=reason,
            source=SOURCE,
        )


def _preferences(
    content: TaskContent, annotation: Annotation, scorer: str, kinds: Mapping[str, str]
) -> Rows:
    """Yield a preference of each pair of responses that was compared."""
    skipped = "skipped" if annotation.skipped else None
    pairs: list[tuple[str, str, str, float | None, str | None]] = [
        (p.construct_key, p.first, p.second, p.value, skipped) for p in annotation.preferences
    ]
    for key, reason in _missing(annotation, kinds, {"preference", "ranking"}):
        compared = content.compared.get(kinds[key], {})
        pairs += [(key, first, second, None, reason) for first, second in combinations(compared, 2)]
    for construct, first, second, value, missing in pairs:
        named = content.compared[kinds[construct]]
        yield from content.cells.row(
            PreferenceRow,
            query_id=named[first].query_id,
            response_a=named[first].response_id,
            response_b=named[second].response_id,
            construct_key=construct,
            scorer=scorer,
            scorer_kind="human",
            value=value,
            missing_reason=missing,
        )


def _marks(content: TaskContent, annotation: Annotation, scorer: str, source: RecordSource) -> Rows:
    """Yield the marks of each construct that labels are mapped to."""
    for marks in annotation.marks:
        parts: list[MarkedPart] = []
        for part in marks.places():
            if isinstance(part, str):
                yield Fault(
                    f"task {annotation.task}: a label of {marks.construct_key} {part}.",
                    "Correct it, or leave the label out with --control LABEL=.",
                    content.cells.number,
                )
                return
            parts.append(part)
        if not parts:
            source.report.rules["an annotation without labels read as no sentence marked"] += 1
        assert content.rated is not None  # noqa: S101
        yield from content.cells.row(
            MarksRow,
            **content.rated._asdict(),
            construct_key=marks.construct_key,
            scorer=scorer,
            marks=tuple(parts),
        )


def _missing(
    annotation: Annotation, kinds: Mapping[str, str], of: set[str]
) -> Iterator[tuple[str, str]]:
    for invalid in annotation.invalid:
        key = invalid.construct_key
        if key is not None and kinds[key] in of:
            yield key, _REASONS.get(invalid.reason, "out_of_range")


def _count_left_out(annotation: Annotation, reading: ExportReading, source: RecordSource) -> None:
    for invalid in annotation.invalid:
        if invalid.construct_key is None:
            source.report.left_out[reading.left_out(invalid)] += 1
        elif invalid.value is not None:
            source.report.rules[f"a value treated as missing: {invalid.reason}"] += 1
