"""The controls of an export: which construct each rates, and what of that can't be."""

from collections.abc import Iterable, Iterator, Mapping
from shlex import quote
from typing import Any

from annotate_ui.label_studio.annotation_reader import storable_text
from annotate_ui.label_studio.export_inventory import Seen, seen_controls
from annotate_ui.label_studio.export_ranges import range_faults
from study.errors import Fault, InputError, nearest
from study.importing.formats.format_options import FormatOptions
from study.importing.readers.source import RecordSource
from study.text import quoted_names


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


def asked(source: RecordSource, options: FormatOptions) -> list[str]:
    """Return the controls that rate and whose construct nobody has said."""
    found = meanings(_rating(seen_controls(source)), options.controls, options.names)
    return [control for control, key in found.items() if key is None]


def controls_of(
    source: RecordSource, seen: Mapping[str, Seen], options: FormatOptions
) -> dict[str, dict[str, Any]]:
    """Return what each control that rates means.

    Raises
    ------
    InputError
        A control is mapped to nothing, to no construct of the study, to that of another control,
        or on no known range; or one is said that doesn't rate.
    """
    found = meanings(_rating(seen), options.controls, options.names)
    faults = [
        *_unmapped(found, options),
        *_two_of_one(found, options.controls_said),
        *_strange(seen, found, options),
        *range_faults(seen, found, options),
    ]
    if faults:
        raise InputError(source.path.name, faults)
    return {
        control: {"kind": "number", "construct": key, "construct_version": 1}
        for control, key in found.items()
        if key
    }


def _rating(seen: Mapping[str, Seen]) -> list[str]:
    return [name for name, control in seen.items() if control.rates]


def _unmapped(found: Mapping[str, str | None], options: FormatOptions) -> Iterator[Fault]:
    for control, key in found.items():
        if key is None:
            yield Fault(
                f"which construct does the control {control!r} rate?",
                f"Say {_said(control, 'CONSTRUCT')} ({', '.join(options.constructs)}), or "
                f"{_said(control)} to leave it out; or write it in study.toml under "
                "[label_studio] controls.",
            )
        elif key and key not in options.constructs:
            hint = nearest(key, options.constructs)
            yield Fault(
                f"the control {control!r} is said to rate {key!r}.", f"No construct. {hint}"
            )


def _two_of_one(found: Mapping[str, str | None], said: Mapping[str, str]) -> Iterator[Fault]:
    """Yield a fault for each construct of several controls: one's values would hide the other's."""
    for key in dict.fromkeys(key for key in found.values() if key):
        alike = [control for control, own in found.items() if own == key]
        if len(alike) > 1:
            listed = ", ".join(repr(control) for control in alike)
            # What the caller named is what they want.
            kept = next((control for control in alike if control in said), alike[0])
            others = " ".join(_said(control) for control in alike if control != kept)
            yield Fault(
                f"the controls {listed} all rate {key}, and a rater gives a response one value.",
                f"Keep one of them and leave the others out, such as {others}; or say another "
                "construct. If one control was renamed, give it one name throughout the file.",
            )


def _strange(
    seen: Mapping[str, Seen], found: Mapping[str, str | None], options: FormatOptions
) -> Iterator[Fault]:
    """Yield a fault for each control that the caller names and that can't be meant."""
    rating = f"Those that rate: {quoted_names(map(repr, found))}." if found else "None here rates."
    for control, key in options.controls_said.items():
        option = _said(control, key)
        if control not in seen:
            hint = nearest(control, seen)
            yield Fault(
                f"no control {control!r} gave anything in this file. {hint}".rstrip(),
                f"{rating} Correct {option}, or leave it out; files of different controls are "
                "imported one by one.",
            )
        elif key and not seen[control].rates:
            yield Fault(
                f"the control {control!r} gives {seen[control]}, and only numbers (Number) and "
                "stars (Rating) are ratings.",
                f"{rating} Leave {option} out.",
            )
    for control in sorted(options.ranges):
        if not found.get(control, ""):
            left = "is left out" if control in found else "rates in this file"
            no = "the" if control in found else "no"
            yield Fault(
                f"{no} control {control!r} {left}.", f"Leave {quote(f'--scale {control}=')} out."
            )


def _said(control: str, key: str = "") -> str:
    """Return the option that says what a control rates, to be typed into a shell."""
    return f"--control {quote(storable_text(f'{control}={key}'))}"


def _folded(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())
