"""The range on which a control's values were given: as the project states it, or --scale."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isclose
from shlex import quote
from typing import Any

from annotate_ui.label_studio.annotations import storable_text
from annotate_ui.label_studio.export_inventory import ExportControl
from study.base.scales import Scale
from study.errors import Fault, StudyError
from study.importing.importers import FormatOptions

# Default range of stars in Label Studio.
STARS = (1, 5)
# Fewer values do not indicate another range.
_MIN_VALUES = 3


def kind_of(control: ExportControl) -> str:
    """Return the kind of a control that rates, as `AnnotationReader` takes it."""
    return "preference" if control.compares else "ranking" if control.ranks else "number"


def most_stars(used: ExportControl) -> int:
    """Return the likely number of stars."""
    most = max((value for _, value in used.numbers), default=STARS[1])
    return STARS[1] if most <= STARS[1] else 10 if most <= 10 else int(most)


def option(name: str, part: str, value: str = "") -> str:
    """Return an option that says what a part of an export is, quoted for a shell."""
    return f"--{name} {quote(storable_text(f'{part}={value}'))}"


@dataclass(frozen=True, slots=True)
class ValueRange:
    """The range of a control's values, and the scale that they are mapped to."""

    source: Scale
    """With step 1 for stars."""
    scale: Scale

    def mapped(self, value: float) -> float:
        """Return a value of the range on the construct's scale."""
        return self.scale.converted(value, self.source)

    def off_grid(self, value: float) -> str | None:
        """Return why a value of the range is not a point of the scale; None if it is one."""
        problem = self.scale.off_grid(self.mapped(value))
        return problem and f"{value:g} on {self.source}: {problem}"

    def fits(self) -> bool:
        """Whether all integer steps of the range are points of the scale."""
        if self.scale.step is None:
            return True
        width, source = self.scale.max - self.scale.min, self.source.max - self.source.min
        points = width / source / self.scale.step
        return isclose(points, round(points), abs_tol=1e-6) and round(points) > 0


def value_range(
    control: str, key: str, controls: Mapping[str, ExportControl], options: FormatOptions
) -> ValueRange | None:
    """Return the range of a control that --scale or the project states.

    None: that is the scale of its construct, or nothing states one.
    """
    used, scale = controls[control], options.scales[key]
    ends = options.ranges.get(control)
    if ends is None:
        ends = _stated_range(used)
        if ends is None or ends == (scale.min, scale.max):
            return None
    low, high = ends
    integers = used.stars and low == int(low) and high - low >= 1
    return ValueRange(Scale(min=low, max=high, step=1 if integers else None), scale)


def _stated_range(used: ExportControl) -> tuple[float, float] | None:
    """Return the range that the project states for a control; None: not both of its ends."""
    low, high = used.stated
    if low is None and used.stars:
        low = float(STARS[0])
    return None if low is None or high is None or low >= high else (low, high)


def range_faults(
    controls: Mapping[str, ExportControl],
    constructs: Mapping[str, str | None],
    options: FormatOptions,
) -> Iterator[Fault]:
    """Yield a fault for each control whose values were not, or may not be, on a known range.

    Parameters
    ----------
    constructs
        Construct of each control; None or one without a scale: the control is not checked.
    """
    for control, key in constructs.items():
        scale = options.scales.get(key or "")
        if key is None or scale is None or kind_of(controls[control]) != "number":
            continue
        used_range = value_range(control, key, controls, options)
        contradicted = list(_contradicted(control, key, controls[control], options))
        if contradicted:
            yield from contradicted
        elif used_range is not None:
            yield from _off_grid_faults(control, key, controls[control], used_range)
        elif _stated_range(controls[control]) is not None:
            continue  # It is the construct's scale.
        elif controls[control].stars:
            yield from _unknown_stars(control, key, controls[control], scale)
        else:
            yield from _unlikely_range(control, key, controls[control], scale)


def _contradicted(
    control: str, key: str, used: ExportControl, options: FormatOptions
) -> Iterator[Fault]:
    """Yield a fault where the range that is used has another end than the project states."""
    given, scale = options.ranges.get(control), options.scales[key]
    if given is None and _stated_range(used) is not None:
        return
    low, high = given or (scale.min, scale.max)
    for word, ends, stated in zip(("lowest", "highest"), (low, high), used.stated, strict=True):
        if stated is None or stated == ends:
            continue
        problem = f"the project states a {word} value of {stated:g} for the control {control!r}"
        if given is not None:
            yield Fault(
                f"{problem}, and --scale {ends:g}.",
                f"Correct or leave out {option('scale', control, f'{low:g}:{high:g}')}.",
            )
        else:
            whole = f"{stated:g}:HIGH" if word == "lowest" else f"LOW:{stated:g}"
            yield Fault(
                f"{problem} and no other end of its range, while {key} goes from {scale.min:g} to "
                f"{scale.max:g}.",
                f"Name the whole range with {option('scale', control, whole)}.",
            )


