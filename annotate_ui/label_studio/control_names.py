"""Which construct a control rates, by its name or by the caller."""

from collections.abc import Iterable

from study.importing.importers import FormatOptions


def assign_constructs(controls: Iterable[str], options: FormatOptions) -> dict[str, str | None]:
    """Return the construct of each control: as mapped, else the construct of the same name.

    An empty construct leaves the control out; None: the construct is unknown.
    """
    by_name = {_normalized(name): key for key, name in options.names.items()}
    by_name |= {_normalized(key): key for key in options.names}
    return {
        control: options.controls.get(control, by_name.get(_normalized(control)))
        for control in controls
    }


def _normalized(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())
