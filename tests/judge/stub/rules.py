"""Which behaviours apply to which request."""

import inspect
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tests.judge.stub.behaviours import BEHAVIOURS, OF_THE_WHOLE, options_of
from tests.judge.stub.exchange import Reply, Seen

CONDITIONS = {
    "first": "only the first n of the requests that the other conditions leave",
    "after": "only those after the first n of them",
    "every": "only each n-th of them",
    "tries": "only the first n times that the same prompt comes",
    "share": "only this share of the prompts, always the same ones",
    "containing": "only prompts with this text in them",
    "construct": "only prompts on this construct; 'any': on one of the paper's, so no probe",
    "beyond": "only prompts of more than n bytes",
}


class Rule:
    """A behaviour, and when."""

    def __init__(self, settings: dict[str, Any]) -> None:
        name = settings.get("behaviour")
        if name not in BEHAVIOURS:
            raise ValueError(f"no behaviour {name!r}; there are {', '.join(BEHAVIOURS)}")
        self._behaviour = BEHAVIOURS[name]
        self._options = options_of(settings)
        inspect.signature(self._behaviour).bind(None, None, **self._options)
        self._when: dict[str, Any] = dict(settings.get("when") or {})
        unknown = set(self._when) - set(CONDITIONS)
        if unknown:
            raise ValueError(f"no condition {unknown}; there are {', '.join(CONDITIONS)}")
        self._count = 0
        self._times: Counter[str] = Counter()

    def change(self, seen: Seen, reply: Reply) -> None:
        """Change the reply if the request is one that the rule applies to."""
        if not self._when or self._applies(seen):
            self._behaviour(seen, reply, **self._options)

    def _applies(self, seen: Seen) -> bool:
        when = self._when
        if not _is_meant(seen, when):
            return False
        if "tries" in when:
            self._times[seen.digest] += 1
            if self._times[seen.digest] > when["tries"]:
                return False
        self._count += 1
        return not (
            ("first" in when and self._count > when["first"])
            or ("after" in when and self._count <= when["after"])
            or ("every" in when and self._count % when["every"])
        )


def _is_meant(seen: Seen, when: dict[str, Any]) -> bool:
    wanted = when.get("construct")
    if wanted is not None and (
        seen.construct is None if wanted == "any" else seen.construct != wanted
    ):
        return False
    if "share" in when and int(seen.digest[8:16], 16) >= when["share"] * 2**32:
        return False
    if "beyond" in when and seen.size <= when["beyond"]:
        return False
    return "containing" not in when or when["containing"] in seen.prompt


class Mode:
    """What the endpoint does from now on: its rules, in their order, and whether it is up."""

    def __init__(self, rules: Sequence[dict[str, Any]] = ()) -> None:
        whole = {rule["behaviour"]: rule for rule in rules if rule["behaviour"] in OF_THE_WHOLE}
        self.lists_models = "no_models" not in whole
        self.is_down = "down" in whole
        self.flaps: float | None = None
        """Seconds that it is down, and then up."""
        if "flapping" in whole:
            self.flaps = float(whole["flapping"].get("period", 1.0))
        self.rules = [Rule(rule) for rule in rules if rule["behaviour"] not in OF_THE_WHOLE]
