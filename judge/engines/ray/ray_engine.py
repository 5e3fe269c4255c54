"""The engine `ray`: groups of prompts are sent to replicas, and asked again where one is lost."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count, groupby, islice
from operator import attrgetter
from time import monotonic
from typing import Any

from judge.engines.engine import Delivery, Ready
from judge.engines.engine_settings import RaySettings
from judge.engines.ray.cluster import cause_of, connect, places
from judge.engines.ray.replica import Replica
from judge.engines.vllm.model_loader import DescribedModel, ProcessCleanup
from judge.engines.vllm.prefix_reuse import PrefixReuse
from judge.engines.vllm.prompt_requests import Ask
from judge.engines.vllm.run_conditions import decoding, model_spec, ready
from judge.engines.vllm.scheduler_feed import LOAD_FACTOR, RESUME
from judge.prompts.template import PromptSet
from judge.protocol.conditions import Run
from judge.protocol.exchange import Answer, Request
from study.errors import StudyError
from study.study import Study

_CALLS = 2
"""Calls to a replica at once: it has the next one when it returns from one."""
_LARGEST_GROUP = 512
"""Groups with more prompts are cut, so that all replicas have work."""
_MOST_LOSSES = 3
"""Losses of each replica before the next answer: an engine that is short of memory, or a prompt
that ends it, would be started again for ever."""
_SILENT_SECONDS = 1800.0
"""A run stops without an answer for so long: a replica hangs, or Ray has no room for another."""
_WAIT_SECONDS = 0.5


@dataclass(eq=False)
class _Member:
    """A replica, in one process of Ray."""

    actor: Any
    calls: list[Any]
    """Calls under way."""
    open: dict[int, Request] = field(default_factory=dict)
    """Prompts that it was sent, by number."""
    loaded: bool = False


class RayEngine:
    """Asks replicas of a model, which Ray starts, and starts again where they are lost."""

    settings = RaySettings

    def __init__(self, settings: RaySettings, study: Study, prompts: PromptSet) -> None:
        self._settings = settings
        self._spec = model_spec(settings, study, prompts)
        self._decoding = decoding(settings, prompts)
        self._ray: Any = None
        self._connected = False
        self._cleanup: ProcessCleanup | None = None
        self._members: list[_Member] = []
        self._model: DescribedModel | None = None
        self._numbers = count()
        self._lost: list[list[Request]] = []
        """Groups of lost replicas, which are asked again after all others."""
        self._losses = 0
        """Since the last answer."""

    def start(self, sample: Sequence[str]) -> Ready:
        """Connect to Ray, and load the model in the replicas, of which one is waited for."""
        cluster, replicas = self._settings.cluster, self._settings.replicas
        sizes = ("tensor_parallel_size", "pipeline_parallel_size")
        tensor, pipeline = (int(self._spec.arguments.get(name, 1)) for name in sizes)
        self._ray, self._connected = connect(cluster, replicas * tensor * pipeline)
        resources = places(replicas, tensor * pipeline)
        self._new = self._ray.remote(max_restarts=0, **resources)(Replica)
        self._members = [self._started() for _ in range(replicas)]
        while self._model is None:
            for _ in self._turns():
                pass
        if cluster is None and self._connected:
            # Ray's processes on this machine would outlive a kill of this one.
            self._cleanup = ProcessCleanup()
        return ready(self._settings, self._spec, self._decoding, self._model, sample)

    def run(self, run: Run, requests: Iterable[Request], delivery: Delivery) -> tuple[str, ...]:
        """Send groups of prompts to the replicas; store the answers of each as they come."""
        del run
        assert self._model is not None  # noqa: S101  (start comes first)
        facts, last = self._model.facts, monotonic()
        groups, reuse = _groups(requests), PrefixReuse(facts.block_size)
        while self._send(groups, LOAD_FACTOR * facts.scheduled):
            for answers, counts in self._turns():
                reuse.add(counts.prompt_tokens, counts.cached_tokens, counts.shared_tokens)
                if answers:
                    delivery.commit(answers)
                    last, self._losses = monotonic(), 0
            if monotonic() - last > _SILENT_SECONDS:
                raise StudyError(
                    f"No replica has answered for {_SILENT_SECONDS / 60:.0f} minutes: check "
                    f"the cluster with 'ray status'. {RESUME}"
                )
        return reuse.report(delivery)

    def close(self) -> None:
        """End the replicas, whatever they are doing, and Ray where it was started here."""
        for member in self._members:
            with suppress(self._ray.exceptions.RayError):
                self._ray.kill(member.actor)
        if self._connected:
            self._ray.shutdown()
        if self._cleanup is not None:
            self._cleanup.cancel()

    def _started(self) -> _Member:
        actor = self._new.remote(self._spec, self._decoding)
        return _Member(actor, [actor.start.remote()])

    def _send(self, groups: Iterator[list[Request]], room: int) -> bool:
        """Send groups to the replicas with the fewest prompts; return whether any are open."""
        able = [each for each in self._members if each.loaded and len(each.calls) < _CALLS]
        asks: dict[_Member, list[tuple[int, Ask]]] = {member: [] for member in able}
        while free := [member for member in able if len(member.open) < room]:
            group = next(groups, None) or (self._lost.pop() if self._lost else None)
            if group is None:
                break
            member = min(free, key=lambda each: len(each.open))
            for request, number in zip(group, self._numbers, strict=False):
                member.open[number] = request
                asks[member].append((number, Ask.of(request)))
        for member in able:
            if member.open:
                member.calls.append(member.actor.work.remote(asks[member]))
        return not able or any(member.open for member in self._members)

    def _turns(self) -> Iterator[tuple[list[tuple[Request, Answer]], PrefixReuse]]:
        """Wait a moment, and yield what replicas have done; replace those that are lost."""
        errors = self._ray.exceptions
        member_by_call = {call: member for member in self._members for call in member.calls}
        calls = list(member_by_call)
        for call in self._ray.wait(calls, num_returns=len(calls), timeout=_WAIT_SECONDS)[0]:
            member = member_by_call[call]
            # The other call of a replica that was just replaced is lost as well.
            if member not in self._members:
                continue
            member.calls.remove(call)
            try:
                result = self._ray.get(call)
            except errors.RayError as error:
                if isinstance(error, errors.RayTaskError) and not member.loaded:
                    resume = "" if self._model is None else f" {RESUME}"
                    raise StudyError(f"{cause_of(error)}.{resume}") from error
                self._replace(member, cause_of(error))
            else:
                if isinstance(result, DescribedModel):
                    self._model, member.loaded = result, True
                else:
                    answers, counts = result
                    yield [(member.open.pop(key), answer) for key, answer in answers], counts

    def _replace(self, member: _Member, reason: str) -> None:
        """Start a lost replica again, and have its prompts asked again, by any of them."""
        self._ray.kill(member.actor)
        self._losses += 1
        if self._losses > _MOST_LOSSES * len(self._members):
            raise StudyError(
                f"Replicas ended {self._losses} times without an answer, the last time by: {reason}"
                f". Ray's logs are in /tmp/ray/session_latest/logs of each machine. {RESUME}"
            )
        self._lost.extend(_groups(member.open.values()))
        self._members[self._members.index(member)] = self._started()


def _groups(requests: Iterable[Request]) -> Iterator[list[Request]]:
    """Yield the prompts of a group together: one replica has the beginning that they share."""
    for _, group in groupby(requests, key=attrgetter("group")):
        while part := list(islice(group, _LARGEST_GROUP)):
            yield part
