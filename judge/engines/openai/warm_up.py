"""One prompt first of those that begin alike, so that the others find its beginning in a cache.

Hosted caches hold a beginning once a prompt with it has been answered: of prompts that are sent
together, none finds it. Other beginnings are asked for meanwhile.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from judge.protocol.request import Request


@dataclass
class _Beginning:
    """Prompts that begin alike."""

    waiting: deque[Request] = field(default_factory=deque)


class Leading:
    """Which prompts may be sent, and which wait for the first one with their beginning."""

    def __init__(self) -> None:
        self._open: dict[str, _Beginning] = {}
        self._leaders: dict[int, str] = {}
        """Identity of a leading request to its beginning."""
        self._answered: dict[str, None] = {}
        self.waiting = 0
        """Prompts that wait for another one."""

    def admit(self, request: Request) -> bool:
        """Tell whether a prompt may be sent now; it is held back otherwise."""
        key = request.beginning
        if not key or key in self._answered:
            return True
        held = self._open.get(key)
        if held is None:
            self._open[key] = _Beginning()
            self._leaders[id(request)] = key
            return True
        held.waiting.append(request)
        self.waiting += 1
        return False

    def ended(self, request: Request, *, answered: bool) -> list[Request]:
        """Return the prompts that may be sent now that this one has come to its end.

        Where the first one got no answer, the next one takes its place.
        """
        key = self._leaders.pop(id(request), None)
        if key is None:
            return []
        held = self._open[key]
        if not answered and held.waiting:
            following = held.waiting.popleft()
            self._leaders[id(following)] = key
            self.waiting -= 1
            return [following]
        del self._open[key]
        if answered:
            self._remember(key)
        self.waiting -= len(held.waiting)
        return list(held.waiting)

    def give_back(self) -> Iterable[Request]:
        """Return all prompts that wait, which are no longer held here."""
        left = [request for held in self._open.values() for request in held.waiting]
        for held in self._open.values():
            held.waiting.clear()
        self.waiting = 0
        return left

    def _remember(self, key: str) -> None:
        self._answered[key] = None
        # Prompts that begin alike follow each other, so the first ones are done with by then.
        while len(self._answered) > _REMEMBERED:
            del self._answered[next(iter(self._answered))]


_REMEMBERED = 10_000
