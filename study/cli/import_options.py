"""The options of `ccrs import` that name something of a file, and what is asked where none does."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import TypeVar

import click

from study.errors import InputError
from study.importing.file_import import unmapped_controls
from study.importing.readers.value_words import declared_values
from study.study import Study

T = TypeVar("T")


def unique_by_name(
    option: str, texts: Iterable[str], read: Callable[[str], tuple[str, T]]
) -> dict[str, T]:
    """Return the values of a repeatable option by name.

    Raises
    ------
    UsageError
        A text is malformed, or a name has two values.
    """
    values: dict[str, T] = {}
    for text in texts:
        name, value = read(text)
        if values.setdefault(name, value) != value:
            raise click.UsageError(f"{option} has two values for {name!r}: keep one of them.")
    return values


def kind(text: str) -> tuple[str, str]:
    """Read SCORER=KIND."""
    scorer, separator, value = text.rpartition("=")
    if not separator or not scorer:
        raise click.BadParameter(
            f"{text!r}: write SCORER=KIND, such as anna=human", param_hint="--kind"
        )
    return scorer, value


def control(text: str) -> tuple[str, str]:
    """Read NAME=CONSTRUCT, or NAME= for none; a name may contain equals signs."""
    name, equals, construct = text.rpartition("=")
    if not equals or not name.strip():
        raise click.UsageError(f"--control {text}: write NAME=CONSTRUCT, such as quality=AC.")
    return name.strip(), construct.strip()


def control_range(text: str) -> tuple[str, tuple[float, float]]:
    """Read CONTROL=LOW:HIGH."""
    name, equals, ends = text.rpartition("=")
    low, colon, high = ends.partition(":")
    try:
        bounds = float(low), float(high)
    except ValueError:
        bounds = 0.0, 0.0
    if not (equals and colon and name.strip() and bounds[0] < bounds[1]) or not isfinite(
        bounds[1] - bounds[0]
    ):
        raise click.UsageError(f"--scale {text}: write CONTROL=LOW:HIGH, such as stars=1:5.")
    return name.strip(), bounds


def choice_value(text: str) -> tuple[str, float]:
    """Read CHOICE=NUMBER; a choice may contain equals signs."""
    label, equals, number = text.rpartition("=")
    try:
        value = float(number)
    except ValueError:
        value = float("nan")
    if not equals or not label or not isfinite(value):
        raise click.UsageError(f"--value {text}: write CHOICE=NUMBER, such as good=1.")
    return label, value


def with_word_values(choices: Mapping[str, float], texts: Iterable[str]) -> dict[str, float | None]:
    """Return the numbers of choices (--value) and of words (--values); None is missing.

    Raises
    ------
    UsageError
        A text is malformed, or a word has two numbers.
    """
    try:
        words = declared_values(texts)
    except ValueError as error:
        raise click.UsageError(f"--values: {error}.") from None
    for word in words:
        if word in choices:
            raise click.UsageError(f"--value and --values name {word!r}: keep one of them.")
    return {**choices, **words}


def column(text: str) -> list[tuple[str, str]]:
    """Read NAME=FIELD, or several with commas between them."""
    pairs = []
    for part in text.split(","):
        name, equals, meaning = part.rpartition("=")
        if not equals or not name.strip() or not meaning.strip():
            raise click.UsageError(f"--column {text}: write NAME=FIELD, such as model=system.")
        pairs.append((name.strip(), meaning.strip()))
    return pairs


def columns(texts: Iterable[str]) -> dict[str, str]:
    """Return the fields of tasks by their names."""
    pairs = [pair for text in texts for pair in column(text)]
    named = unique_by_name("--column", [f"{a}={b}" for a, b in pairs], lambda t: column(t)[0])
    if len(set(named.values())) < len(named):
        raise click.UsageError("--column gives two fields one name: keep one of them.")
    return named


def user(text: str) -> tuple[str, str]:
    """Read USER=CODE, or USER= for a user who is left out."""
    number, equals, code = text.partition("=")
    if not equals or not number.isascii() or not number.isdigit():
        raise click.UsageError(f"--rater {text}: write the user's number, as in 5=anna.")
    return number.lstrip("0") or "0", code.strip()


#: What annotations of a kind may be taken as.
_ANNOTATIONS = {
    "ground-truth": ("ratings", "reference"),
    "prefilled": ("ratings",),
    "predictions": ("judge",),
}


def annotation_kind(text: str) -> tuple[str, str]:
    """Read KIND=AS, or KIND= for annotations that are left out again."""
    kind, equals, taken = (part.strip() for part in text.partition("="))
    if not equals or taken not in ("", *_ANNOTATIONS.get(kind, ())) or kind not in _ANNOTATIONS:
        known = ", ".join(f"{k}={one}" for k, several in _ANNOTATIONS.items() for one in several)
        raise click.UsageError(f"--annotations {text}: write one of {known}.")
    return kind, taken


def prompt_for_constructs(
    study: Study,
    path: Path,
    importer: str | None,
    mapped: dict[str, str],
    answers: dict[str, str],
) -> dict[str, str]:
    """Ask for the construct of each control of a file that is not mapped yet.

    Answers are added to `answers`, so that each control is asked for only once.
    """
    open_controls: list[str] = []
    # Other faults of the file are reported when it is imported.
    with suppress(InputError):
        open_controls = unmapped_controls(study, path, importer=importer, controls=mapped)
    keys = ", ".join(construct.key for construct in study.config.constructs)
    for control in open_controls:
        if control not in answers:
            answers[control] = click.prompt(
                f"{path.name}: which construct does the control {control!r} rate? ({keys}; "
                "blank: none)",
                default="",
                show_default=False,
            ).strip()
    return {control: answers[control] for control in open_controls}


def unknown_scorers(study: Study, kinds: Mapping[str, str]) -> list[str]:
    """Return the scorers of declared kinds of which the study has nothing."""
    from study.importing.value_checks import known_kinds

    if not kinds:
        return []
    with study.read() as connection:
        known = known_kinds(connection, study.config)
    return [scorer for scorer in kinds if scorer not in known]
