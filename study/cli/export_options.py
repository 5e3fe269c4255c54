"""Options that say what is what in an export of Label Studio or another tool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

_OPTIONS = (
    click.option(
        "--control",
        "controls",
        multiple=True,
        metavar="NAME=CONSTRUCT",
        help="Construct that a control of Label Studio rates, or that a metric of another tool's "
        "export measures; NAME= leaves it out. Repeatable; in a terminal `ccrs import` asks for "
        "the construct of a control.",
    ),
    click.option(
        "--scale",
        "ranges",
        multiple=True,
        metavar="CONTROL=LOW:HIGH",
        help="Lowest and highest value of such a control or metric, such as stars=1:5, where they "
        "are not its construct's; values are mapped linearly. Repeatable.",
    ),
    click.option(
        "--value",
        "values",
        multiple=True,
        metavar="CHOICE=NUMBER",
        help="Number of a choice of Label Studio, such as good=1, or of a bucket of a ranking, for "
        "controls that --control names; choices that begin with a number need none. Repeatable.",
    ),
    click.option(
        "--column",
        "columns",
        multiple=True,
        metavar="NAME=FIELD,...",
        help="Field of the tasks of Label Studio and what it is, such as model=system. Repeatable.",
    ),
    click.option(
        "--rater",
        "raters",
        multiple=True,
        metavar="USER=CODE",
        help="Rater code of a user of Label Studio, by the user's number; USER= leaves the user "
        "out. Others become ls-NUMBER. Repeatable.",
    ),
    click.option(
        "--annotations",
        "annotations",
        multiple=True,
        metavar="KIND=AS",
        help="Annotations of Label Studio that are left out otherwise: ground-truth=ratings or "
        "ground-truth=reference (adjudicated values), prefilled=ratings, which were made from a "
        "prediction or another annotation, and predictions=judge, as scores of a judge "
        "that is named by their model_version. Repeatable.",
    ),
)


@dataclass(frozen=True)
class ExportNames:
    """What the caller says about the parts of an export, as it is written."""

    controls: tuple[str, ...]
    ranges: tuple[str, ...]
    values: tuple[str, ...]
    columns: tuple[str, ...]
    raters: tuple[str, ...]
    annotations: tuple[str, ...]

    def read(self) -> dict[str, dict[str, Any]]:
        """Return each option's values by name, as `import_file` takes them.

        Raises
        ------
        UsageError
            A text is malformed, or a name has two values.
        """
        from study.cli import import_options as of

        return {
            "controls": of.unique_by_name("--control", self.controls, of.control),
            "ranges": of.unique_by_name("--scale", self.ranges, of.control_range),
            "values": of.unique_by_name("--value", self.values, of.choice_value),
            "columns": of.columns(self.columns),
            "raters": of.unique_by_name("--rater", self.raters, of.user),
            "annotations": of.unique_by_name("--annotations", self.annotations, of.annotation_kind),
        }


def reads_export(command: Callable[..., None]) -> Any:
    """Give a command these options, as `names`."""

    @wraps(command)
    def with_names(*arguments: Any, **options: Any) -> None:
        # Other decorators pass what they open as positional arguments.
        texts = {name: options.pop(name) for name in ExportNames.__dataclass_fields__}
        command(*arguments, names=ExportNames(**texts), **options)

    made: Any = with_names
    for option in reversed(_OPTIONS):
        made = option(made)
    return made
