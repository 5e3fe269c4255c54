"""The options of `ccrs judge`, made from the settings of all registered engines."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from study.cli.options import SettingsCommand, chosen_settings, setting_option

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pydantic.fields import FieldInfo

    from judge.run_settings import JudgeSettings


class EngineOptionsCommand(SettingsCommand):
    """A command with the options of all engines in addition to its parameters.

    `without` names settings that have no option here.
    """

    def __init__(self, *args: Any, without: Iterable[str] = (), **more: Any) -> None:
        excluded = frozenset(without)
        super().__init__(
            *args,
            settings=lambda: (each for each in engine_options() if each.name not in excluded),
            **more,
        )


@lru_cache(maxsize=1)
def engine_options() -> tuple[click.Parameter, ...]:
    """Return one option for each setting of any engine, with the engines that have it."""
    from judge.engines.engine import registered_settings

    models = registered_settings()
    fields: dict[str, dict[str, FieldInfo]] = {}
    for engine, model in models.items():
        for name, field in model.options().items():
            fields.setdefault(name, {})[engine] = field
    return tuple(
        _option(name, by_engine, () if len(by_engine) == len(models) else tuple(by_engine))
        for name, by_engine in fields.items()
    )


def settings_from(values: Mapping[str, Any]) -> JudgeSettings:
    """Return the settings from the options of a command.

    Raises
    ------
    StudyError
        A value is not allowed, or the engine does not have an option.
    """
    from judge.engines.engine import load_engine

    chosen = chosen_settings(values)
    model = load_engine(chosen.pop("engine")).settings
    # A variable of the environment is for the engines that read it; nobody typed it.
    context = click.get_current_context(silent=True)
    typed = {
        name: value
        for name, value in chosen.items()
        if name in model.options()
        or context is None
        or context.get_parameter_source(name) is not ParameterSource.ENVIRONMENT
    }
    return model.checked(**typed)


def _option(name: str, by_engine: Mapping[str, FieldInfo], engines: Sequence[str]) -> click.Option:
    """Return the option of a setting, which accepts the values of all its engines."""
    # Where engines differ, the longest description explains every choice.
    field = max(by_engine.values(), key=lambda each: len(each.description or ""))
    remarks = _defaults(by_engine)
    if isinstance(field.json_schema_extra, dict) and "env" in field.json_schema_extra:
        remarks += f"  [env: {field.json_schema_extra['env']}]"
    if engines:
        remarks += f"  [{', '.join(engines)}]"
    return setting_option(name, field, remarks, tuple(by_engine.values()))


def _defaults(by_engine: Mapping[str, FieldInfo]) -> str:
    """Return a phrase with the default; different defaults are listed with their engines."""
    engines: dict[str, list[str]] = {}
    for engine, field in by_engine.items():
        if isinstance(field.default, int | float | str) and not isinstance(field.default, bool):
            default = field.default
            text = default if isinstance(default, str) else f"{default:g}"
            engines.setdefault(text, []).append(engine)
    if not engines:
        return ""
    if len(engines) == 1:
        return f" Default: {next(iter(engines))}."
    each = (f"{default} ({', '.join(names)})" for default, names in engines.items())
    return f" Default: {', '.join(each)}."
