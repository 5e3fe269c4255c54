"""The controls of an export: which construct each rates, and on which range."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from study.errors import Fault, InputError, nearest
from study.importing.formats.options import Options
from study.importing.reading.file import Record
from study.importing.reading.source import Source

# As many as there are unless the form says otherwise.
_STARS = (1, 5)
_NUMBERS = {"number", "rating"}


def rating_controls(source: Source) -> list[str]:
    """Return the controls of an export that rate with numbers or stars, in their order."""
    found: dict[str, None] = {}
    for record in source.records():
        for annotation in annotations_of(record):
            for result in _results(annotation):
                if result.get("type") in _NUMBERS:
                    found[str(result.get("from_name"))] = None
    return list(found)


def star_controls(source: Source) -> set[str]:
    """Return the controls that rate with stars."""
    return {
        str(result.get("from_name"))
        for record in source.records()
        for annotation in annotations_of(record)
        for result in _results(annotation)
        if result.get("type") == "rating"
    }


def meanings(
    controls: Iterable[str], said: Mapping[str, str], constructs: Mapping[str, str]
) -> dict[str, str | None]:
    """Return for each control its construct; an empty one where it is said to be left out.

    `constructs` holds names by keys. None: nothing is known of the control.
    """
    names = {_folded(name): key for key, name in constructs.items()}
    names |= {_folded(key): key for key in constructs}
    return {
        control: said[control] if control in said else names.get(_folded(control))
        for control in controls
    }


def controls_of(source: Source, options: Options) -> dict[str, dict[str, Any]]:
    """Return what each control that rates means.

    Raises
    ------
    InputError
        A control is mapped to nothing, to no construct of the study, or on no known range.
    """
    found = meanings(rating_controls(source), options.controls, options.names)
    faults = []
    for control, key in found.items():
        if key is None:
            faults.append(
                Fault(
                    f"which construct does the control {control!r} rate?",
                    f"Say --control {control}=CONSTRUCT ({', '.join(options.constructs)}), or "
                    f"--control {control}= to leave it out; or write it in study.toml under "
                    "[label_studio] controls.",
                )
            )
        elif key and key not in options.constructs:
            hint = nearest(key, options.constructs)
            faults.append(
                Fault(f"the control {control!r} is said to rate {key!r}.", f"No construct. {hint}")
            )
    stars = star_controls(source)
    for control in sorted(stars - set(options.ranges)):
        scale = options.scales.get(found[control] or "")
        if scale and (scale.min, scale.max) != _STARS:
            faults.append(
                Fault(
                    f"the control {control!r} gives stars, and {found[control]} goes from {scale}.",
                    f"Say --scale {control}=1:5 (the least and the most stars); values are then "
                    "mapped to the construct's scale.",
                )
            )
    for control in sorted(set(options.ranges) - set(found)):
        faults.append(
            Fault(f"no control {control!r} rates in this file.", f"Leave --scale {control}= out.")
        )
    if faults:
        raise InputError(source.path.name, faults)
    return {
        control: {"kind": "number", "construct": key, "construct_version": 1}
        for control, key in found.items()
        if key
    }


def annotations_of(record: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(record, Record):
        found = record.cells.get("annotations")
        for annotation in found if isinstance(found, list) else []:
            if isinstance(annotation, dict):
                yield annotation


def _results(annotation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = annotation.get("result")
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _folded(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())