def unlikely_range(used: ExportControl, scale: Scale) -> tuple[float, float] | None:
    """Return the part of a scale that has all numbers, if they were probably on another range."""
    values = [value for _, value in used.numbers if scale.problem(value) is None]
    start = 0.0 if scale.min < 0 < scale.max else scale.min
    end = start + (scale.max - scale.min) / 10
    if (
        len(values) >= _MIN_VALUES
        and all(start <= value <= end for value in values)
        and any(value > start for value in values)
    ):
        return start, end
    return None


def _unlikely_range(control: str, key: str, used: ExportControl, scale: Scale) -> Iterator[Fault]:
    """Yield a fault for numbers that were probably given on another range than the construct's."""
    part = unlikely_range(used, scale)
    if part is not None:
        within = [(row, value) for row, value in used.numbers if scale.problem(value) is None]
        yield Fault(
            f"all {len(within)} values of the control {control!r} are between {part[0]:g} and "
            f"{part[1]:g}, while {key} goes from {scale.min:g} to {scale.max:g}.",
            "If they were given on another range, name it with "
            f"{option('scale', control, 'LOW:HIGH')}; if they are on the construct's, with "
            f"{option('scale', control, f'{scale.min:g}:{scale.max:g}')}.",
            within[0][0],
        )


def _off_grid_faults(
    control: str, key: str, used: ExportControl, used_range: ValueRange
) -> Iterator[Fault]:
    within = [
        (row, value) for row, value in used.numbers if used_range.source.problem(value) is None
    ]
    missed = [
        (row, problem)
        for row, value in within
        if (problem := used_range.off_grid(value)) is not None
    ]
    # Single values off the grid become missing values, each with its reason.
    if missed and (not used_range.fits() or 2 * len(missed) > len(within)):
        row, problem = missed[0]
        yield Fault(
            f"values of the control {control!r} are not points of {key}: {problem}.",
            f"Correct {option('scale', control, 'LOW:HIGH')}, give {key} a scale in study.toml "
            "that has these points (or no step), or leave out the control with "
            f"{option('control', control)}.",
            row,
        )


def _unknown_stars(control: str, key: str, used: ExportControl, scale: Scale) -> Iterator[Fault]:
    low, high = STARS
    ends = f"{low}:{most_stars(used)}"
    remedy = (
        "Give the least and the greatest number of stars that the project offers (maxRating, 5 by "
        f"default; a file does not state it), such as with {option('scale', control, ends)}; "
        "values are then mapped to the construct's scale."
    )
    if (scale.min, scale.max) != STARS:
        yield Fault(f"the control {control!r} gives stars, but {key} goes from {scale}.", remedy)
        return
    for row, value in used.numbers:
        if not low <= value <= high or value != int(value):
            yield Fault(
                f"the control {control!r} has a result of {value:g} stars, outside the default "
                f"range of {low} to {high}.",
                remedy,
                row,
            )
            return


_TYPES = {
    "Number": "number",
    "Rating": "rating",
    "Choices": "choices",
    "Pairwise": "pairwise",
    "Ranker": "ranker",
    "TextArea": "textarea",
    "Labels": "labels",
}


def stated_controls(xml: str) -> dict[str, ExportControl]:
    """Return the controls of a labeling configuration.

    They have the choices and buckets that they offer, and the ends of their range. A control of a
    region or of an item (perRegion, perItem) rates no response and is left out.

    Raises
    ------
    StudyError
        The configuration cannot be read.
    """
    from label_studio_sdk.label_interface import LabelInterface

    if not xml.strip():
        return {}
    try:
        tags, _, _, tree = LabelInterface("<View/>").parse(xml)
    except Exception as error:  # noqa: BLE001  (whatever the SDK raises)
        raise StudyError(
            f"The labeling configuration of the project cannot be read: {error}. Correct it in "
            "Label Studio (Settings, Labeling Interface)."
        ) from None
    controls: dict[str, ExportControl] = {}
    for name, tag in tags.items():
        whole = not {"true"} & {tag.attr.get("perRegion"), tag.attr.get("perItem")}
        if tag.tag in _TYPES and whole:
            controls[name] = ExportControl({_TYPES[tag.tag]}, stated=_ends(tag))
    for element in tree.iter():
        # The SDK's own list of labels has neither nested choices nor buckets.
        if (name := element.get("name")) in controls and element.tag in _TYPES:
            controls[name].labels += [(0, label) for label in _offered(element)]
    return controls


def _ends(tag: Any) -> tuple[float | None, float | None]:
    """Return the lowest and the highest value that a control takes; None: it states none."""
    if tag.tag == "Rating":
        most = _number(tag.attr.get("maxRating"))
        return None, float(STARS[1]) if most is None else most
    if tag.tag == "Number":
        return _number(tag.attr.get("min")), _number(tag.attr.get("max"))
    return None, None


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def _offered(element: Any) -> Iterator[str]:
    if element.tag == "Ranker":
        for bucket in element.iter("Bucket"):
            yield bucket.get("name", "")
        return

    def below(parent: Any, path: str) -> Iterator[str]:
        for choice in parent:
            if choice.tag in {"Choice", "Label"}:
                label = path + (choice.get("alias") or choice.get("value") or "")
                yield label
                yield from below(choice, f"{label}/")
            else:
                yield from below(choice, path)

    if element.tag in {"Choices", "Labels"}:
        yield from below(element, "")
