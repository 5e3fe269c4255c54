"""Arguments, options and output that the commands share. Only click is imported until they run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args, get_origin

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from pydantic.fields import FieldInfo

    from study.progress_bar import Advance


STUDY = click.argument("folder", metavar="STUDY", type=click.Path(file_okay=False, path_type=Path))
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON for a program to read.")
DRY_RUN = click.option("--dry-run", is_flag=True, help="Show the plan and store nothing.")


def print_result(data: Any, lines: Sequence[str], as_json: bool) -> None:
    """Print `lines` for people, or `data` as JSON for programs."""
    if as_json:
        import json

        click.echo(json.dumps(data, ensure_ascii=False, indent=1))
    else:
        click.echo("\n".join(lines))


def progress(title: str, hidden: bool) -> AbstractContextManager[Advance]:
    """Return a context that yields `advance(done, total)`; a bar where there is a terminal."""
    from study.progress_bar import progress_bar

    return progress_bar(title, hidden=hidden)


def split_names(text: str | None) -> list[str] | None:
    """Return the names of a list separated by commas."""
    return None if text is None else [part.strip() for part in text.split(",")]


class NamedValue(NamedTuple):
    """An entry of a setting that is a table: `NAME=VALUE` on the command line."""

    name: str
    value: Any

    def __str__(self) -> str:
        """Return it as it is written."""
        return f"{self.name}={self.value}"


def named_value_of(choices: Sequence[str]) -> Callable[[str], NamedValue]:
    """Return what reads entries whose values are of a choice; the last `=` separates them."""

    def text(value: str) -> NamedValue:
        name, _, chosen = value.rpartition("=")
        if not name or chosen not in choices:
            forms = " or ".join(f"NAME={choice}" for choice in choices)
            raise click.BadParameter(f"{value!r}: write {forms}")
        return NamedValue(name, chosen)

    return text


def named_text(value: str) -> NamedValue:
    """Read an entry whose value is any text; the first `=` separates them."""
    name, separator, text = value.partition("=")
    if not separator or not name.strip():
        raise click.BadParameter("write NAME=VALUE")
    return NamedValue(name.strip(), text.strip())


def named_number(value: str) -> NamedValue:
    """Read an entry whose value is a number."""
    name, text = named_text(value)
    try:
        return NamedValue(name, float(text))
    except ValueError:
        raise click.BadParameter(f"{value!r}: write KEY=NUMBER, such as {name}=4") from None


def named_json(value: str) -> NamedValue:
    """Read an entry whose value is JSON, or a word, which is a text without quotes."""
    import json
    import re

    name, text = named_text(value)
    try:
        return NamedValue(name, json.loads(text))
    except ValueError:
        if re.fullmatch(r"[A-Za-z][\w./:-]*", text):
            return NamedValue(name, text)
        raise click.BadParameter(
            f"{value!r}: write KEY=JSON, such as reasoning_effort=low or "
            """'chat_template_kwargs={"enable_thinking": false}'"""
        ) from None


#: Of a context: that the command line has declared options alone.
_DECLARED_ALONE = "study.cli.options.declared_alone"


class SettingsCommand(click.Command):
    """A command with declared options, and one option for each of its settings.

    `settings` returns the latter. It is called when a command line is parsed or help is shown, so
    that the models of the settings are not imported before. With `only_if_typed` it is not called
    for a command line that has declared options alone; a setting has then no environment variable.
    """

    def __init__(
        self,
        *args: Any,
        settings: Callable[[], Iterable[click.Parameter]],
        only_if_typed: bool = False,
        **more: Any,
    ) -> None:
        super().__init__(*args, **more)
        self._settings = settings
        self._only_if_typed = only_if_typed

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse a command line, with the options of the settings where one may be typed."""
        declared = {
            word
            for parameter in self.params
            for word in (*parameter.opts, *parameter.secondary_opts)
        }
        typed = {word.partition("=")[0] for word in args if word.startswith("-")}
        ctx.meta[_DECLARED_ALONE] = self._only_if_typed and typed <= declared
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters: the command's own, then the options of the settings."""
        *declared, help_option = super().get_params(ctx)
        settings = () if ctx.meta.get(_DECLARED_ALONE) else self._settings()
        return [*declared, *settings, help_option]


