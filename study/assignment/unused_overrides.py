"""Options of an assignment that cannot change it: an error, for each option."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from study.errors import StudyError, without_effect
from study.settings.design import DesignSpec

_OF_RATINGS = ("overlap", "calibration", "checks", "repeats", "one_construct_a_pass", "layout",
               "constructs")  # fmt: skip
# Given to a rater who joins by the study's own settings, or to nobody.
_OF_RATERS = {
    "calibration": "set design.calibration in study.toml, by which those who join are given it",
    "checks": "set design.checks in study.toml, by which those who join are given them",
    "repeats": "name the raters instead of --open",
}


def check_used(
    plan: DesignSpec,
    given: Mapping[str, Any],
    constructs: Sequence[object],
    *,
    open_slots: bool,
) -> None:
    """Check that each option changes the assignment of these responses.

    Parameters
    ----------
    plan
        The design, with the options in place of its settings.
    given
        The options. What is off, empty or 0, or as by default, asks for nothing.
    constructs
        Those to rate.

    Raises
    ------
    StudyError
        Some do not; the message has each with the reason and the remedy.
    """
    asked = {name: value for name, value in given.items() if value and value != _usual(name)}
    faults = []
    for name, value in asked.items():
        found = next(_reasons(name, plan, constructs, open_slots), None)
        if found is not None:
            faults.append(without_effect(f"--{name.replace('_', '-')}", value, *found))
    if faults:
        raise StudyError("\n".join(faults))


def _usual(name: str) -> object:
    field = DesignSpec.model_fields.get(name)
    return None if field is None else field.default


def _reasons(
    name: str,
    plan: DesignSpec,
    constructs: Sequence[object],
    open_slots: bool,
) -> Iterator[tuple[str, str]]:
    """Yield why an option has no effect, with the remedy."""
    if name in _OF_RATINGS and not plan.ratings:
        yield "design.ratings is false, so that nothing is rated", ""
    if name in _OF_RATERS and open_slots:
        yield "open slots have no rater yet", _OF_RATERS[name]
    if name == "overlap" and plan.per_item == 1:
        yield "each response has one rater", "give --per-item 2 or more"
    if name == "one_construct_a_pass" and len(constructs) == 1:
        yield "one construct is rated", ""
