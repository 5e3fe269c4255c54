"""The controls of an export that rate: their constructs and the ranges of their values."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from shlex import quote
from typing import Any

from annotate_ui.label_studio.export_inventory import ExportControl, read_inventory
from annotate_ui.label_studio.short_exports import assign_constructs
from annotate_ui.label_studio.value_ranges import kind_of, option, range_faults
from study.errors import Fault, InputError, nearest
from study.importing.importers import FormatOptions
from study.importing.readers.source import RecordSource
from study.text import quoted_names

LABELS = "labels"
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
    chosen = list(dict.fromkeys(label for row, label in used.labels if row))
    given = {label: options.values[label] for label in labels if label in options.values}
    if not given and not used.ranks:
        given = {
            label: float(match[1]) for label in labels if (match := _NUMBERED_LABEL.match(label))
        }
        if len(set(given.values())) < len(given):
            given = {}
    without = [label for label in chosen if label not in given]
    return without[0] if without else given


def unmapped_controls(source: RecordSource, options: FormatOptions) -> list[str]:
    """Return the controls that rate and whose construct is unknown."""
    controls = read_inventory(source, options).controls
    constructs = assign_constructs(_rating(controls, options), options)
    return [
        control
        for control, key in constructs.items()
        if key is None and controls[control].region is None
    ]


def map_controls(
    source: RecordSource,
    controls: Mapping[str, ExportControl],
    options: FormatOptions,
    of_marks: Mapping[str, Mapping[str, Any]],
) -> dict[str, dict[str, Any]]:
    """Return the meaning of each control that rates, as `AnnotationReader` takes it.

    `of_marks` are controls whose results are marks on the text.

    Raises
    ------
    InputError
        A control has an unknown construct, the construct of another control or an unknown range,
        or an option names a control that does not rate.
    """
    constructs = assign_constructs(_rating(controls, options), options)
    whole = {name: key for name, key in constructs.items() if controls[name].region is None}
    values = {
        name: choice_values(controls[name], options)
        for name in constructs
        if controls[name].chooses or (controls[name].ranks and controls[name].labels)
    }
    known = {name: of_labels for name, of_labels in values.items() if isinstance(of_labels, dict)}
    controls = _with_numbers(controls, known)
    named_marks = {
        *of_marks,
        *(label for meaning in of_marks.values() for label in meaning["labels"]),
    }
    faults = [
        *_regions(controls, constructs),
        *_unmapped(whole, options),
        *_duplicates(constructs, options.declared_controls),
        *_wrong_options(controls, constructs, options, named_marks, source.head.columns),
        *_labels_without_value(controls, values),
        *_unused_values(values, known, options),
        *range_faults(controls, constructs, options),
    ]
    if faults:
        raise InputError(source.path.name, faults)
    return {
        control: {"kind": kind_of(controls[control]), "construct": key}
        | ({"labels": known[control]} if control in known else {})
        for control, key in constructs.items()
        if key
    }


def mark_controls(
    inventory: Mapping[str, ExportControl], options: FormatOptions
) -> dict[str, dict[str, Any]]:
    """Return the meaning of controls whose labels are marks, as `AnnotationReader` takes it.

    They are those that `options.controls` names, or whose labels it names; an empty construct
    leaves a label out.
    """
    controls = {}
    for name, control in inventory.items():
        labels = {
            label: options.controls[named]
            for _, label in control.labels
            for named in (name, label)
            if LABELS in control.types and named in options.controls
        }
        if labels:
            versions = dict.fromkeys(filter(None, labels.values()), 1)
            controls[name] = {"kind": "marks", "labels": labels, "versions": versions}
    return controls


def _rating(controls: Mapping[str, ExportControl], options: FormatOptions) -> list[str]:
    """Return the controls that rate.

    Choices, comparisons and rankings do where a construct is named for them.
    """
    return [
        name
        for name, control in controls.items()
        if control.rates or (may_rate(control) and options.controls.get(name))
    ]


def may_rate(control: ExportControl) -> bool:
    """Whether its results are ratings where a construct is named for it."""
    return control.chooses or control.compares or control.ranks


def _with_numbers(
    controls: Mapping[str, ExportControl], values: Mapping[str, Mapping[str, float]]
) -> dict[str, ExportControl]:
    """Return the controls with the numbers of their choices."""
    return {
        name: replace(
            control,
            numbers=[(row, values[name][label]) for row, label in control.labels if row],
        )
        if name in values
        else control
        for name, control in controls.items()
    }


def _labels_without_value(
    controls: Mapping[str, ExportControl], values: Mapping[str, Mapping[str, float] | str]
) -> Iterator[Fault]:
    for control, missing in values.items():
        if isinstance(missing, str):
            labels = dict.fromkeys(label for _, label in controls[control].labels)
            rows = [row for row, label in controls[control].labels if label == missing and row]
            yield Fault(
                f"which number is the choice {missing!r} of the control {control!r}? Its choices: "
                f"{quoted_names(map(repr, labels))}.",
                f"Give each a number, such as with {option('value', missing, 'NUMBER')}; or leave "
                f"the control out with {option('control', control)}.",
                rows[0] if rows else None,
            )


def _unused_values(
    values: Mapping[str, Mapping[str, float] | str],
    known: Mapping[str, Mapping[str, float]],
    options: FormatOptions,
) -> Iterator[Fault]:
    """Yield a fault for each label with a number that no control gives."""
    if len(known) < len(values):
        return  # Those faults come first.
    used = {label for of_labels in known.values() for label in of_labels}
    for label in options.values:
        if label not in used:
            hint, named = nearest(label, used), option("value", label, f"{options.values[label]:g}")
            yield Fault(
                f"no control that rates has the choice {label!r} in this file. {hint}".rstrip(),
                f"Correct or leave out {named}; choices rate where --control names their "
                "construct.",
            )


def _regions(
    controls: Mapping[str, ExportControl], constructs: Mapping[str, str | None]
) -> Iterator[Fault]:
    """Yield a fault for each control that rates parts of a task and is not left out."""
    for control, key in constructs.items():
        region = controls[control].region
        if key != "" and region is not None:
            row, task = region
            yield Fault(
                f"task {task}: the control {control!r} rates a region or an item of the task, "
                "not the response (perRegion or perItem).",
                f"Leave the control out with {option('control', control)}.",
                row,
            )


def _unmapped(constructs: Mapping[str, str | None], options: FormatOptions) -> Iterator[Fault]:
    for control, key in constructs.items():
        if key is None:
            of_passages = _OF_A_PASSAGE.fullmatch(control) and (
                "Values of passages are relevance judgments: `ccrs measure STUDY --metrics "
                "retrieval --qrels FILE` reads them. Otherwise: "
            )
            yield Fault(
                f"which construct does the control {control!r} rate?",
                f"{of_passages or ''}Name it with {option('control', control, 'CONSTRUCT')} "
                f"({', '.join(options.constructs)}), or leave the control out with "
                f"{option('control', control)}; or set it in study.toml under [label_studio] "
                "controls.",
            )
        elif key and key not in options.constructs:
            hint = nearest(key, options.constructs)
            yield Fault(
                f"the control {control!r} is mapped to {key!r}, which is not a construct.", hint
            )


def _duplicates(constructs: Mapping[str, str | None], named: Mapping[str, str]) -> Iterator[Fault]:
    """Yield a fault for each construct of several controls, of whose values only one can count."""
    for key in dict.fromkeys(key for key in constructs.values() if key):
        controls = [control for control, other in constructs.items() if other == key]
        if len(controls) > 1:
            listed = ", ".join(repr(control) for control in controls)
            # A control that the caller named is the one to keep.
            keep = next((control for control in controls if control in named), controls[0])
            others = " ".join(option("control", control) for control in controls if control != keep)
            yield Fault(
                f"the controls {listed} all rate {key}, but a rater gives a response one value.",
                f"Keep one of them and leave out the others, such as with {others}; or name "
                "another construct. If a control was renamed, give it one name in the whole file.",
            )


def _wrong_options(
    controls: Mapping[str, ExportControl],
    constructs: Mapping[str, str | None],
    options: FormatOptions,
    of_marks: Collection[str],
    columns: Collection[str],
) -> Iterator[Fault]:
    """Yield a fault for each option with a control that does not rate in this file."""
    rating = (
        f"Controls that rate: {quoted_names(map(repr, constructs))}."
        if constructs
        else "No control of this file rates."
    )
    for control, key in options.declared_controls.items():
        named = option("control", control, key)
        if control in of_marks:
            if key and key not in options.constructs:
                hint = nearest(key, options.constructs)
                yield Fault(f"{control!r} is mapped to {key!r}, which is not a construct.", hint)
        elif control not in controls and not key and control in columns:
            continue  # A field of the data, which a short form has as a column.
        elif control not in controls:
            hint = nearest(control, controls)
            yield Fault(
                f"the control {control!r} has no result in this file. {hint}".rstrip(),
                f"{rating} Correct or leave out {named}; import files with different controls "
                "one by one.",
            )
        elif key and control not in constructs:
            yield Fault(
                f"the control {control!r} gives {controls[control]}, but only numbers (Number), "
                "stars (Rating), choices (Choices), comparisons (Pairwise) and rankings (Ranker) "
                "are ratings.",
                f"{rating} Leave out {named}.",
            )
    for control in sorted(options.ranges):
        if not constructs.get(control, ""):
            state = "is left out" if control in constructs else "does not rate in this file"
            yield Fault(
                f"the control {control!r} {state}.", f"Leave out {quote(f'--scale {control}=')}."
            )
