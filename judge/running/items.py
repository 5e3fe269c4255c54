"""What a prompt is about besides a response: nothing, a change of it, or a second response."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from judge.metrics.metric import Content
from judge.perturbations.perturbation import Change, Probe
from study.schema import DRIFT, Fault

_TURNED: dict[Fault, Fault] = {"rise": "fall", "fall": "rise", "either": "either"}


class ItemKey(NamedTuple):
    """What distinguishes an item from others with the same response."""

    second: int | None
    """Response (database key) that is shown second."""
    probe: str | None
    round: int


@dataclass(frozen=True, slots=True)
class Item:
    """What is judged: a response as it is, with one change, asked again, or beside another one."""

    probe: Probe | None = None
    change: Change | None = None
    """What the probe changed."""
    round: int | None = None
    """Number of the round of drift in which the response is asked again."""
    second: Content | None = None
    """The response with which it is compared, and which is shown second."""

    @property
    def probe_name(self) -> str | None:
        """Name of the probe in tables; None: it is not a probe."""
        if self.probe is not None:
            return self.probe.key
        return None if self.round is None else DRIFT

    @property
    def is_response(self) -> bool:
        """Whether a response is judged as it is."""
        return self.second is None and self.probe_name is None

    @property
    def changes_nothing(self) -> bool:
        """Whether the prompts are those of the run, to be asked once more."""
        return self.change is None or self.change == Change()

    @property
    def key(self) -> ItemKey:
        """What distinguishes it from other items with the same response."""
        second = None if self.second is None else self.second.id
        return ItemKey(second, self.probe_name, self.round or 0)

    @property
    def purpose(self) -> str:
        """What distinguishes its prompts from those of the run with the same words."""
        if self.probe is not None:
            return f"probe {self.probe.key}"
        if self.round is not None:
            return f"drift {self.round}"
        return "" if self.second is None else "pair"

    def columns(self, *, low_is_good: bool) -> dict[str, Any]:
        """Return the columns of `JudgeAnswerBase` that describe it."""
        if self.second is not None:
            return {"item": f"beside {self.second.id}"}
        if self.probe_name is None:
            return {}
        fault: Fault = "either" if self.probe is None else self.probe.fault
        return {
            "item": self.purpose,
            "kind": DRIFT if self.probe is None else self.probe.kind,
            "probe": self.probe_name,
            "round": self.round or 0,
            # A value that is good when it is low moves the other way.
            "fault": _TURNED[fault] if low_is_good else fault,
            "change": {} if self.change is None else self.change.as_json(),
        }


RESPONSE = Item()
"""A response as it is."""
