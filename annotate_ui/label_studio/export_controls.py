"""The controls of an export: which construct each rates, and what of that can't be."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import isclose
from shlex import quote
from typing import Any

from annotate_ui.label_studio.annotation_reader import storable_text
from annotate_ui.label_studio.export_inventory import Seen, seen_controls
from study.errors import Fault, InputError, nearest
from study.importing.importers import FormatOptions
from study.importing.readers.source import RecordSource
from study.scales import RatingScale
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
        *_two_of_one(found, options.declared_controls),
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
    for control, key in options.declared_controls.items():
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


# As many as there are unless the form says otherwise.
_STARS = (1, 5)
# Fewer small numbers than this say nothing of a range.
_TELLING = 3


@dataclass(frozen=True, slots=True)
class Range:
    """What a control's values go from and to, and the scale that they are mapped to."""

    given: RatingScale
    """Stars are whole ones."""
    scale: RatingScale

    def mapped(self, value: float) -> float:
        """Return a value of the range on the construct's scale."""
        if value == self.given.max:
            return self.scale.max  # A quotient may miss the end by the last digit.
        return self.scale.min + (value - self.given.min) * self._width / self._from_width

    def off_grid(self, value: float) -> str | None:
        """Say why a value of the range is no point of the scale; None when it is one."""
        problem = self.scale.off_grid(self.mapped(value))
        return problem and f"{value:g} on {self.given}: {problem}"

    def fits(self) -> bool:
        """Whether all whole steps of the range are points of the scale."""
        if self.scale.step is None:
            return True
        points = self._width / self._from_width / self.scale.step
        return isclose(points, round(points), abs_tol=1e-6) and round(points) > 0

    @property
    def _width(self) -> float:
        return self.scale.max - self.scale.min

    @property
    def _from_width(self) -> float:
        return self.given.max - self.given.min


def said_range(
    control: str, key: str, seen: Mapping[str, Seen], options: FormatOptions
) -> Range | None:
    """Return the range that is said of a control; None: its construct's scale."""
    if control not in options.ranges:
        return None
    low, high = options.ranges[control]
    whole = seen[control].stars and low == int(low) and high - low >= 1
    return Range(RatingScale(min=low, max=high, step=1 if whole else None), options.scales[key])


def range_faults(
    seen: Mapping[str, Seen], found: Mapping[str, str | None], options: FormatOptions
) -> Iterator[Fault]:
    """Yield what is wrong with the ranges of controls that rate, by control to construct."""
    for control, key in found.items():
        scale = options.scales.get(key or "")
        if key is None or scale is None:
            continue
        said = said_range(control, key, seen, options)
        if said is not None:
            yield from _not_on_the_grid(control, key, seen[control], said)
        elif seen[control].stars:
            yield from _unsaid_stars(control, key, seen[control], scale)


def range_warnings(
    seen: Mapping[str, Seen], controls: Mapping[str, str], options: FormatOptions
) -> Iterator[str]:
    """Warn of numbers that were probably given on another range, by control to construct."""
    for control, key in controls.items():
        if control in options.ranges or seen[control].stars:
            continue
        scale = options.scales[key]
        values = [value for _, value in seen[control].given if scale.problem(value) is None]
        start = 0.0 if scale.min < 0 < scale.max else scale.min
        end = start + (scale.max - scale.min) / 10
        if (
            len(values) >= _TELLING
            and all(start <= value <= end for value in values)
            and any(value > start for value in values)
        ):
            yield (
                f"all {len(values)} values of the control {control!r} lie in {start:g} to "
                f"{end:g}, and {key} goes from {scale}. If they were given on another range, "
                f"import the file into a fresh study with {_scale(control, 'LOW:HIGH')}: what is "
                "stored stays."
            )


def _not_on_the_grid(control: str, key: str, seen: Seen, said: Range) -> Iterator[Fault]:
    within = [(row, value) for row, value in seen.given if said.given.problem(value) is None]
    missed = [(row, off) for row, value in within if (off := said.off_grid(value)) is not None]
    # Single values that miss the grid are missing, each with its reason.
    if missed and (not said.fits() or 2 * len(missed) > len(within)):
        row, problem = missed[0]
        yield Fault(
            f"values of the control {control!r} don't fall on the points of {key}: {problem}.",
            f"Correct {_scale(control, 'LOW:HIGH')}, give {key} a scale in study.toml that "
            f"has these points (or no step), or leave the control out with "
            f"--control {quote(storable_text(control) + '=')}.",
            row,
        )


def _unsaid_stars(control: str, key: str, seen: Seen, scale: RatingScale) -> Iterator[Fault]:
    low, high = _STARS
    most = max((value for _, value in seen.given), default=high)
    ends = f"{low}:{high if most <= high else 10 if most <= 10 else int(most)}"
    remedy = (
        f"Say {_scale(control, ends)} (the least and the most stars); values are then "
        "mapped to the construct's scale."
    )
    if (scale.min, scale.max) != _STARS:
        yield Fault(f"the control {control!r} gives stars, and {key} goes from {scale}.", remedy)
        return
    for row, value in seen.given:
        if not low <= value <= high or value != int(value):
            yield Fault(
                f"the control {control!r} gave {value:g} stars, which is none of {low} to {high}, "
                "as many as are taken for granted.",
                remedy,
                row,
            )
            return


def _scale(control: str, ends: str) -> str:
    return f"--scale {quote(storable_text(f'{control}={ends}'))}"
