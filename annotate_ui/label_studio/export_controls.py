"""The controls of an export that rate or mark: their constructs, what contradicts them, and the
options of `ccrs import` with which the export is imported."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from shlex import quote

from annotate_ui.label_studio import reasons
from annotate_ui.label_studio.annotation_reader import AnnotationReader
from annotate_ui.label_studio.annotations import storable_text
from annotate_ui.label_studio.export_inventory import (
    LABELS,
    STARS,
    ExportControl,
    Inventory,
    read_inventory,
)
from annotate_ui.label_studio.page import Controls
from annotate_ui.label_studio.short_exports import assign_constructs, tasks
from annotate_ui.label_studio.task_content import TaskContent, TaskReader
from annotate_ui.label_studio.users import scorers_of_users
from annotate_ui.label_studio.value_ranges import NumericControl, option
from study.errors import Fault, InputError, nearest
from study.importing.importers import FileDescription, FormatOptions
from study.importing.readers.source import RecordSource
from study.text import counted, quoted_names

# A number, alone or before a word: "4", "4 - good", "4: good", "4 (good)".
_NUMBERED_LABEL = re.compile(r"\s*(-?\d+(?:\.\d+)?)(?:\s*|\s*[-–—:.)]\s+\S.*|\s+\(.*\)\s*)\Z")

# A control of a Repeater, whose name ends with the number of its item.
_OF_A_PASSAGE = re.compile(r".+_\d+")


def choice_values(used: ExportControl, options: FormatOptions) -> dict[str, float] | str:
    """Return the number of each label of a control that gives choices.

    A label has the number that `options.values` gives it. Without one for any label of the control,
    labels of choices are read that are numbers or begin with one, such as `4` and `4 - good`, if
    all do.

    Returns
    -------
    dict or str
        Or the first label without a number.
    """
    labels = list(dict.fromkeys(label for _, label in used.labels))
    given = {label: options.values[label] for label in labels if label in options.values}
    if not given and used.kind != "ranking":
        matches = {label: _NUMBERED_LABEL.match(label) for label in labels}
        given = {label: float(match[1]) for label, match in matches.items() if match}
        if len(set(given.values())) < len(given):
            given = {}
    without = (label for row, label in used.labels if row and label not in given)
    return next(without, given)


def unmapped_controls(source: RecordSource, options: FormatOptions) -> list[str]:
    """Return the controls that rate and whose construct is unknown."""
    controls = read_inventory(source, options).controls
    constructs = assign_constructs(_rating(controls, options), options)
    return [
        control
        for control, key in constructs.items()
        if key is None and controls[control].region is None
    ]


def _rating(controls: Mapping[str, ExportControl], options: FormatOptions) -> list[str]:
    """Return the controls that rate; all but numbers and stars where a construct is named."""
    return [
        name
        for name, control in controls.items()
        if control.rates or (control.kind and options.controls.get(name))
    ]


class MappedControls:
    """The controls of an export that rate or mark, each with its construct.

    `versions` are those of the constructs under which values are stored; default: 1.

    Raises
    ------
    InputError
        A control has an unknown construct, the construct of another control or an unknown range,
        or an option names a control that does not rate; with all faults.
    """

    def __init__(
        self,
        source: RecordSource,
        controls: Mapping[str, ExportControl],
        options: FormatOptions,
        versions: Mapping[str, int] | None = None,
    ) -> None:
        self._options, self._versions = options, versions or {}
        self._columns = source.head.columns
        self._constructs = assign_constructs(_rating(controls, options), options)
        self._values = {
            name: choice_values(controls[name], options)
            for name in self._constructs
            if controls[name].has_labels
        }
        self._labels = {n: v for n, v in self._values.items() if isinstance(v, dict)}
        self.controls = dict(controls)
        """By name, with the numbers of choices."""
        for name, number in self._labels.items():
            numbers = [(row, number[label]) for row, label in controls[name].labels if row]
            self.controls[name] = replace(controls[name], numbers=numbers)
        marks = self._marks()
        self._mark_controls = {*marks, *(label for m in marks.values() for label in m["labels"])}
        faults = list(self._faults())
        if faults:
            raise InputError(source.path.name, faults)
        meanings: Controls = {
            name: {
                "kind": self.controls[name].kind,
                "construct": key,
                "construct_version": self._versions.get(key, 1),
                **({"labels": self._labels[name]} if name in self._labels else {}),
            }
            for name, key in self._constructs.items()
            if key
        }
        self.kinds = {str(one["construct"]): str(one["kind"]) for one in meanings.values()}
        """Construct to the kind of the control that gives it a value."""
        scales = options.scales, options.preference_scale
        ranges = {one.key: one.range for one in self._numeric() if one.range is not None}
        self.reader = AnnotationReader({**meanings, **marks}, *scales, ranges)

    def stated_ranges(self) -> dict[str, str]:
        """Return the range that the project states for each control, and what becomes of it."""
        words: dict[str, str] = {}
        for one in self._numeric():
            if one.used.stated != (None, None):
                scale, source = one.scale, one.range or one.scale
                words[one.name] = f"{source.min:g} to {source.max:g}, " + (
                    f"as {one.key}"
                    if (source.min, source.max) == (scale.min, scale.max)
                    else f"mapped to {one.key} from {scale.min:g} to {scale.max:g}"
                )
        return words

    def _marks(self) -> Controls:
        """Return the meaning of controls whose labels are marks.

        They are those that `options.controls` names, or whose labels it names; an empty construct
        leaves a label out.
        """
        controls, named = Controls(), self._options.controls
        for name, control in self.controls.items():
            offered = [label for _, label in control.labels] if LABELS in control.types else []
            labels = {of: named[n] for of in offered for n in (name, of) if n in named}
            if labels:
                keys = filter(None, labels.values())
                versions = {key: self._versions.get(key, 1) for key in keys}
                controls[name] = {"kind": "marks", "labels": labels, "versions": versions}
        return controls

    def _numeric(self) -> Iterator[NumericControl]:
        for name, key in self._constructs.items():
            used, scale = self.controls[name], self._options.scales.get(key or "")
            if key and scale is not None and used.kind == "number":
                yield NumericControl(name, used, key, scale, self._options.ranges.get(name))

    def _faults(self) -> Iterator[Fault]:
        for name, key in self._constructs.items():
            yield from self._faults_of(name, key)
        yield from self._duplicates()
        yield from self._wrong_controls()
        for name in sorted(self._options.ranges):
            if not self._constructs.get(name, ""):
                state = "is left out" if name in self._constructs else "does not rate in this file"
                remedy = f"Leave out {quote(f'--scale {name}=')}."
                yield Fault(f"the control {name!r} {state}.", remedy)
        if len(self._labels) == len(self._values):
            yield from self._unused_values()
        for numeric in self._numeric():
            yield from numeric.faults()

    def _faults_of(self, name: str, key: str | None) -> Iterator[Fault]:
        """Yield what is wrong with a control that rates."""
        known, used = self._options.constructs, self.controls[name]
        leave_out = option("control", name)
        if used.region is not None:
            row, task = used.region
            if key != "":
                problem = f"task {task}: the control {name!r} rates a region or an item of the "
                problem += "task, not the response (perRegion or perItem)."
                yield Fault(problem, f"Leave the control out with {leave_out}.", row)
        elif key is None:
            passage_hint = _OF_A_PASSAGE.fullmatch(name) and (
                "Values of passages are relevance judgments: `ccrs measure STUDY --metrics "
                "retrieval --qrels FILE` reads them. Otherwise: "
            )
            remedy = f"{passage_hint or ''}Name it with {option('control', name, 'CONSTRUCT')} "
            remedy += f"({', '.join(known)}), or leave the control out with {leave_out}; or set it "
            remedy += "in study.toml under [label_studio] controls."
            yield Fault(f"which construct does the control {name!r} rate?", remedy)
        elif key and key not in known:
            problem = f"the control {name!r} is mapped to {key!r}, which is not a construct."
            yield Fault(problem, nearest(key, known))
        missing = self._values.get(name)
        if isinstance(missing, str):
            labels = dict.fromkeys(label for _, label in used.labels)
            problem = (
                f"which number is the choice {missing!r} of the control {name!r}? Its choices: "
            )
            remedy = f"Give each a number, such as with {option('value', missing, 'NUMBER')}; or "
            remedy += f"leave the control out with {leave_out}."
            row = next(row for row, label in used.labels if label == missing and row)
            yield Fault(f"{problem}{quoted_names(map(repr, labels))}.", remedy, row)

    def _duplicates(self) -> Iterator[Fault]:
        """Yield a fault for each construct of several controls, of whose values one can count."""
        named = self._options.declared_controls
        for key in dict.fromkeys(filter(None, self._constructs.values())):
            controls = [control for control, other in self._constructs.items() if other == key]
            if len(controls) > 1:
                listed = ", ".join(repr(control) for control in controls)
                # A control that the caller named is the one to keep.
                keep = next((control for control in controls if control in named), controls[0])
                others = " ".join(option("control", one) for one in controls if one != keep)
                problem = f"the controls {listed} all rate {key}, but a rater gives a response one "
                remedy = f"Keep one of them and leave out the others, such as with {others}; or "
                remedy += "name another construct. If a control was renamed, give it one name in "
                yield Fault(f"{problem}value.", f"{remedy}the whole file.")

    def _wrong_controls(self) -> Iterator[Fault]:
        """Yield a fault for each option with a control that does not rate in this file."""
        listed = quoted_names(map(repr, self._constructs))
        rating = f"Controls that rate: {listed}." if listed else "No control of this file rates."
        for control, key in self._options.declared_controls.items():
            named = option("control", control, key)
            if control in self._mark_controls:
                if key and key not in self._options.constructs:
                    problem = f"{control!r} is mapped to {key!r}, which is not a construct."
                    yield Fault(problem, nearest(key, self._options.constructs))
            elif control not in self.controls:
                if not key and control in self._columns:
                    continue  # A field of the data, which a short form has as a column.
                hint = nearest(control, self.controls)
                problem = f"the control {control!r} has no result in this file. {hint}".rstrip()
                remedy = f"{rating} Correct or leave out {named}; import files with different "
                yield Fault(problem, f"{remedy}controls one by one.")
            elif key and control not in self._constructs:
                problem = f"the control {control!r} gives {self.controls[control]}, but only "
                problem += "numbers (Number), stars (Rating), choices (Choices), comparisons "
                problem += "(Pairwise) and rankings (Ranker) are ratings."
                yield Fault(problem, f"{rating} Leave out {named}.")

    def _unused_values(self) -> Iterator[Fault]:
        """Yield a fault for each label with a number that no control gives."""
        used = {label for control_labels in self._labels.values() for label in control_labels}
        for label, number in self._options.values.items():
            if label not in used:
                hint, named = nearest(label, used), option("value", label, f"{number:g}")
                problem = f"no control that rates has the choice {label!r} in this file. {hint}"
                remedy = f"Correct or leave out {named}; choices rate where --control names their "
                yield Fault(problem.rstrip(), f"{remedy}construct.")


def described(source: RecordSource, options: FormatOptions) -> FileDescription:
    """Return the controls, fields and users of an export, and the options that import its ratings.

    Choices and labels are part of the options only where no control gives numbers or stars: many
    projects ask other things by choices.
    """
    inventory, words = read_inventory(source, options), []
    if not inventory.annotations and inventory.kinds[reasons.GROUND_TRUTH]:
        taken = replace(options, annotations={reasons.GROUND_TRUTH: reasons.RATINGS})
        truths = read_inventory(source, taken)
        if truths.annotations:
            inventory, options = truths, taken
            words.append(f"--annotations {reasons.GROUND_TRUTH}={reasons.RATINGS}")
    controls = inventory.controls
    rating = [name for name, control in controls.items() if control.rates]
    chosen = [name for name, control in controls.items() if control.kind and not control.rates]
    if not rating and not chosen:
        marks = (control.labels for control in controls.values() if LABELS in control.types)
        labels = dict.fromkeys(label for some in marks for _, label in some)
        words += [option("control", label, "CONSTRUCT") for label in labels]
    words += _controls(rating or chosen, controls, options)
    if not rating and any(isinstance(choice_values(controls[n], options), str) for n in chosen):
        labels = dict.fromkeys(label for name in chosen for _, label in controls[name].labels)
        words += [option("value", label, "NUMBER") for label in labels]
    contents = {f"control {storable_text(name)}": one.content for name, one in controls.items()}
    reader, unnamed = TaskReader(source, options), False
    for task in reader.contents(tasks(source, options)):
        if isinstance(task, TaskContent):
            has_none = task.rated is None and not task.compared
            unnamed = unnamed or (has_none and bool(task.record.cells.get("annotations")))
    if unnamed and inventory.annotations and controls:
        compares = any(one.kind in {"preference", "ranking"} for one in controls.values())
        texts = "LEFT=text_a,RIGHT=text_b" if compares else "RESPONSE=response"
        words.append(f"--column QUERY=query,{texts}")
    users = [str(user) for user in scorers_of_users(inventory.users, source, options)]
    contents["fields"] = ", ".join(map(storable_text, reader.fields)) or "none"
    contents["users"] = ", ".join(users) or "none"
    return FileDescription(contents | dict(_counts(inventory, options)), tuple(words))


def _controls(
    used: Sequence[str], controls: Mapping[str, ExportControl], options: FormatOptions
) -> Iterator[str]:
    """Yield the options of controls that rate; of several of one construct the first is kept."""
    constructs = assign_constructs(used, options)
    free = set(options.constructs) - set(constructs.values())
    scales = list(options.scales.values())
    # Where no construct is named, the scale is known if all have the same.
    shared_scale = scales[0] if scales and all(scale == scales[0] for scale in scales) else None
    taken: set[str] = set()
    for name in used:
        control, construct = controls[name], constructs[name]
        if control.region is not None or construct in taken or not (construct or free):
            yield option("control", name)
            continue
        if construct:
            taken.add(construct)
        if construct is None or not control.rates:
            yield option("control", name, construct or "CONSTRUCT")
        scale = shared_scale if construct is None else options.scales.get(construct)
        if control.stars:
            yield option("scale", name, f"{STARS[0]}:{control.most_stars}")
        elif scale and NumericControl(name, control, construct or "", scale).unlikely():
            yield option("scale", name, "LOW:HIGH")


def _counts(inventory: Inventory, options: FormatOptions) -> Iterator[tuple[str, str]]:
    """Yield the numbers of annotations that are no independent ratings."""
    for kind in (reasons.GROUND_TRUTH, reasons.PREFILLED):
        if count := inventory.kinds[kind]:
            other = f" or {kind}={reasons.REFERENCE}" if kind == reasons.GROUND_TRUTH else ""
            state = f"left out unless --annotations {kind}={reasons.RATINGS}{other}"
            if kind in options.annotations:
                state = "imported as ratings by this command"
            yield kind.replace("-", " "), f"{counted(count, 'annotation')}, {state}"
    if inventory.predictions:
        state = f"left out unless --annotations {reasons.PREDICTED}={reasons.JUDGE}"
        yield reasons.PREDICTED, f"{inventory.predictions:,}, {state}"
