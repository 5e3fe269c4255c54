"""What the declarations have in common: descriptions, bounds, and the check of both."""

from dataclasses import dataclass, fields
from operator import ge, gt, le, lt
from typing import Any, ClassVar, Literal, get_args, get_origin

_BOUNDS = {"ge": (ge, "at least"), "gt": (gt, "above"), "le": (le, "at most"), "lt": (lt, "below")}


def described(description: str, **bounds: float) -> dict[str, Any]:
    """The metadata of a field: arguments of pydantic's `Field`, with bounds ge, gt, le and lt."""
    return {"description": description, **bounds}


@dataclass(frozen=True)
class Declaration:
    """A section of study.toml that Python makes as well; in both, its values are checked.

    Raises
    ------
    ValueError
        A value is outside its bounds, or is none of its choices.
    """

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if get_origin(one.type) is Literal and value not in get_args(one.type):
                listed = ", ".join(get_args(one.type))
                raise ValueError(f"{one.name} {value!r}: use one of {listed}")
            bounds = {key: one.metadata[key] for key in _BOUNDS if key in one.metadata}
            if value is not None and not all(_BOUNDS[k][0](value, b) for k, b in bounds.items()):
                words = " and ".join(f"{_BOUNDS[key][1]} {b:g}" for key, b in bounds.items())
                raise ValueError(f"{one.name} {value:g} is not {words}")
