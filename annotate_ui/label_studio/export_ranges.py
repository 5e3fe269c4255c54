"""The ranges that the controls of an export were given on, and the way to their constructs'."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isclose
from shlex import quote

from annotate_ui.label_studio.annotation_reader import storable_text
from annotate_ui.label_studio.export_inventory import Seen
from study.errors import Fault
from study.importing.formats.format_options import FormatOptions
from study.scales import RatingScale

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
