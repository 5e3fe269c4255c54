"""The design of an assignment: the settings of study.toml, overridden by options."""

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from study.errors import StudyError, nearest
from study.settings import overridable
from study.settings.constructs import ConstructSpec
from study.settings.design import DesignSpec
from study.study import Study


def design_of(study: Study, options: dict[str, Any]) -> DesignSpec:
    """Return the study's design with `options` in place of its settings; None overrides nothing.

    Raises
    ------
    StudyError
        An option is unknown, has an invalid value, or cannot be combined with the others.
    """
    known = overridable(DesignSpec)
    for name in options:
        if name not in known:
            raise StudyError(
                f"assign has no option {name!r}. {nearest(name, known)} Known: {', '.join(known)}."
            )
    overrides = {name: value for name, value in options.items() if value is not None}
    design = study.config.design
    whole = {name: getattr(design, name) for name in design.model_fields_set} | overrides
    try:
        overridden = DesignSpec.model_validate(whole)
    except ValidationError as error:
        raise StudyError("; ".join(_described(detail) for detail in error.errors())) from None
    _check_constructs(study, overridden)
    return overridden


def _described(detail: Any) -> str:
    place = ".".join(str(part) for part in detail["loc"])
    message = str(detail["msg"]).removeprefix("Value error, ")
    if place == "per_item":
        return f"{detail['input']} raters per response: give 1 to 1000."
    return f"{place} = {detail['input']!r}: {message}" if place else f"The design: {message}"


def _check_constructs(study: Study, design: DesignSpec) -> None:
    available = [spec.key for spec in study.config.constructs]
    settings = [("comparison_constructs", key) for key in design.comparison_constructs]
    if design.judge_construct is not None:
        settings.append(("judge_construct", design.judge_construct))
    for setting, key in settings:
        if key not in available:
            raise StudyError(
                f"design.{setting}: {key!r} is not a construct of {study.config.name!r}. "
                f"Known: {', '.join(available)}."
            )


def constructs_of(study: Study, constructs: Sequence[str] | None) -> list[ConstructSpec]:
    """Return the constructs to rate, in the order of the study."""
    available = {spec.key: spec for spec in study.config.constructs}
    if constructs is None:
        return list(available.values())
    if not constructs:
        raise StudyError(f"No construct is named. Known: {', '.join(available)}.")
    for key in constructs:
        if key not in available:
            hint = nearest(key, available)
            raise StudyError(
                f"{key!r} is not a construct of {study.config.name!r}. {hint} "
                f"Known: {', '.join(available)}.".replace(".  ", ". ")
            )
    return [spec for key, spec in available.items() if key in constructs]