def setting_option(
    name: str,
    field: FieldInfo,
    remarks: str = "",
    variants: Sequence[FieldInfo] = (),
    *,
    overrides: bool = False,
) -> click.Option:
    """Return the option of a setting; its description is the help, followed by `remarks`.

    Parameters
    ----------
    name
        Name of the field: `per_item` is `--per-item`.
    field
        The declaration; `study.settings.option` is its `json_schema_extra`.
    remarks
        What follows the description.
    variants
        Fields of the same name in other models; a choice offers the values of each.
    overrides
        Whether the option replaces a value of study.toml: a flag can then be turned off as well.
    """
    text = (field.description or "").strip()
    extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    words = name.replace("_", "-")
    both = overrides and _without_none(field) is bool
    second = [f"--{extra['also']}", name] if "also" in extra else []
    return click.Option(
        [f"--{words}/--no-{words}" if both else f"--{words}", *second],
        help=f"{text[:1].upper()}{text[1:]}.{remarks}",
        metavar=str(extra["metavar"]) if "metavar" in extra else None,
        envvar=str(extra["env"]) if "env" in extra else None,
        default=None,
        **_parsing(field, variants),
    )


def overriding_options(*sections: type[Any]) -> list[click.Option]:
    """Return an option for each setting that a command may override, with its default."""
    from study.settings import overridable

    return [
        setting_option(name, field, _default_of(field), overrides=True)
        for section in sections
        for name, field in overridable(section).items()
    ]


def _default_of(field: FieldInfo) -> str:
    """Return a phrase with the default; a description states what happens without a value."""
    # Some versions of pydantic require data, which no factory here takes.
    default = field.get_default(call_default_factory=True, validated_data={})
    if default is None or default in ((), {}):
        return ""
    if isinstance(default, bool):
        text = "on" if default else "off"
    else:
        text = default if isinstance(default, str) else f"{default:g}"
    return f" Default: as in study.toml, else {text}."


def chosen_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that a command line names; lists of texts may be comma-separated."""
    chosen: dict[str, Any] = {}
    for name, value in values.items():
        # False may override a setting that is true.
        if value is None or value == ():
            continue
        if isinstance(value, tuple) and isinstance(value[0], NamedValue):
            chosen[name] = dict(value)
        elif isinstance(value, tuple) and isinstance(value[0], str):
            chosen[name] = tuple(part for text in value for part in comma_separated(text))
        else:
            chosen[name] = value
    return chosen


def comma_separated(text: str) -> list[str]:
    """Return the names in a text that commas separate."""
    return [part.strip() for part in text.split(",") if part.strip()]


def _parsing(field: FieldInfo, variants: Sequence[FieldInfo]) -> dict[str, Any]:
    """Return how click reads a field: its type, and whether it is a flag or repeatable."""
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
    if get_origin(kind) is dict:
        return {"multiple": True, "type": _entries(get_args(kind)[1])}
    if get_origin(kind) is Literal:
        choices = [value for each in (field, *variants) for value in get_args(_without_none(each))]
        return {"type": click.Choice(tuple(dict.fromkeys(choices)))}
    simple: dict[Any, dict[str, Any]] = {
        bool: {"is_flag": True},
        int: {"type": click.IntRange(_limit(field, "ge"), _limit(field, "le"))},
        float: {"type": _float_range(field)},
        Path: {"type": click.Path(file_okay=False, path_type=Path)},
    }
    return simple.get(kind, {"type": str})


def _entries(kind: Any) -> Callable[[str], NamedValue]:
    """Return what reads the entries of a table with values of this type."""
    if get_origin(kind) is Literal:
        return named_value_of(get_args(kind))
    if kind is float:
        return named_number
    return named_text if kind is str else named_json


def _without_none(field: FieldInfo) -> Any:
    """Return the type of a field, without None where it may be None."""
    inner = [kind for kind in get_args(field.annotation) if kind is not type(None)]
    return inner[0] if type(None) in get_args(field.annotation) else field.annotation


def _float_range(field: FieldInfo) -> click.FloatRange:
    above, below = _limit(field, "gt"), _limit(field, "lt")
    low = _limit(field, "ge") if above is None else above
    high = _limit(field, "le") if below is None else below
    return click.FloatRange(low, high, min_open=above is not None, max_open=below is not None)


def _limit(field: FieldInfo, name: str) -> Any:
    """Return a bound of a field, such as "ge"; None if it has none."""
    bounds = (getattr(bound, name, None) for bound in field.metadata)
    return next((bound for bound in bounds if bound is not None), None)
