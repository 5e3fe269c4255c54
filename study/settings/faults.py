"""What is wrong with a file of settings, in plain words: the setting, its value and the remedy."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from study.errors import nearest
from study.settings import section_of, settings_of

_KINDS = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "string_type": "a text in quotes",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
}
_TABLES = {"model_type", "dataclass_type", "dict_type", "model_attributes_type"}
_LISTS = {"tuple_type", "list_type"}


def faults(details: Sequence[ErrorDetails], kind: type[Any]) -> list[str]:
    """Return a sentence for each fault in a file whose settings are those of `kind`."""
    places = [detail["loc"] for detail in details]
    return [
        _described(detail, kind)
        for detail, place in zip(details, places, strict=True)
        # A list whose entries are all faulty is reported once more, as too short.
        if detail["type"] != "too_short"
        or not any(len(other) > len(place) and other[: len(place)] == place for other in places)
    ]


def _described(detail: ErrorDetails, kind: type[Any]) -> str:
    location = ".".join(str(part) for part in detail["loc"]) or "study.toml"
    if detail["type"] in {"extra_forbidden", "unexpected_keyword_argument"}:
        known = _known_keys(detail["loc"][:-1], kind)
        hint = nearest(str(detail["loc"][-1]), known)
        return f"{location}: unknown setting. {hint} Known here: {', '.join(known)}.".replace(
            ".  ", ". "
        )
    message = _message(detail, location, kind)
    # An address may contain a password, so it is not repeated; nor are whole sections.
    shown = location != "database" and isinstance(detail["input"], str | int | float | bool)
    return f"{location} = {detail['input']!r}: {message}" if shown else f"{location}: {message}"


def _message(detail: ErrorDetails, location: str, kind: type[Any]) -> str:
    problem, given = detail["type"], detail["input"]
    field, section = _place(detail["loc"], kind)
    if problem == "missing":
        return _missing(location, field, section)
    if problem == "too_short" and not given:
        return f"the list is empty; name at least one: {_words(field)}"
    wanted = _KINDS.get(problem)
    if problem in _TABLES:
        is_one = section is not None and not _is_named(field)
        wanted = f"one table, [{location}]" if is_one else f"tables, as in [{location}.NAME]"
    elif problem in _LISTS:
        example = f", as in [{json.dumps(given, ensure_ascii=False)}]"
        listed = f"a list{example if isinstance(given, str) else ''}"
        wanted = listed if section is None else f"tables, as in [[{location}]]"
    if wanted is not None:
        return f"it must be {wanted}"
    message = detail["msg"].removeprefix("Value error, ")
    return message.replace("Input should be", "it must be")


def _missing(location: str, field: FieldInfo | None, section: type[Any] | None) -> str:
    if section is None:
        return f"it is missing; add it: {_words(field)}"
    required = [name for name, one in settings_of(section).items() if one.is_required()]
    content = (field and field.description) or " and ".join(required)
    return f"the section is missing; add [{location}] with {content}"


def _words(field: FieldInfo | None) -> str:
    return (field and field.description) or "see its description in the list of settings"


def _is_named(field: FieldInfo | None) -> bool:
    """Whether a setting consists of tables whose names are chosen freely."""
    return field is not None and get_origin(field.annotation) is dict


def _place(
    location: Iterable[Any], section: type[Any]
) -> tuple[FieldInfo | None, type[Any] | None]:
    """Return the setting at a place, and the section that it is or consists of.

    The setting is None for one of several tables, which have a number or a name.
    """
    field: FieldInfo | None = None
    inside: type[Any] | None = section
    several = False
    for part in location:
        if several or inside is None:
            field, several = None, False
            continue
        field = settings_of(inside).get(str(part))
        inside = None if field is None else section_of(field.annotation)
        several = field is not None and get_origin(field.annotation) in {dict, tuple, list}
    return field, inside


def _known_keys(location: Iterable[Any], section: type[Any]) -> list[str]:
    """Return the settings allowed at a place in a section; names of tables are chosen freely."""
    is_name = False
    for part in location:
        field = None if is_name else settings_of(section).get(str(part))
        is_name = False
        if field is not None:
            section = section_of(field.annotation) or section
            is_name = get_origin(field.annotation) is dict
    return sorted(settings_of(section))
