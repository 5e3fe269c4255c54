"""Importing the export of any Label Studio project.

Controls that rate are mapped to constructs by `--control`, by study.toml, or by a common name.
Values that cannot be ratings become missing values, each with its reason.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from itertools import combinations
from typing import NamedTuple

from annotate_ui.label_studio import CHANNEL, PREFILLED as FROM_PREFILLED, reasons
from annotate_ui.label_studio.annotation_reader import typed_constructs
from annotate_ui.label_studio.annotations import Annotation, likely_commas
from annotate_ui.label_studio.export_inventory import (
    Inventory,
    read_inventory,
    scorers_of_users,
)
from annotate_ui.label_studio.export_reading import (
    Annotations,
    CountedAnnotation,
    ExportReading,
    export_reading,
)
from annotate_ui.label_studio.reasons import PREDICTED, RATINGS
from annotate_ui.label_studio.short_exports import LACKING, tasks
from annotate_ui.label_studio.short_form import is_short
from annotate_ui.label_studio.task_content import TaskContent, TaskReader, all_unusable
from study.errors import Fault, InputError
from study.facts.scorers import ADJUDICATED
from study.importing.importers import FormatOptions
from study.importing.readers.source import RecordSource
from study.importing.rows import MarkedPart, MarksRow, PreferenceRow, Rows, ScoreRow
from study.types import ScorerKind

USERS_LEFT_OUT = (
    "annotations of users that --rater leaves out, or who were erased from the study or left it"
)
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
    _check_kinds(source, found, options)
    reading = export_reading(source, found.controls, options)
    yield from read_rows(source, options, found, reading)


def read_rows(
    source: RecordSource,
    options: FormatOptions,
    found: Inventory,
    reading: ExportReading,
    without: Collection[int] = (),
) -> Rows:
    """Read responses and ratings, except those of the tasks `without`.

    Raises
    ------
    InputError
        The options do not fit the users of the file.
    """
    scorers = scorers_of_users(found.users, source, options)
    for key, used_range in reading.reader.ranges.items():
        source.report.rules[f"{key}: mapped to its scale from {used_range.source}"] += 1
    if is_short(source.head):
        source.report.warnings.append(LACKING)
    contents = TaskReader(source, options)
    annotations = Annotations(source, reading, scorers, options.annotations)
    ratings = 0
    fields = typed_constructs(reading.reader.controls)
    typed: dict[tuple[str, str], list[float]] = defaultdict(list)
    for content in _usable(contents, source, options, without):
        if isinstance(content, Fault):
            yield content
            continue
        yield from content.rows
        for counted in annotations.of(content):
            if isinstance(counted, Fault):
                yield counted
                continue
            annotation = counted.annotation
            scorer = _scorer(counted, scorers, source)
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
            for answer in annotation.answers:
                if answer.value is not None and answer.construct_key in fields:
                    typed[scorer.scorer, answer.construct_key].append(answer.value)
        yield from content.cells.remaining_faults()
    yield from contents.unknown_columns()
    annotations.report_unreadable()
    source.report.warnings += _commas(typed)
    if not ratings:
        source.report.warnings.append(_no_ratings(annotations.count, found, reading))


def _usable(
    contents: TaskReader,
    source: RecordSource,
    options: FormatOptions,
    without: Collection[int],
) -> Iterator[TaskContent | Fault]:
    """Yield the contents of tasks but `without` and dialogues without a response."""
    others = False
    unusable: TaskContent | None = None
    for record in tasks(source, options):
        content = contents.read(record)
        if not isinstance(content, Fault) and int(content.record.cells["id"]) in without:
            continue
        if isinstance(content, TaskContent) and content.unusable is not None:
            source.report.left_out[content.unusable] += 1
            unusable = unusable or content
            continue
        others = True
        yield content
    if unusable is not None and not others:
        yield all_unusable(unusable)


def _commas(typed: Mapping[tuple[str, str], list[float]]) -> Iterator[str]:
    """Yield a warning for each value of a number field that a decimal comma explains."""
    for (scorer, construct), values in typed.items():
        for value in sorted(likely_commas(values)):
            yield (
                f"{scorer!r} gave {value:g} on {construct}, perhaps {value / 10:g}: the field of "
                "Label Studio drops a decimal comma. Ask the rater, and correct it there."
            )


def _check_kinds(source: RecordSource, found: Inventory, options: FormatOptions) -> None:
    """Refuse to take kinds of annotations that the file does not have."""
    short = " JSON_MIN, CSV and TSV do not state it." if is_short(source.head) else ""
    faults = [
        Fault(
            f"no annotation of this file is of the kind {kind}.{short}",
            f"Leave out --annotations {kind}={taken}"
            + (", or export the project as JSON." if short else "."),
        )
        for kind, taken in options.annotations.items()
        if not (found.predictions if kind == PREDICTED else found.kinds[kind])
    ]
    if not found.annotations and found.kinds and options.declared_controls and not faults:
        # Otherwise the faults would be about the controls, of which none has a value.
        faults.append(
            Fault(f"{_all_left_out(found)}.", "Give this option, or leave out --control.")
        )
    if faults:
        raise InputError(source.path.name, faults)


def _all_left_out(found: Inventory) -> str:
    kinds = " or ".join(f"--annotations {kind}={RATINGS}" for kind in found.kinds)
    return f"all its annotations are left out unless {kinds} takes them"


class _Scorer(NamedTuple):
    """Who gave values, and as what."""

    scorer: str
    scorer_kind: ScorerKind
    source: str


def _scorer(
    counted: CountedAnnotation, scorers: Mapping[int, str | None], source: RecordSource
) -> _Scorer | None:
    """Return the scorer of an annotation, or count it as left out."""
    annotation = counted.annotation
    if counted.model is not None:
        return _Scorer(counted.model, "judge", CHANNEL)
    scorer = None if annotation.user is None else scorers[annotation.user]
    if annotation.user is None:
        source.report.left_out["annotations of deleted accounts"] += 1
    elif scorer is None:
        source.report.left_out[USERS_LEFT_OUT] += 1
    if scorer is None:
        return None
    place = FROM_PREFILLED if annotation.prefilled else CHANNEL
    if counted.is_reference:
        return _Scorer(f"{scorer}{ADJUDICATED}", "adjudicated", place)
    return _Scorer(scorer, "human", place)


def _no_ratings(annotations: int, found: Inventory, reading: ExportReading) -> str:
    """Return why an export has no ratings."""
    inventory = reading.inventory
    if not annotations:
        reason = "its tasks have no annotations"
    elif not found.annotations and found.kinds:
        reason = _all_left_out(found)
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
    content: TaskContent, annotation: Annotation, scorer: _Scorer, kinds: Mapping[str, str]
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
            **scorer._asdict(),
            construct_key=construct,
            value=value,
            missing_reason=reason,
        )


def _preferences(
    content: TaskContent, annotation: Annotation, scorer: _Scorer, kinds: Mapping[str, str]
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
            scorer=scorer.scorer,
            scorer_kind=scorer.scorer_kind,
            value=value,
            missing_reason=missing,
        )


def _marks(
    content: TaskContent, annotation: Annotation, scorer: _Scorer, source: RecordSource
) -> Rows:
    """Yield the marks of each construct that labels are mapped to."""
    if scorer.scorer_kind != "human":
        if annotation.marks:
            of_model = scorer.scorer_kind == "judge"
            what = "predictions" if of_model else "annotations that are taken as the reference"
            source.report.left_out[f"marks of {what}"] += 1
        return
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
            scorer=scorer.scorer,
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
