"""The range on which a control's values were given: as the project states it, or --scale."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isclose
from shlex import quote

from annotate_ui.label_studio.annotations import storable_text
from annotate_ui.label_studio.export_inventory import STARS, ExportControl
from study.base.scales import Scale
from study.errors import Fault

# Fewer values do not indicate another range.
_MIN_VALUES = 3


def option(name: str, part: str, value: str = "") -> str:
    """Return an option that says what a part of an export is, quoted for a shell."""
    return f"--{name} {quote(storable_text(f'{part}={value}'))}"


def mapped(value: float, source: Scale, scale: Scale) -> tuple[float, str | None]:
    """Return a value of a range on a scale, and why that is not a point of it; None if it is."""
    on_scale = scale.converted(value, source)
    problem = scale.off_grid(on_scale)
    return on_scale, problem and f"{value:g} on {source}: {problem}"


@dataclass(frozen=True)
class NumericControl:
    """A control that gives a construct numbers."""

    name: str
    used: ExportControl
    key: str
    scale: Scale
    """Of the construct."""
    given: tuple[float, float] | None = None
    """The range that --scale names."""

    @property
    def stated(self) -> tuple[float, float] | None:
        """The range that the project states; None: not both of its ends."""
        low, high = self.used.stated
        if low is None and self.used.stars:
            low = float(STARS[0])
        return None if low is None or high is None or low >= high else (low, high)

    @property
    def range(self) -> Scale | None:
        """The range that --scale or the project states; None: the construct's scale, or unknown.

        With step 1 for stars.
        """
        ends = self.stated if self.given is None else self.given
        if ends is None or (self.given is None and ends == (self.scale.min, self.scale.max)):
            return None
        low, high = ends
        integers = self.used.stars and low == int(low) and high - low >= 1
        return Scale(min=low, max=high, step=1 if integers else None)

    def unlikely(self) -> tuple[float, float] | None:
        """Return the part of the scale with all numbers, if they were probably on another range."""
        values = [value for _, value in self._within(self.scale)]
        start = 0.0 if self.scale.min < 0 < self.scale.max else self.scale.min
        end = start + (self.scale.max - self.scale.min) / 10
        inside = all(start <= value <= end for value in values) and max(values, default=0) > start
        return (start, end) if len(values) >= _MIN_VALUES and inside else None

    def faults(self) -> Iterator[Fault]:
        """Yield a fault if its values were not, or may not be, on a known range."""
        contradictions = list(self._contradictions())
        if contradictions:
            yield from contradictions
        elif self.range is not None:
            yield from self._off_grid(self.range)
        elif self.stated is None:
            yield from self._unknown_stars() if self.used.stars else self._unlikely_range()

    def _option(self, ends: str) -> str:
        return option("scale", self.name, ends)

    def _within(self, scale: Scale) -> list[tuple[int, float]]:
        return [(row, value) for row, value in self.used.numbers if scale.problem(value) is None]

    def _contradictions(self) -> Iterator[Fault]:
        """Yield a fault where the range that is used has another end than the project states."""
        if self.given is None and self.stated is not None:
            return
        name, (low, high) = self.name, self.given or (self.scale.min, self.scale.max)
        for word, end, stated in zip(
            ("lowest", "highest"), (low, high), self.used.stated, strict=True
        ):
            if stated is None or stated == end:
                continue
            problem = f"the project states a {word} value of {stated:g} for the control {name!r}"
            if self.given is not None:
                remedy = f"Correct or leave out {self._option(f'{low:g}:{high:g}')}."
                yield Fault(f"{problem}, and --scale {end:g}.", remedy)
            else:
                whole = f"{stated:g}:HIGH" if word == "lowest" else f"LOW:{stated:g}"
                problem += f" and no other end of its range, while {self.key} goes from "
                problem += f"{self.scale.min:g} to {self.scale.max:g}."
                yield Fault(problem, f"Name the whole range with {self._option(whole)}.")

    def _unlikely_range(self) -> Iterator[Fault]:
        """Yield a fault for numbers that were probably given on another range."""
        part = self.unlikely()
        if part is not None:
            within, scale = self._within(self.scale), self.scale
            problem = f"all {len(within)} values of the control {self.name!r} are between "
            problem += f"{part[0]:g} and {part[1]:g}, while {self.key} goes from {scale.min:g} to "
            remedy = "If they were given on another range, name it with "
            remedy += f"{self._option('LOW:HIGH')}; if they are on the construct's, with "
            remedy += f"{self._option(f'{scale.min:g}:{scale.max:g}')}."
            yield Fault(f"{problem}{scale.max:g}.", remedy, within[0][0])

    def _off_grid(self, source: Scale) -> Iterator[Fault]:
        within, step = self._within(source), self.scale.step
        problems = [(row, mapped(value, source, self.scale)[1]) for row, value in within]
        missed = [(row, problem) for row, problem in problems if problem is not None]
        # The points of the scale in an integer step of the range, of which there should be some.
        width = (self.scale.max - self.scale.min) / (source.max - source.min)
        points = 1.0 if step is None else width / step
        fits = isclose(points, round(points), abs_tol=1e-6) and round(points) > 0
        # Single values off the grid become missing values, each with its reason.
        if missed and (not fits or 2 * len(missed) > len(within)):
            row, problem = missed[0]
            problem = (
                f"values of the control {self.name!r} are not points of {self.key}: {problem}."
            )
            remedy = f"Correct {self._option('LOW:HIGH')}, give {self.key} a scale in study.toml "
            remedy += "that has these points (or no step), or leave out the control with "
            yield Fault(problem, f"{remedy}{option('control', self.name)}.", row)

    def _unknown_stars(self) -> Iterator[Fault]:
        (low, high), name = STARS, self.name
        remedy = (
            "Give the least and the greatest number of stars that the project offers (maxRating, 5 "
            "by default; a file does not state it), such as with "
            f"{self._option(f'{low}:{self.used.most_stars}')}; "
            "values are then mapped to the construct's scale."
        )
        if (self.scale.min, self.scale.max) != STARS:
            problem = f"the control {name!r} gives stars, but {self.key} goes from {self.scale}."
            yield Fault(problem, remedy)
            return
        for row, value in self.used.numbers:
            if not low <= value <= high or value != int(value):
                problem = f"the control {name!r} has a result of {value:g} stars, outside the "
                yield Fault(f"{problem}default range of {low} to {high}.", remedy, row)
                return
