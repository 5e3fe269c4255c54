"""Arguments, options and output that the commands share. Only click is imported until they run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

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


class SettingsCommand(click.Command):
    """A command with declared options, and one option for each of its settings.

    `settings` returns the latter. It is called when a command line is parsed or help is shown, so
    that the models of the settings are not imported before.
    """

    def __init__(
        self, *args: Any, settings: Callable[[], Iterable[click.Parameter]], **more: Any
    ) -> None:
        super().__init__(*args, **more)
        self._settings = settings

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters: the command's own, then the options of the settings."""
        *declared, help_option = super().get_params(ctx)
        return [*declared, *self._settings(), help_option]


def setting_option(
    name: str,
    field: FieldInfo,
    *,
    remarks: str = "",
    metavar: str | None = None,
    envvar: str | None = None,
    variants: Sequence[FieldInfo] = (),
) -> click.Option:
    """Return the option of a setting; its description is the help, followed by `remarks`.

    `variants` are fields of the same name in other models; a choice offers the values of each.
    """
    text = (field.description or "").strip()
    return click.Option(
        [f"--{name.replace('_', '-')}"],
        help=f"{text[:1].upper()}{text[1:]}.{remarks}",
        metavar=metavar,
        envvar=envvar,
        **_parsing(field, variants),
    )


def chosen_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that a command line names; lists of texts may be comma-separated."""
    chosen: dict[str, Any] = {}
    for name, value in values.items():
        # 0 equals False, and is a seed, a price or a share like any other.
        if value is None or value is False or value == ():
            continue
        if isinstance(value, tuple) and isinstance(value[0], str):
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


def _without_none(field: FieldInfo) -> Any:
    """Return the type of a field, without None where it may be None."""
    inner = [kind for kind in get_args(field.annotation) if kind is not type(None)]
    return inner[0] if type(None) in get_args(field.annotation) else field.annotation


def _float_range(field: FieldInfo) -> click.FloatRange:
    above = _limit(field, "gt")
    low = _limit(field, "ge") if above is None else above
    return click.FloatRange(low, _limit(field, "le"), min_open=above is not None)


def _limit(field: FieldInfo, name: str) -> Any:
    """Return a bound of a field, such as "ge"; None if it has none."""
    bounds = (getattr(bound, name, None) for bound in field.metadata)
    return next((bound for bound in bounds if bound is not None), None)
