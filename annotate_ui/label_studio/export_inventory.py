"""The controls and users of a Label Studio export, collected before its values are read."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from annotate_ui.label_studio.annotations import (
    UNPLACED,
    as_integer,
    choice_labels,
    groups_of,
    is_number,
    number_in,
    storable_text,
    text_labels,
    user_number,
)
from annotate_ui.label_studio.reasons import (
    PREDICTED,
    kinds_of,
    left_out_as,
    predictions_of,
)
from annotate_ui.label_studio.short_exports import tasks
from annotate_ui.label_studio.short_form import is_short
from annotate_ui.label_studio.task_content import names_a_pair
from study.errors import Fault, InputError
from study.importing.importers import FormatOptions
from study.importing.readers.input_file import Record
from study.importing.readers.source import RecordSource
from study.text import quoted_names

STARS = "rating"
CHOICES = "choices"
PAIRWISE = "pairwise"
RANKER = "ranker"
_RATING = {"number", STARS}
_VALUES = {*_RATING, CHOICES}
PREFIX = "ls-"
# Choices that a description lists.
_SHOWN = 12


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
    of_pairs: bool = False
    """Whether it has results in tasks that name two responses and rate none."""
    stated: tuple[float | None, float | None] = (None, None)
    """The lowest and the highest value that the project states; None: it states none."""
    region: tuple[int, Any] | None = None
    """Row and id of the first task in which it rates a part of the task; None: there is none."""

    @property
    def rates(self) -> bool:
        """Whether its results are numbers or stars."""
        return bool(self.types & _RATING)

    @property
    def chooses(self) -> bool:
        """Whether its results are choices and nothing else."""
        return self.types == {CHOICES}

    @property
    def compares(self) -> bool:
        """Whether its results are the better one of two responses and nothing else."""
        return self.types == {PAIRWISE} or (self.chooses and self.of_pairs)

    @property
    def ranks(self) -> bool:
        """Whether its results are rankings and nothing else."""
        return self.types == {RANKER}

    @property
    def stars(self) -> bool:
        """Whether its results are stars."""
        return STARS in self.types

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
    """Number of each user to their e-mail address in lower case, which is not stored."""
    kinds: Counter[str] = field(default_factory=Counter)
    """Number of annotations of each kind of `annotation_kinds`, whether they count or not."""
    annotations: int = 0
    """Number of annotations that count."""
    predictions: int = 0


def read_inventory(source: RecordSource, options: FormatOptions) -> Inventory:
    """Return the controls and users of an export.

    Raises
    ------
    InputError
        Records of a short form cannot be read: without them it has other controls and users.
    """
    inventory = Inventory()
    faults: list[Fault] = []
    for record in tasks(source, options):
        if not isinstance(record, Record):
            faults.append(record)
            continue
        of_pairs = names_a_pair(record.cells, options)
        predictions = predictions_of(record.cells)
        inventory.predictions += len(predictions)
        taken = predictions if options.annotations.get(PREDICTED) else []
        for annotation in (*_dicts(record.cells.get("annotations")), *_dicts(taken)):
            inventory.kinds.update(kinds_of(annotation))
            if left_out_as(annotation, options.annotations) is not None:
                continue
            inventory.annotations += 1
            user = as_integer(user_number(annotation.get("completed_by")))
            if user is not None:
                inventory.users.setdefault(user, _email(annotation["completed_by"]))
            for result in _dicts(annotation.get("result")):
                if "from_name" not in result:
                    continue  # A relation between results has no control.
                name = str(result["from_name"])
                control = inventory.controls.setdefault(name, ExportControl())
                control.types.add(str(result.get("type")))
                control.of_pairs = control.of_pairs or of_pairs
                if control.region is None and _is_of_region(result):
                    control.region = record.number, record.cells.get("id")
                number = number_in(result.get("value"))
                if annotation.get("was_cancelled") is True:
                    continue
                if is_number(number):
                    control.numbers.append((record.number, float(number)))
                control.labels += [(record.number, label) for label in _labels(result)]
    if faults and is_short(source.head):
        raise InputError(source.path.name, faults)
    return inventory


def _email(completed_by: Any) -> str | None:
    email = completed_by.get("email") if isinstance(completed_by, dict) else None
    return email.strip().casefold() or None if isinstance(email, str) else None


def _labels(result: Mapping[str, Any]) -> list[str]:
    """Return the labels of a result that are choices, or buckets of a ranking."""
    value = result.get("value")
    own = {UNPLACED, str(result["from_name"])}
    return [
        *choice_labels(value),
        *text_labels(value),
        *(group for group in groups_of(value) if group not in own),
    ]


def _is_of_region(result: Mapping[str, Any]) -> bool:
    """Whether a value is of a region or of one item of a list (perRegion, perItem)."""
    value = result.get("value")
    if result.get("type") not in _VALUES or not isinstance(value, dict):
        return False
    # The place of a region is in the value, the index of an item next to it.
    return "item_index" in result or bool(value.keys() - _VALUES)


def _dicts(listed: Any) -> list[dict[str, Any]]:
    """Return the objects of a list, which may contain anything, or be none."""
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def scorers_of_users(
    users: Mapping[int, str | None], source: RecordSource, options: FormatOptions
) -> dict[int, str | None]:
    """Return the scorer of each user of an export; None: left out by --rater.

    Users with the same e-mail address, whatever its case, are one person.

    Raises
    ------
    InputError
        A user without --rater would get the code of a rater who was pulled or erased, or --rater
        names a user who is not in the file.
    """
    prefix = PREFIX if options.rater_prefix is None else options.rater_prefix
    scorers: dict[int, str | None] = {
        user: code or None for user in users if (code := options.raters.get(str(user))) is not None
    }
    by_email = {email: user for user in reversed(scorers) if (email := users[user])}
    faults = []
    for user, email in users.items():
        if user in scorers:
            continue
        first = by_email.setdefault(email, user) if email else user
        if first != user:
            scorers[user] = scorers[first]
            source.report.rules[
                f"users {first} and {user} have the same e-mail address, and are one rater"
            ] += 1
            continue
        scorers[user] = f"{prefix}{user}"
        fault = _same_code(user, f"{prefix}{user}", options)
        if fault is not None:
            faults.append(fault)
    numbers = [str(user) for user in users]
    for number, code in options.raters.items():
        if number not in numbers:
            faults.append(
                Fault(
                    f"user {number} has no annotation in this file. Its users: "
                    f"{quoted_names(numbers) or 'none'}.",
                    f"Correct or leave out --rater {number}={code}; import files of different "
                    "people one by one.",
                )
            )
    if faults:
        raise InputError(source.path.name, faults)
    existing = sorted(
        str(code)
        for user, code in scorers.items()
        if code in options.kinds and str(user) not in options.raters
    )
    if existing:
        source.report.warnings.append(
            f"{', '.join(existing)}: the study already has values of these scorers, and the values "
            "of this file are added to theirs. If they are other people, use --rater-prefix."
        )
    return scorers


def _same_code(user: int, code: str, options: FormatOptions) -> Fault | None:
    """Return a fault if a user may be a rater who was pulled from a server, or erased."""
    for server, number, rater in options.pulled:
        if rater == code or (
            rater is None and number == str(user) and options.rater_prefix is None
        ):
            who = f"the rater {code}" if rater else "erased from the study"
            return Fault(
                f"user {user} of {server} is {who}; is user {user} of this file the same person?",
                f"Name the rater with --rater {user}=CODE (--rater {user}= leaves the user out), "
                "or give people of another server different codes with --rater-prefix TEXT.",
            )
    return None
