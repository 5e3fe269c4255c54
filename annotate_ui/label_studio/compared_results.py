"""Reading comparisons (Pairwise) and rankings (Ranker) of an annotation as preferences."""

import json
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from annotate_ui.label_studio.annotations import (
    NO_NUMBER,
    NO_RANKING,
    UNNAMED,
    Annotation,
    ComparedPair,
    InvalidValue,
)

BETTER = {"left": -1.0, "right": 1.0}
"""Preference of a comparison by the side that was selected: positive where b, on the right, is."""
UNPLACED = "_"
"""Label Studio's name for the items of a ranking that are in none of its buckets."""


def preference_of(
    control: Mapping[str, Any], first: str, second: str, value: float | None
) -> ComparedPair:
    """Return the preference of two responses, by name, for the construct of a control."""
    return ComparedPair(control["construct"], control["construct_version"], first, second, value)


def read_preferences(
    annotation: Annotation,
    name: str,
    control: Mapping[str, Any],
    value: Mapping[str, Any],
    compared: Mapping[str, Sequence[str]],
) -> None:
    """Append what a comparison or a ranking says to the preferences of its annotation.

    What it cannot say is appended to the annotation's invalid values.

    Parameters
    ----------
    name
        The control's name.
    value
        The value of its result.
    compared
        Names of the task's responses that are compared, by the kind of control: the left and the
        right one (`preference`), or the items of a list (`ranking`).
    """
    names = compared.get(control["kind"], ())
    key = control["construct"]
    if control["kind"] == "preference":
        values = control.get("labels", BETTER)
        chosen = choice_labels(value) if "labels" in control else [value.get("selected")]
        selected = chosen[0] if len(chosen) == 1 else chosen
        if not isinstance(selected, str) or selected not in values:
            annotation.invalid.append(InvalidValue(key, json.dumps(selected), NO_NUMBER))
        elif len(names) != 2:
            annotation.invalid.append(InvalidValue(key, json.dumps(selected), UNNAMED))
        else:
            better = float(values[selected])
            annotation.preferences.append(preference_of(control, names[0], names[1], better))
        return
    places = _places(name, control, value, names)
    if places is None:
        annotation.invalid.append(InvalidValue(key, json.dumps(value.get("ranker")), NO_RANKING))
        return
    for first, second in combinations([item for item in names if item in places], 2):
        better = float((places[second] > places[first]) - (places[second] < places[first]))
        annotation.preferences.append(preference_of(control, first, second, better))


def _places(
    name: str, control: Mapping[str, Any], value: Mapping[str, Any], names: Sequence[str]
) -> dict[str, float] | None:
    """Return a number of each ranked item, higher where it is better; None: it is not a ranking.

    Items of one bucket are tied; items that are in none are left out.
    """
    places: dict[str, float] = {}
    for group, items in groups_of(value).items():
        if group == UNPLACED:
            continue
        if group != name and group not in control.get("labels", {}):
            return None
        for place, item in enumerate(items):
            if item not in names or item in places:
                return None
            places[item] = control["labels"][group] if group != name else -float(place)
    return places or None


def groups_of(value: Any) -> dict[str, list[Any]]:
    """Return the items of a ranking by group: its buckets, or all under the control's name."""
    groups = value.get("ranker") if isinstance(value, dict) else None
    if not isinstance(groups, dict) or not all(isinstance(g, list) for g in groups.values()):
        return {}
    return groups


def choice_labels(value: Any) -> list[str]:
    """Return the labels of a result that are choices; a nested one is written `outer/inner`."""
    chosen = value.get("choices") if isinstance(value, dict) else None
    labels = []
    for choice in chosen if isinstance(chosen, list) else []:
        path = choice if isinstance(choice, list) else [choice]
        if path and all(isinstance(part, str) for part in path):
            labels.append("/".join(path))
    return labels
