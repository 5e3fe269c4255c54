"""What an export holds of each control: what kinds of results it gave, and which numbers."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from annotate_ui.label_studio.annotation_reader import user_of, whole
from study.errors import Fault, InputError
from study.importing.importers import FormatOptions
from study.importing.readers.input_file import Record
from study.importing.readers.source import RecordSource
from study.text import quoted_names

STARS = "rating"
_RATING = {"number", STARS}


@dataclass(slots=True)
class Seen:
    """A control of an export, by what people gave on it."""

    types: set[str] = field(default_factory=set)
    """Of its results, as Label Studio calls them: number, rating, choices."""
    given: list[tuple[int, float]] = field(default_factory=list)
    """Row and number, without those of skipped tasks."""

    @property
    def rates(self) -> bool:
        """Whether it gave numbers or stars."""
        return bool(self.types & _RATING)

    @property
    def stars(self) -> bool:
        """Whether it gave stars."""
        return STARS in self.types

    def __str__(self) -> str:
        return ", ".join(sorted(self.types)) or "nothing"


def seen_controls(source: RecordSource) -> dict[str, Seen]:
    """Return the controls of an export in their order, by name."""
    found: dict[str, Seen] = {}
    for record in source.records():
        if not isinstance(record, Record):
            continue
        for annotation in annotations_of(record):
            for result in _results(annotation):
                if "from_name" not in result:
                    continue  # A relation between results says nothing of a control.
                control = found.setdefault(str(result["from_name"]), Seen())
                control.types.add(str(result.get("type")))
                number = _number(result.get("value"))
                if number is not None and annotation.get("was_cancelled") is not True:
                    control.given.append((record.number, number))
    return found


def annotations_of(record: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the annotations of a task that may become ratings."""
    if isinstance(record, Record):
        found = record.cells.get("annotations")
        for annotation in found if isinstance(found, list) else []:
            if isinstance(annotation, dict) and not is_reference(annotation):
                yield annotation


def is_reference(annotation: Any) -> bool:
    """Whether an annotation is marked as the project's own answer."""
    return isinstance(annotation, dict) and annotation.get("ground_truth") is True


def _results(annotation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = annotation.get("result")
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _number(value: Any) -> float | None:
    number = value.get("number", value.get("rating")) if isinstance(value, dict) else None
    if isinstance(number, bool) or not isinstance(number, int | float):
        return None
    if isinstance(number, int) and number.bit_length() > 1000:
        return None
    return float(number) if math.isfinite(number) else None


PREFIX = "ls-"


def users(source: RecordSource, options: FormatOptions) -> dict[int, str | None]:
    """Return the scorer that each user of an export is; None: said to be left out.

    Raises
    ------
    InputError
        A user without --rater would get the code of a rater who was pulled, or is erased; or
        --rater names nobody of the file.
    """
    prefix = PREFIX if options.rater_prefix is None else options.rater_prefix
    found: dict[int, str | None] = {}
    faults = []
    for record in source.records():
        for annotation in annotations_of(record):
            user = whole(user_of(annotation.get("completed_by")))
            if user is None or user in found:
                continue
            said = options.raters.get(str(user))
            code = found[user] = f"{prefix}{user}" if said is None else said or None
            if said is not None:
                continue
            for server, number, owner in options.pulled:
                if owner == code or (
                    owner is None and number == str(user) and options.rater_prefix is None
                ):
                    who = f"the rater {code}" if owner else "erased from the study"
                    faults.append(
                        Fault(
                            f"user {user} of {server} is {who}; is user {user} of this file, too?",
                            f"Say who it is with --rater {user}=CODE (--rater {user}= leaves them "
                            "out), or give people of another server codes of their own with "
                            "--rater-prefix TEXT.",
                        )
                    )
                    break
    there = [str(user) for user in found]
    for number, code in options.raters.items():
        if number not in there:
            faults.append(
                Fault(
                    f"no user {number} rated in this file. Its users: "
                    f"{quoted_names(there) or 'none'}.",
                    f"Correct --rater {number}={code}, or leave it out; files of "
                    "different people are imported one by one.",
                )
            )
    if faults:
        raise InputError(source.path.name, faults)
    again = sorted(
        str(code)
        for user, code in found.items()
        if code in options.kinds and str(user) not in options.raters
    )
    if again:
        source.report.warnings.append(
            f"{', '.join(again)}: values of theirs are in the study already, and these are taken "
            "for the same people's. If they are others, import with --rater-prefix."
        )
    return found
