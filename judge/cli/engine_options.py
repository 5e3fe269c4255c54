"""The options of a run, made from the settings of every registered engine."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pydantic.fields import FieldInfo

    from judge.settings import JudgeSettings


class EngineOptionsCommand(click.Command):
    """A command whose options are its own, and those of every engine.

    The engines are loaded when the options are needed: to parse a command line or to show help.
    `without` names settings that have no option here.
    """

    def __init__(self, *args: Any, without: Iterable[str] = (), **more: Any) -> None:
        super().__init__(*args, **more)
        self._without = frozenset(without)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters: the command's own, then the options of the engines."""
        *own, help_option = super().get_params(ctx)
        engines = (option for option in engine_options() if option.name not in self._without)
        return [*own, *engines, help_option]


@lru_cache(maxsize=1)
def engine_options() -> tuple[click.Parameter, ...]:
    """Return one option for each setting of any engine, with the engines that take it."""
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
    """Return the settings that the options of a command give.

    Raises
    ------
    StudyError
        A value is not allowed, or an option is not one of the engine's.
    """
    from judge.engines.engine import load_engine

    # 0 equals False, and is a seed, a price or a share like any other.
    chosen = {n: v for n, v in values.items() if v is not None and v is not False and v != ()}
    model = load_engine(chosen.pop("engine")).settings
    for name, value in chosen.items():
        if isinstance(value, tuple) and value and isinstance(value[0], str):
            chosen[name] = tuple(part for text in value for part in comma_separated(text))
    return model.checked(**chosen)


def comma_separated(text: str) -> list[str]:
    """Return the names in a text that commas separate."""
    return [part.strip() for part in text.split(",") if part.strip()]


def _option(name: str, by_engine: Mapping[str, FieldInfo], engines: Sequence[str]) -> click.Option:
    """Return the option of a setting, which accepts what any of its engines accepts."""
    from judge.settings import option_name

    # Where engines differ, the fullest description is the one that explains every choice.
    field = max(by_engine.values(), key=lambda each: len(each.description or ""))
    extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    env = extra.get("env")
    text = (field.description or "").strip()
    text = f"{text[:1].upper()}{text[1:]}.{_defaults(by_engine)}"
    if env:
        text += f"  [env: {env}]"
    if engines:
        text += f"  [{', '.join(engines)}]"
    return click.Option(
        [option_name(name)],
        help=text,
        metavar=str(extra["metavar"]) if "metavar" in extra else None,
        envvar=str(env) if env else None,
        **_kind(field, tuple(by_engine.values())),
    )


def _defaults(by_engine: Mapping[str, FieldInfo]) -> str:
    """Return the default in words; where engines have different ones, each with its engines."""
    engines: dict[str, list[str]] = {}
    for engine, field in by_engine.items():
        if isinstance(field.default, int | float | str) and not isinstance(field.default, bool):
            default = field.default
            shown = default if isinstance(default, str) else f"{default:g}"
            engines.setdefault(shown, []).append(engine)
    if not engines:
        return ""
    if len(engines) == 1:
        return f" Default: {next(iter(engines))}."
    each = (f"{default} ({', '.join(names)})" for default, names in engines.items())
    return f" Default: {', '.join(each)}."


def _kind(field: FieldInfo, alike: Sequence[FieldInfo]) -> dict[str, Any]:
    """Return how click reads a field: its type, and whether it is a flag or repeatable.

    `alike` are the fields of this name of all engines; a choice offers the values of each.
    """
    kind = _without_none(field)
    if get_origin(kind) is tuple:
        first, last = get_args(kind)
        if last is not Ellipsis:
            return {"type": (first, last)}
        is_path = first is Path
        return {
            "multiple": True,
            "type": click.Path(exists=True, path_type=Path) if is_path else str,
        }
    if get_origin(kind) is Literal:
        choices = [value for each in (field, *alike) for value in get_args(_without_none(each))]
        return {"type": click.Choice(tuple(dict.fromkeys(choices)))}
    simple: dict[Any, dict[str, Any]] = {
        bool: {"is_flag": True},
        int: {"type": click.IntRange(_limit(field, "ge"), _limit(field, "le"))},
        float: {"type": _float_range(field)},
        Path: {"type": click.Path(file_okay=False, path_type=Path)},
    }
    return simple.get(kind, {"type": str})


def _without_none(field: FieldInfo) -> Any:
    """Return the type of a field, without None where it may be None."""
    inner = [kind for kind in get_args(field.annotation) if kind is not type(None)]
    return inner[0] if type(None) in get_args(field.annotation) else field.annotation


def _float_range(field: FieldInfo) -> click.FloatRange:
    above = _limit(field, "gt")
    low = _limit(field, "ge") if above is None else above
    return click.FloatRange(low, _limit(field, "le"), min_open=above is not None)


def _limit(field: FieldInfo, name: str) -> Any:
    """Return a bound of a field, such as "ge"; None: it has none."""
    bounds = (getattr(bound, name, None) for bound in field.metadata)
    return next((bound for bound in bounds if bound is not None), None)
