"""study.toml: a module for each group of sections.

A setting is declared once, as a field of a model: name, type, range, default and description.
`option(...)` marks a setting that a command has as an option as well, which is made from the field.
"""

from dataclasses import fields, is_dataclass
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict
from pydantic.fields import FieldInfo


def option(
    metavar: str | None = None, *, env: str | None = None, also: str | None = None
) -> dict[str, Any]:
    """Return the properties of an option that its field does not have, as `json_schema_extra`.

    Parameters
    ----------
    metavar
        Placeholder of the value in the help; None: that of its type.
    env
        Environment variable with the value if the option is absent.
    also
        A second name of the option, without the dashes.
    """
    properties = {"metavar": metavar, "env": env, "also": also}
    return {key: value for key, value in properties.items() if value is not None}


def settings_of(section: type[Any]) -> dict[str, FieldInfo]:
    """Return the settings of a section of study.toml: a model, or a dataclass of `study.base`."""
    if issubclass(section, BaseModel):
        return section.model_fields
    kinds = get_type_hints(section)
    return {f.name: FieldInfo.from_annotated_attribute(kinds[f.name], f) for f in fields(section)}


def section_of(annotation: Any) -> type[Any] | None:
    """Return what a section, a list of sections or named sections consist of; None: a value."""
    if isinstance(annotation, type) and (
        issubclass(annotation, BaseModel) or is_dataclass(annotation)
    ):
        return annotation
    return next((s for s in map(section_of, get_args(annotation)) if s is not None), None)


def overridable(section: type[Any]) -> dict[str, FieldInfo]:
    """Return the settings of a section of study.toml that an option overrides, by name."""
    settings = settings_of(section)
    return {name: field for name, field in settings.items() if field.json_schema_extra is not None}


class SettingsSection(BaseModel):
    """Base of all sections: unknown settings are refused, and values are immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid")
