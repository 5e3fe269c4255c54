"""What an export contains, and the options of `ccrs import` with which it is imported."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from annotate_ui.label_studio.annotations import storable_text
from annotate_ui.label_studio.export_controls import choice_values
from annotate_ui.label_studio.export_inventory import (
    LABELS,
    STARS,
    ExportControl,
    Inventory,
    read_inventory,
)
from annotate_ui.label_studio.reasons import (
    GROUND_TRUTH,
    JUDGE,
    PREDICTED,
    PREFILLED,
    RATINGS,
    REFERENCE,
)
from annotate_ui.label_studio.short_exports import assign_constructs, tasks
from annotate_ui.label_studio.task_content import TaskContent, TaskReader
from annotate_ui.label_studio.users import scorers_of_users
from annotate_ui.label_studio.value_ranges import NumericControl, option
from study.base.scales import Scale
from study.importing.importers import FileDescription, FormatOptions
from study.importing.readers.source import RecordSource

_TAKEN_AS = {GROUND_TRUTH: (RATINGS, REFERENCE), PREFILLED: (RATINGS,)}


def described(source: RecordSource, options: FormatOptions) -> FileDescription:
    """Return the controls, fields and users of an export, and the options that import its ratings.

    Choices and labels are part of the options only where no control gives numbers or stars: many
    projects ask other things by choices.
    """
    inventory, words = read_inventory(source, options), []
    if not inventory.annotations and inventory.kinds[GROUND_TRUTH]:
        taken = replace(options, annotations={GROUND_TRUTH: RATINGS})
        of_truths = read_inventory(source, taken)
        if of_truths.annotations:
            inventory, options = of_truths, taken
            words.append(f"--annotations {GROUND_TRUTH}={RATINGS}")
    controls = inventory.controls
    rating = [name for name, control in controls.items() if control.rates]
    chosen = [name for name, control in controls.items() if control.kind and not control.rates]
    if not rating and not chosen:
        words += _labels(controls)
    used = dict.fromkeys(rating or chosen)
    words += _controls(used, controls, options)
    if not rating:
        labels = dict.fromkeys(label for name in chosen for _, label in controls[name].labels)
        if any(isinstance(choice_values(controls[name], options), str) for name in chosen):
            words += [option("value", label, "NUMBER") for label in labels]
    fields, named = _fields(source, inventory, options)
    contents = {
        f"control {storable_text(name)}": control.content for name, control in controls.items()
    }
    users = [str(user) for user in scorers_of_users(inventory.users, source, options)]
    contents |= {"fields": fields, "users": ", ".join(users) or "none"}
    contents |= dict(_counts(inventory, options))
    return FileDescription(contents, (*words, *named))


def _controls(
    used: Mapping[str, None], controls: Mapping[str, ExportControl], options: FormatOptions
) -> Iterator[str]:
    """Yield the options of controls that rate; of several of one construct the first is kept."""
    constructs = assign_constructs(used, options)
    free = set(options.constructs) - set(constructs.values())
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
        if control.stars:
            yield option("scale", name, f"{STARS[0]}:{control.most_stars}")
        elif (scale := _scale_of(construct, options)) and NumericControl(
            name, control, construct or "", scale
        ).unlikely():
            yield option("scale", name, "LOW:HIGH")


def _scale_of(construct: str | None, options: FormatOptions) -> Scale | None:
    """Return the scale of a construct, or the one that all have, where none is named."""
    if construct is not None:
        return options.scales.get(construct)
    scales = list(options.scales.values())
    return scales[0] if scales and all(scale == scales[0] for scale in scales) else None


def _labels(controls: Mapping[str, ExportControl]) -> list[str]:
    labels = dict.fromkeys(
        label
        for control in controls.values()
        if LABELS in control.types
        for _, label in control.labels
    )
    return [option("control", label, "CONSTRUCT") for label in labels]


def _fields(
    source: RecordSource, inventory: Inventory, options: FormatOptions
) -> tuple[str, list[str]]:
    """Return the fields of the tasks, and the option that names those with texts, if needed."""
    names: dict[str, None] = {}
    unnamed = False
    for content in TaskReader(source, options).contents(tasks(source, options)):
        if isinstance(content, TaskContent):
            names.update(dict.fromkeys(content.fields))
            has_none = content.rated is None and not content.compared
            unnamed = unnamed or (has_none and bool(content.record.cells.get("annotations")))
    listed = ", ".join(map(storable_text, names)) or "none"
    if not unnamed or not inventory.annotations or not inventory.controls:
        return listed, []
    if any(c.kind in {"preference", "ranking"} for c in inventory.controls.values()):
        return listed, ["--column QUERY=query,LEFT=text_a,RIGHT=text_b"]
    return listed, ["--column QUERY=query,RESPONSE=response"]


def _counts(inventory: Inventory, options: FormatOptions) -> Iterator[tuple[str, str]]:
    """Yield the numbers of annotations that are no independent ratings."""
    for kind, ways in _TAKEN_AS.items():
        count = inventory.kinds[kind]
        if count:
            state = (
                "imported as ratings by this command"
                if kind in options.annotations
                else f"left out unless {' or '.join(f'--annotations {kind}={way}' for way in ways)}"
            ).replace(" or --annotations ", " or ")
            noun = "annotation" if count == 1 else "annotations"
            yield kind.replace("-", " "), f"{count:,} {noun}, {state}"
    if inventory.predictions:
        state = f"left out unless --annotations {PREDICTED}={JUDGE}"
        yield PREDICTED, f"{inventory.predictions:,}, {state}"
