"""Replicas of a model: groups of prompts are sent to them, and asked again where one is lost."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain, count, groupby, islice
from operator import attrgetter
from time import monotonic
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from judge.engines.engine import Delivery
from judge.engines.ray.cluster import first_line
from judge.engines.ray.replica import Replica
from judge.engines.vllm.model_loader import DescribedModel, ModelSpec
from judge.engines.vllm.prefix_reuse import PrefixReuse
from judge.engines.vllm.prompt_requests import Ask, Decoding
from judge.engines.vllm.scheduler_feed import LOAD_FACTOR, RESUME
from judge.protocol.exchange import Answer, Request
from study.errors import StudyError

_CALLS = 2
"""Calls to a replica at once: it has the next one when it returns from one."""
_LARGEST_GROUP = 512
"""Groups with more prompts are cut."""
_MOST_LOST, _LOST_SECONDS = 2000, 60.0
"""A kill loses the prompts under way: at most so many judgments, or the work of so many seconds."""
_MOST_LOSSES = 3
"""Losses in a row that are made good, of a replica and with a prompt, which may be the cause."""
_HANGS_SECONDS, _SILENT_SECONDS = 600.0, 1800.0
"""A replica is replaced if its call takes so long; a run stops that has no answer for so long."""
_WAIT_SECONDS, _END_SECONDS = 1.0, 10.0
_LOGS = f"Ray's logs are in /tmp/ray/session_latest/logs of each machine. {RESUME}"

_Turn = tuple[list[tuple[Request, Answer]], PrefixReuse]
"""The answers that a replica returns from a call, and its token counts."""


@dataclass
class _Member:
    """A replica, whatever process of Ray it currently is."""

    actor: Any
    calls: dict[Any, float]
    """Calls under way, with their times."""
    open: dict[int, Request] = field(default_factory=dict)
    """Prompts that it was sent, by number."""
    loaded: bool = False
    losses: int = 0


class ReplicaPool:
    """Sends prompts to replicas, and stores their answers as they come."""

    def __init__(
        self, spec: ModelSpec, decoding: Decoding, replicas: int, resources: Mapping[str, Any]
    ) -> None:
        self._new = ray.remote(max_restarts=0, **resources)(Replica)
        self._arguments = (spec, decoding)
        self._members = [_Member(*self._started()) for _ in range(replicas)]
        self._model: DescribedModel | None = None
        self._numbers = count()
        self._again: Iterator[list[Request]] = iter(())
        self._lost: Counter[Request] = Counter()

    def start(self) -> DescribedModel:
        """Return the description of the model when the first replica has loaded it.

        Raises
        ------
        StudyError
            It cannot be loaded.
        """
        with _ray_errors():
            while self._model is None:
                deque(self._turns(), maxlen=0)
        return self._model

    def answer(self, requests: Iterable[Request], delivery: Delivery) -> PrefixReuse:
        """Have requests answered, delivering each answer once; return the token counts.

        Raises
        ------
        StudyError
            No replica answers any more. Answers until then are stored.
        """
        facts = self.start().facts
        groups, reuse = _groups(requests), PrefixReuse(facts.block_size)
        answered, began = 0, monotonic()
        last = began
        with _ray_errors():
            while True:
                in_time = int(_LOST_SECONDS * answered / max(1.0, monotonic() - began))
                all_sent = self._send(groups, LOAD_FACTOR * facts.scheduled, in_time)
                if all_sent and not any(member.open for member in self._members):
                    return reuse
                for answers, counts in self._turns():
                    reuse.add(counts.prompt_tokens, counts.cached_tokens, counts.shared_tokens)
                    if answers:
                        delivery.commit(answers)
                        answered += _judgments(asked for asked, _ in answers)
                        last = monotonic()
                if monotonic() - last > _SILENT_SECONDS:
                    raise StudyError(
                        f"No replica has answered for {_SILENT_SECONDS / 60:.0f} minutes: check "
                        f"the cluster with 'ray status'. {RESUME}"
                    )

    def end(self) -> None:
        """End the replicas, whatever they are doing."""
        with suppress(RayError):
            if stops := [each.actor.stop.remote() for each in self._members if each.loaded]:
                ray.wait(stops, num_returns=len(stops), timeout=_END_SECONDS)
        for member in self._members:
            with suppress(RayError):
                ray.kill(member.actor)

    def _started(self) -> tuple[Any, dict[Any, float]]:
        actor = self._new.remote(*self._arguments)
        return actor, {actor.start.remote(): monotonic()}

    def _send(self, groups: Iterator[list[Request]], room: int, in_time: int) -> bool:
        """Send groups to the replicas with the fewest prompts; return whether none is left."""
        able = [each for each in self._members if each.loaded and len(each.calls) < _CALLS]
        asks: dict[int, list[tuple[int, Ask]]] = {id(member): [] for member in able}
        group: list[Request] | None = []
        while free := [member for member in able if len(member.open) < room]:
            under_way = sum(_judgments(member.open.values()) for member in self._members)
            if under_way >= max(_MOST_LOST, in_time):
                break
            if (group := next(self._again, None) or next(groups, None)) is None:
                break
            member = min(free, key=lambda each: len(each.open))
            for request, number in zip(group, self._numbers, strict=False):
                member.open[number] = request
                asks[id(member)].append((number, Ask.of(request)))
        for member in able:
            if member.open:
                member.calls[member.actor.work.remote(asks[id(member)])] = monotonic()
        return group is None

    def _turns(self) -> Iterator[_Turn]:
        """Wait a moment, and yield what replicas have done; replace those that are lost."""
        member_by_call = {call: member for member in self._members for call in member.calls}
        calls = list(member_by_call)
        ray.wait(calls, timeout=_WAIT_SECONDS)
        for call in ray.wait(calls, num_returns=len(calls), timeout=0)[0]:
            # Of a replica that was just replaced, the other call is lost as well.
            if call in member_by_call[call].calls and (
                turn := self._turn(member_by_call[call], call)
            ):
                yield turn
        hung = monotonic() - _HANGS_SECONDS
        for member in self._members:
            if member.loaded and any(began < hung for began in member.calls.values()):
                self._replace(member, f"no answer in {_HANGS_SECONDS / 60:.0f} minutes")

    def _turn(self, member: _Member, call: Any) -> _Turn | None:
        try:
            result = ray.get(call)
        except RayTaskError:
            raise
        except RayError as error:
            self._replace(member, first_line(error))
            return None
        if isinstance(result, str):
            if not member.loaded:
                raise StudyError(result if self._model is None else f"{result} {RESUME}")
            self._replace(member, result.removesuffix(RESUME).rstrip(" ."))
            return None
        del member.calls[call]
        if isinstance(result, DescribedModel):
            self._model, member.loaded = result, True
            return None
        member.losses = 0 if result.answers else member.losses
        return [(member.open.pop(key), answer) for key, answer in result.answers], result.counts

    def _replace(self, member: _Member, reason: str) -> None:
        """Start a lost replica again, and have its prompts asked again, by any of them."""
        with suppress(RayError):
            ray.kill(member.actor)
        waiting = list(member.open.values())
        self._lost.update(waiting)
        member.losses += 1
        if max([member.losses, *(self._lost[each] for each in waiting)]) > _MOST_LOSSES:
            raise StudyError(
                f"A replica ended {_MOST_LOSSES + 1} times, the last time by: {reason}. {_LOGS}"
            )
        self._again = chain(self._again, _groups(waiting))
        member.actor, member.calls = self._started()
        member.open, member.loaded = {}, False


def _judgments(requests: Iterable[Request]) -> int:
    return sum(len(request.response_ids) for request in requests)


def _groups(requests: Iterable[Request]) -> Iterator[list[Request]]:
    """Yield the prompts of a group together: one replica has the beginning that they share."""
    for _, group in groupby(requests, key=attrgetter("group")):
        while part := list(islice(group, _LARGEST_GROUP)):
            yield part


@contextmanager
def _ray_errors() -> Iterator[None]:
    try:
        yield
    except RayError as error:
        cause = first_line(getattr(error, "cause", None) or error)
        raise StudyError(f"Ray stopped: {cause}. {_LOGS}") from error
