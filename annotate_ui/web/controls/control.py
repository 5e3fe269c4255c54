"""Controls on which raters enter a value, such as a slider, and the choice of one for a construct.

A control is found by its entry point in the group `ccrs.controls`, so that another package can
bring one. Its template NAME.html and its script NAME.js are in its folder.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from flask import Flask, abort, send_from_directory
from flask.typing import ResponseReturnValue
from jinja2 import ChoiceLoader, DictLoader

from annotate_ui.tasks.step_view import ConstructView
from study.entry_points import entry_points
from study.errors import StudyError, nearest
from study.settings.constructs import ConstructSpec
from study.settings.study_toml import StudyConfig
from study.study import Study

GROUP = "ccrs.controls"
AUTOMATIC = ("points", "slider")
"""For a construct that names no control: the first of these that fits."""


@dataclass(frozen=True)
class Control:
    """A control on which a value is entered."""

    name: str
    folder: Path
    """The folder of NAME.html and NAME.js."""
    input_kind: str
    """Stored with each value that is entered on it."""
    misfit: Callable[[ConstructSpec], str | None]
    """Why the control cannot be used for a construct; None where it can."""
    view: Callable[[ConstructSpec], Any] = lambda _: None
    """What the template shows besides the construct, as `view`."""
    typed: bool = True
    """Whether the page shows a field for the number as well."""

    @property
    def template(self) -> str:
        """The name of its template."""
        return f"controls/{self.name}.html"

    @property
    def script(self) -> Path:
        """The file of its script."""
        return self.folder / f"{self.name}.js"


@cache
def controls() -> dict[str, Control]:
    """Return all installed controls by name.

    Raises
    ------
    StudyError
        An entry point is not a control, or its files are missing.
    """
    return {point.name: _checked(point.name, point.load()) for point in entry_points(group=GROUP)}


def control_of(spec: ConstructSpec) -> Control:
    """Return the control of a construct: the one that it names, else the first that fits.

    Raises
    ------
    StudyError
        study.toml names a control that is not installed or does not fit the construct.
    """
    installed = controls()
    if spec.control is None:
        return next(installed[name] for name in AUTOMATIC if installed[name].misfit(spec) is None)
    control = installed.get(spec.control)
    place = f"control of the construct {spec.key!r} in study.toml"
    if control is None:
        hint = nearest(spec.control, installed) or f"There are: {', '.join(sorted(installed))}."
        raise StudyError(f"{place}: unknown control {spec.control!r}. {hint}")
    misfit = control.misfit(spec)
    if misfit is not None:
        raise StudyError(
            f"{place}: {spec.control!r} needs {misfit}. Change the scale, or leave the control out."
        )
    return control


def control_scripts() -> list[Path]:
    """Return the scripts of all installed controls."""
    return [control.script for _, control in sorted(controls().items())]


def input_kinds(config: StudyConfig) -> frozenset[str]:
    """Return the kinds of input of this study: typed, by a button, on a control."""
    return frozenset({"typed", "button", *(control_of(c).input_kind for c in config.constructs)})


def install_controls(app: Flask, study: Study) -> None:
    """Add the templates and scripts of the study's controls to the application.

    Templates get `control_of` and `control_view`, and `page_controls` for the scripts of a page.

    Raises
    ------
    StudyError
        A construct's control is not installed or does not fit it.
    """
    config = study.config
    used = {spec.key: control_of(spec) for spec in config.constructs}
    by_name = {control.name: control for control in used.values()}
    texts = {
        control.template: (control.folder / f"{control.name}.html").read_text(encoding="utf-8")
        for control in by_name.values()
    }
    loaders = [loader for loader in (app.jinja_env.loader, DictLoader(texts)) if loader]
    app.jinja_env.loader = ChoiceLoader(loaders)

    def view_of(construct: ConstructView) -> Any:
        spec = config.construct_spec(construct.key)
        return None if spec is None else used[construct.key].view(spec)

    def names(constructs: Iterable[ConstructView]) -> list[str]:
        return sorted({used[construct.key].name for construct in constructs})

    @app.get(f"{app.static_url_path}/controls/<name>.js")
    def static_control(name: str) -> ResponseReturnValue:
        """Send the script of a control."""
        if name not in by_name:
            abort(404)
        return send_from_directory(by_name[name].folder, f"{name}.js")

    app.add_template_global(lambda construct: used[construct.key], "control_of")
    app.add_template_global(view_of, "control_view")
    app.add_template_global(names, "page_controls")


def _checked(name: str, control: object) -> Control:
    if not isinstance(control, Control) or control.name != name:
        raise StudyError(
            f"The entry point {name!r} of {GROUP} must lead to a Control of that name. Correct "
            "or uninstall the package that brings it."
        )
    for ending in ("html", "js"):
        path = control.folder / f"{name}.{ending}"
        if not path.is_file():
            raise StudyError(f"The control {name!r} lacks {path}. Install its package again.")
    return control
