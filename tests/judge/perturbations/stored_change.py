"""Changes as probes store them."""

from collections.abc import Mapping
from typing import Any

from judge.perturbations.perturbation import Change


def stored_change(stored: Mapping[str, Any]) -> Change:
    """The change that `Change.as_json` stored."""
    passages, order = stored.get("passages"), stored.get("order")
    return Change(
        stored.get("response"),
        None if passages is None else {int(place): text for place, text in passages.items()},
        None if order is None else tuple(order),
    )
