"""Importing the export of any Label Studio project.

Controls that rate are mapped to constructs by `--control`, by study.toml, or by a common name.
Values that cannot be ratings become missing values, each with its reason.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

from annotate_ui.label_studio import CHANNEL, PREFILLED as FROM_PREFILLED, reasons
from annotate_ui.label_studio.annotation_reader import typed_constructs
from annotate_ui.label_studio.annotations import Annotation, Given, likely_commas, storable_text
from annotate_ui.label_studio.export_controls import MappedControls
from annotate_ui.label_studio.export_inventory import Inventory, read_inventory
from annotate_ui.label_studio.reasons import JUDGE, PREDICTED, PREDICTIONS, RATINGS
from annotate_ui.label_studio.short_exports import LACKING, tasks
from annotate_ui.label_studio.short_form import is_short
from annotate_ui.label_studio.task_content import TaskContent, TaskReader
from annotate_ui.label_studio.users import scorers_of_users
from study.errors import Fault, InputError
from study.facts.scorers import ADJUDICATED
from study.importing.importers import FormatOptions
from study.importing.readers.source import RecordSource
from study.importing.rows import MarkedPart, MarksRow, PreferenceRow, Rows, ScoreRow
from study.text import abbreviate
from study.types import ScorerKind

USERS_LEFT_OUT = (
    "annotations of users that --rater leaves out, or who were erased from the study or left it"
)
DRAFTS = "drafts, which are not ratings"
EDITED_BY_OTHER = "annotations that another user changed last, imported as their author's"
EARLIER_PREDICTIONS = "predictions of a task that the same model predicted again later"
SUPERSEDED = "annotations of a task that the same user annotated again later"
NOTHING_MARKED = "an annotation without labels read as no sentence marked"
NO_MODEL = "predictions without a model_version, which names the judge"
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
    yield from read_rows(source, options, found, MappedControls(source, found.controls, options))


def read_rows(
    source: RecordSource,
    options: FormatOptions,
    found: Inventory,
    controls: MappedControls,
    names: Mapping[int, str | None] = {},
) -> Rows:
    """Read responses and ratings; `names` are those of tasks, and None leaves one out.

    Raises
    ------
    InputError
        The options do not fit the users of the file.
    """
    report = source.report
    export = _Export(source, controls, scorers_of_users(found.users, source, options), options)
    for key, used_range in controls.reader.ranges.items():
        report.rules[f"{key}: mapped to its scale from {used_range}"] += 1
    if is_short(source.head):
        report.warnings.append(LACKING)
    for content in TaskReader(source, options, names).contents(tasks(source, options)):
        if isinstance(content, Fault):
            yield content
        elif names.get(content.number, "") is not None:
            yield from export.rows(content)
    for (scorer, construct), typed in export.typed.items():
        report.warnings += [
            f"{scorer!r} gave {value:g} on {construct}, perhaps {value / 10:g}: the field of "
            "Label Studio drops a decimal comma. Ask the rater, and correct it there."
            for value in sorted(likely_commas(typed))
        ]
    if not export.ratings:
        reason = _no_ratings(export.count, export.counted, found, controls)
        report.warnings.append(f"the export has no ratings: {reason}.")


def _check_kinds(source: RecordSource, found: Inventory, options: FormatOptions) -> None:
    """Refuse to take kinds of annotations that the file does not have."""
    short, instead = " JSON_MIN, CSV and TSV do not state it.", ", or export the project as JSON"
    if not is_short(source.head):
        short = instead = ""
    faults = [
        Fault(
            f"no annotation of this file is of the kind {kind}.{short}",
            f"Leave out --annotations {kind}={taken}{instead}.",
        )
        for kind, taken in options.annotations.items()
        if not (found.predictions if kind == PREDICTED else found.kinds[kind])
    ]
    if not found.annotations and found.kinds and options.declared_controls and not faults:
        # Otherwise the faults would be about the controls, of which none has a value.
        remedy = "Give this option, or leave out --control."
        faults.append(Fault(f"{_all_left_out(found)}.", remedy))
    if faults:
        raise InputError(source.path.name, faults)


def _all_left_out(found: Inventory) -> str:
    kinds = " or ".join(f"--annotations {kind}={RATINGS}" for kind in found.kinds)
    return f"all its annotations are left out unless {kinds} takes them"


def _no_ratings(annotations: int, counted: int, found: Inventory, controls: MappedControls) -> str:
    """Return why an export has no ratings; of its annotations, `counted` were read."""
    if not annotations:
        used = " that can be used" if found.annotations or found.kinds else ""
        return f"its tasks{used} have no annotations"
    if not found.annotations and found.kinds:
        return _all_left_out(found)
    if not counted:
        return "none of its annotations counts, for the reasons above"
    if controls.controls and not any(control.rates for control in controls.controls.values()):
        listed = ", ".join(f"{name!r} ({control})" for name, control in controls.controls.items())
        return (
            f"its controls are {listed}; numbers (Number) and stars (Rating) are ratings, and "
            "choices and comparisons whose construct is named with --control CONTROL=CONSTRUCT"
        )
    if controls.controls and not controls.kinds:
        return "all controls that rate are left out"
    return "its annotations that count contain neither numbers nor stars"


class _Scorer(NamedTuple):
    """Who gave values, and as what."""

    scorer: str
    scorer_kind: ScorerKind
    source: str


@dataclass(slots=True)
class _Export:
    """Reads the annotations of an export's tasks, and counts those that are left out."""

    source: RecordSource
    controls: MappedControls
    scorers: Mapping[int, str | None]
    """User to the person they are; several accounts may be one person's."""
    options: FormatOptions
    count: int = 0
    """Number of annotations of the tasks, including those that are left out."""
    counted: int = 0
    """Number of annotations that count."""
    ratings: int = 0
    """Number of values."""
    typed: dict[tuple[str, str], list[float]] = field(default_factory=lambda: defaultdict(list))
    """Scorer and construct to the values that were typed into a field."""
    _lines: dict[str, str] = field(default_factory=dict)
    """Why annotations or predictions are unreadable, to how they are counted."""

    def rows(self, content: TaskContent) -> Rows:
        """Yield the responses and the values of a task."""
        yield from content.rows
        kinds, fields = self.controls.kinds, typed_constructs(self.controls.reader.controls)
        for counted in self._counted(content):
            if isinstance(counted, Fault):
                yield counted
                break
            scorer, annotation = counted
            self.counted += 1
            keys = {answer.construct_key for answer in annotation.answers}
            keys |= {invalid.construct_key or "" for invalid in annotation.invalid}
            marked = any(answer.parts is not None for answer in annotation.answers)
            given = {kinds[key] for key in keys if key in kinds}
            fault = content.unplaced(given | {"number"} if marked else given)
            if fault is not None:
                yield fault
                break
            self._count_invalid(annotation)
            values = list(self._values(content, annotation, scorer))
            self.ratings += len(values)
            yield from values
            for answer in annotation.answers:
                if answer.value is not None and answer.construct_key in fields:
                    self.typed[scorer.scorer, answer.construct_key].append(answer.value)
        yield from content.cells.remaining_faults()

    def _counted(self, content: TaskContent) -> Iterator[tuple[_Scorer, Annotation] | Fault]:
        """Yield the latest annotation of each user who did a task, and of each model.

        A user may have given both a reference and a rating.
        """
        record, task = content.record, content.record.cells
        for name in ("annotations", "drafts"):
            if not isinstance(task.get(name) or [], list):
                problem = f"its {name} are {abbreviate(task[name])}, which is not a list."
                remedy = "Export the project again."
                yield Fault(f"task {task['id']}: {problem}", remedy, record.number)
                return
        report, made = self.source.report, task.get("annotations") or []
        self.count += len(made)
        drafts, predictions = len(task.get("drafts") or []), reasons.predictions_of(task)
        if drafts:
            report.left_out[DRAFTS] += drafts
        if predictions and self.options.annotations.get(PREDICTED) != JUDGE:
            report.left_out[PREDICTIONS] += len(predictions)
            predictions = []
        latest: dict[tuple[str, str], tuple[_Scorer, Annotation]] = {}
        for raw, by_model in [*((a, False) for a in made), *((p, True) for p in predictions)]:
            reason = None if by_model else reasons.left_out_as(raw, self.options.annotations)
            if reason is not None:
                report.left_out[reason] += 1
                continue
            read = self.controls.reader.read(raw, task, content.compared)
            scorer = self._scorer(raw, read, content, by_model)
            if isinstance(read, str) or isinstance(scorer, str):
                report.left_out[str(scorer)] += 1
                continue
            if read.edited_by_other:
                report.rules[EDITED_BY_OTHER] += 1
            other = latest.get(scorer[:2])
            if other is not None:
                report.left_out[EARLIER_PREDICTIONS if by_model else SUPERSEDED] += 1
                for one in (one for one in (other[1], read) if one.unread_time is not None):
                    problem = f"of the annotations of {scorer.scorer!r} the latest counts, but the "
                    problem += f"time of annotation {one.number} cannot be read: {one.unread_time}."
                    remedy = "Write it as in 2026-01-31T09:30:00Z, or remove the other annotations."
                    yield Fault(f"task {task['id']}: {problem}", remedy, record.number)
                    return
            if other is None or other[1].recency < read.recency:
                latest[scorer[:2]] = scorer, read
        yield from latest.values()

    def _scorer(
        self, raw: Any, read: Annotation | str, content: TaskContent, by_model: bool
    ) -> _Scorer | str:
        """Return the scorer of an annotation, or as what it is left out."""
        if isinstance(read, str):
            # One line for each reason, with the first place.
            place = f"such as in row {content.record.number}, task {content.number}"
            told = f"unreadable {'predictions' if by_model else 'annotations'}: {read}"
            return self._lines.setdefault(told, f"{told}, {place}")
        if by_model:
            model = storable_text(str(raw.get("model_version") or "")).strip()
            return _Scorer(model, "judge", CHANNEL) if model else NO_MODEL
        if read.user is None:
            return "annotations of deleted accounts"
        scorer = self.scorers[read.user]
        if scorer is None:
            return USERS_LEFT_OUT
        place = FROM_PREFILLED if read.prefilled else CHANNEL
        taken = self.options.annotations
        if any(taken.get(kind) == reasons.REFERENCE for kind in reasons.kinds_of(raw)):
            return _Scorer(f"{scorer}{ADJUDICATED}", "adjudicated", place)
        return _Scorer(scorer, "human", place)

    def _count_invalid(self, annotation: Annotation) -> None:
        """Count the values that become missing, and what belongs to no construct."""
        report = self.source.report
        for invalid in annotation.invalid:
            name = invalid.reason.removeprefix(f"{reasons.UNKNOWN_CONTROL}: ")
            control = self.controls.controls.get(name)
            if invalid.construct_key is not None:
                if invalid.value is not None:
                    report.rules[f"a value treated as missing: {invalid.reason}"] += 1
            elif name == invalid.reason:
                report.left_out[name] += 1
            else:
                odd = control is not None and not control.rates
                what = f", which gives {control} rather than numbers" if odd else ""
                report.left_out[f"results of the control {name!r}{what}"] += 1

    def _values(self, content: TaskContent, annotation: Annotation, scorer: _Scorer) -> Rows:
        """Yield a row for each answer of an annotation, and for each missing one."""
        kinds, rated = self.controls.kinds, content.rated
        skipped = "skipped" if annotation.skipped else None
        given: dict[Any, tuple[Given, str | None]] = {
            (a.construct_key, a.pair, a.parts is None): (a, skipped) for a in annotation.answers
        }
        for invalid in annotation.invalid:
            key = invalid.construct_key
            if key is not None:
                names = content.compared.get(kinds[key], {})
                for pair in [None] if kinds[key] == "number" else combinations(names, 2):
                    missing = _REASONS.get(invalid.reason, "out_of_range")
                    given[key, pair, True] = Given(key, 1, pair=pair), missing
        for answer, why in given.values():
            construct: dict[str, Any] = {"construct_key": answer.construct_key}
            who = construct | {"scorer": scorer.scorer, "scorer_kind": scorer.scorer_kind}
            value: dict[str, Any] = {"value": answer.value, "missing_reason": why}
            if answer.pair is not None:
                named = content.compared[kinds[answer.construct_key]]
                first, second = (named[name] for name in answer.pair)
                compared = {"response_a": first.response_id, "response_b": second.response_id}
                query = {"query_id": first.query_id}
                yield from content.cells.row(PreferenceRow, **query, **compared, **who, **value)
                continue
            assert rated is not None  # noqa: S101  (pairs alone have none)
            if answer.parts is None:
                place: dict[str, Any] = {**rated._asdict(), "source": scorer.source}
                yield from content.cells.row(ScoreRow, **place, **who, **value)
            elif scorer.scorer_kind != "human":
                by_judge = scorer.scorer_kind == "judge"
                what = "predictions" if by_judge else "annotations that are taken as the reference"
                self.source.report.left_out[f"marks of {what}"] += 1
            else:
                parts = list(answer.places())
                problem = next((part for part in parts if isinstance(part, str)), None)
                if problem is not None:
                    problem = (
                        f"task {annotation.task}: a label of {answer.construct_key} {problem}."
                    )
                    remedy = "Correct it, or leave the label out with --control LABEL=."
                    yield Fault(problem, remedy, content.cells.number)
                    return
                if not parts:
                    self.source.report.rules[NOTHING_MARKED] += 1
                marks = tuple(part for part in parts if isinstance(part, MarkedPart))
                fields = {**rated._asdict(), "scorer": scorer.scorer}
                yield from content.cells.row(MarksRow, **fields, **construct, marks=marks)
