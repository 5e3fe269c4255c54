"""The controls and users of a project, collected before its values are read."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from annotate_ui.label_studio.annotations import (
    UNPLACED,
    as_integer,
    choice_labels,
    dicts,
    groups_of,
    is_number,
    number_in,
    storable_text,
    text_labels,
    user_number,
)
from annotate_ui.label_studio.reasons import PREDICTED, kinds_of, left_out_as, predictions_of
from annotate_ui.label_studio.short_exports import tasks
from annotate_ui.label_studio.short_form import is_short
from annotate_ui.label_studio.task_content import names_a_pair
from study.errors import Fault, InputError, StudyError
from study.importing.importers import FormatOptions
from study.importing.readers.input_file import Record
from study.importing.readers.source import RecordSource
from study.text import abbreviate

LABELS = "labels"
_RATING = {"number", "rating"}
_VALUES = {*_RATING, "choices"}
STARS = (1, 5)
"""Default range of stars in Label Studio."""
# Choices that a description lists.
_SHOWN = 12
_TAGS = {"Number", "Rating", "Choices", "Pairwise", "Ranker", "TextArea", "Labels"}
"""Their results are of the type of the same name in small letters."""


@dataclass(slots=True)
class ExportControl:
    """A control of an export with its results."""

    types: set[str] = field(default_factory=set)
    """Types of its results in Label Studio: number, rating, choices."""
    numbers: list[tuple[int, float]] = field(default_factory=list)
    """Row and number of its results, without those of skipped tasks."""
    labels: list[tuple[int, str]] = field(default_factory=list)
    """Row and label of each choice or bucket, without those of skipped tasks; row 0: it is offered
    by the project."""
    compares_pairs: bool = False
    """Whether it has results in tasks that name two responses and rate none."""
    stated: tuple[float | None, float | None] = (None, None)
    """The lowest and the highest value that the project states; None: it states none."""
    region: tuple[int, Any] | None = None
    """Row and id of the first task in which it rates a part of the task; None: there is none."""

    @property
    def kind(self) -> str | None:
        """What its results are, as `AnnotationReader` takes it; None: no ratings.

        Choices, comparisons and rankings rate where a construct is named for them.
        """
        if self.rates:
            return "number"
        if self.types == {"pairwise"} or (self.types == {"choices"} and self.compares_pairs):
            return "preference"
        return {"choices": "number", "ranker": "ranking"}.get(str(self))

    @property
    def rates(self) -> bool:
        """Whether its results are numbers or stars."""
        return bool(self.types & _RATING)

    @property
    def has_labels(self) -> bool:
        """Whether its results are labels whose numbers are asked for."""
        return self.types == {"choices"} or (self.kind == "ranking" and bool(self.labels))

    @property
    def stars(self) -> bool:
        """Whether its results are stars."""
        return "rating" in self.types

    @property
    def most_stars(self) -> int:
        """The likely number of stars."""
        most = max((value for _, value in self.numbers), default=STARS[1])
        return STARS[1] if most <= STARS[1] else 10 if most <= 10 else int(most)

    @property
    def content(self) -> str:
        """Its results in words: kind, number and range, or the choices."""
        kind = " of a region" if self.region else ""
        if self.rates and self.numbers:
            values = [value for _, value in self.numbers]
            return f"{self}{kind}: {len(values)} from {min(values):g} to {max(values):g}"
        if self.labels:
            counts = Counter(label for row, label in self.labels if row)
            shown = [f"{storable_text(label)!r} {n}" for label, n in counts.most_common(_SHOWN)]
            more = f" and {len(counts) - _SHOWN} more" if len(counts) > _SHOWN else ""
            return f"{self}{kind}: {', '.join(shown)}{more}"
        return f"{self}{kind}"

    def __str__(self) -> str:
        return ", ".join(sorted(self.types)) or "nothing"


@dataclass
class Inventory:
    """The controls and the users of an export."""

    controls: dict[str, ExportControl] = field(default_factory=dict)
    """By name, in the order of the file."""
    users: dict[int, str | None] = field(default_factory=dict)
    """User to their e-mail address, if the file has it, in the order of the file."""
    kinds: Counter[str] = field(default_factory=Counter)
    """Number of annotations of each kind of `reasons.kinds_of`, whether they count or not."""
    annotations: int = 0
    """Number of annotations that count."""
    predictions: int = 0


def read_inventory(
    source: RecordSource, options: FormatOptions, stated: Mapping[str, ExportControl] | None = None
) -> Inventory:
    """Return the controls and users of an export; `stated` are those of its configuration.

    Raises
    ------
    InputError
        Records of a short form cannot be read: without them it has other controls and users. Or a
        result has no type.
    """
    inventory = Inventory()
    faults: list[Fault] = []
    for record in tasks(source, options):
        if not isinstance(record, Record):
            faults += [record] if is_short(source.head) else []
            continue
        predictions = predictions_of(record.cells)
        inventory.predictions += len(predictions)
        taken = predictions if options.annotations.get(PREDICTED) else []
        for annotation in (*dicts(record.cells.get("annotations")), *dicts(taken)):
            inventory.kinds.update(kinds_of(annotation))
            if left_out_as(annotation, options.annotations) is None:
                pair = names_a_pair(record.cells, options)
                faults += _add(inventory, record, annotation, pair)
    if faults:
        raise InputError(source.path.name, faults)
    for name, control in (stated or {}).items():
        used = inventory.controls.setdefault(name, control)
        if used is not control:
            used.types |= control.types
            used.labels += control.labels
            used.stated = control.stated
    return inventory


def _add(
    inventory: Inventory, record: Record, annotation: Mapping[str, Any], compares_pairs: bool
) -> Iterator[Fault]:
    """Add an annotation that counts; yield what is wrong with it."""
    inventory.annotations += 1
    account = annotation.get("completed_by")
    user = as_integer(user_number(account))
    if user is not None:
        address = account.get("email") if isinstance(account, dict) else None
        known = isinstance(address, str) and address.strip().casefold()
        inventory.users[user] = known or inventory.users.get(user)
    for result in dicts(annotation.get("result")):
        if "from_name" not in result:
            continue  # A relation between results has no control.
        name, value, kind = str(result["from_name"]), result.get("value"), result.get("type")
        if not isinstance(kind, str | None):
            problem = f"a result of the control {name!r} has the type {abbreviate(kind)}, no text."
            yield Fault(problem, "Export the project again.", record.number)
            continue
        control = inventory.controls.setdefault(name, ExportControl())
        control.types.add(str(kind))
        control.compares_pairs = control.compares_pairs or compares_pairs
        # The place of a region is in the value, the index of an item next to it.
        around = {*value, *(result.keys() & {"item_index"})} if isinstance(value, dict) else set()
        if control.region is None and kind in _VALUES and around - _VALUES:
            control.region = record.number, record.cells.get("id")
        if annotation.get("was_cancelled") is not True:
            number, buckets = number_in(value), groups_of(value).keys() - {UNPLACED, name}
            if is_number(number):
                control.numbers.append((record.number, float(number)))
            labels = [*choice_labels(value), *text_labels(value), *sorted(buckets)]
            control.labels += [(record.number, label) for label in labels]


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
        whole = "true" not in {tag.attr.get("perRegion"), tag.attr.get("perItem")}
        if tag.tag in _TAGS and whole:
            controls[name] = ExportControl({tag.tag.lower()}, stated=_ends(tag))
    for element in tree.iter():
        # The SDK's own list of labels has neither nested choices nor buckets.
        if (name := element.get("name")) in controls and element.tag in _TAGS:
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


def _offered(element: Any, path: str = "") -> Iterator[str]:
    for part in element:
        if part.tag == "Bucket":
            yield part.get("name", "")
        elif part.tag in {"Choice", "Label"}:
            label = path + (part.get("alias") or part.get("value") or "")
            yield label
            yield from _offered(part, f"{label}/")
        else:
            yield from _offered(part, path)
