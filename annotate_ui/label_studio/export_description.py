"""What an export contains, and the options of `ccrs import` with which it is imported."""

from collections.abc import Iterator, Mapping, Sequence
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
from study.importing.importers import FileDescription, FormatOptions
from study.importing.readers.source import RecordSource
from study.text import counted

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
        marks = (control.labels for control in controls.values() if LABELS in control.types)
        labels = dict.fromkeys(label for some in marks for _, label in some)
        words += [option("control", label, "CONSTRUCT") for label in labels]
    words += _controls(rating or chosen, controls, options)
    if not rating and any(isinstance(choice_values(controls[n], options), str) for n in chosen):
        labels = dict.fromkeys(label for name in chosen for _, label in controls[name].labels)
        words += [option("value", label, "NUMBER") for label in labels]
    contents = {f"control {storable_text(name)}": one.content for name, one in controls.items()}
    fields: dict[str, None] = {}
    unnamed = False
    for task in TaskReader(source, options).contents(tasks(source, options)):
        if isinstance(task, TaskContent):
            fields |= dict.fromkeys(task.fields)
            has_none = task.rated is None and not task.compared
            unnamed = unnamed or (has_none and bool(task.record.cells.get("annotations")))
    if unnamed and inventory.annotations and controls:
        compares = any(one.kind in {"preference", "ranking"} for one in controls.values())
        texts = "LEFT=text_a,RIGHT=text_b" if compares else "RESPONSE=response"
        words.append(f"--column QUERY=query,{texts}")
    users = [str(user) for user in scorers_of_users(inventory.users, source, options)]
    contents["fields"] = ", ".join(map(storable_text, fields)) or "none"
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
    of_all = scales[0] if scales and all(scale == scales[0] for scale in scales) else None
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
        scale = of_all if construct is None else options.scales.get(construct)
        if control.stars:
            yield option("scale", name, f"{STARS[0]}:{control.most_stars}")
        elif scale and NumericControl(name, control, construct or "", scale).unlikely():
            yield option("scale", name, "LOW:HIGH")


def _counts(inventory: Inventory, options: FormatOptions) -> Iterator[tuple[str, str]]:
    """Yield the numbers of annotations that are no independent ratings."""
    for kind, ways in _TAKEN_AS.items():
        count = inventory.kinds[kind]
        if count:
            taken = " or ".join(f"{kind}={way}" for way in ways)
            state = f"left out unless --annotations {taken}"
            if kind in options.annotations:
                state = "imported as ratings by this command"
            yield kind.replace("-", " "), f"{counted(count, 'annotation')}, {state}"
    if inventory.predictions:
        state = f"left out unless --annotations {PREDICTED}={JUDGE}"
        yield PREDICTED, f"{inventory.predictions:,}, {state}"
