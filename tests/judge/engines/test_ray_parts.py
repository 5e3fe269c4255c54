"""The engine ray without Ray: groups, lost replicas, what may be lost, what a cluster must have."""

import copy
import importlib
import os
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar, cast

import pytest

from judge.engines.engine import Delivery
from judge.engines.engine_settings import RaySettings
from judge.engines.ray import cluster
from judge.engines.ray.cluster import accelerators_each, connect, replica_resources
from judge.engines.ray.replica import Turn
from judge.engines.vllm.model_loader import DescribedModel
from judge.engines.vllm.prefix_reuse import PrefixReuse
from judge.engines.vllm.prompt_requests import Ask
from judge.engines.vllm.scheduler_feed import RESUME
from judge.protocol.exchange import Answer, Failure, Request
from study.errors import StudyError


def request(number: int, group: str, judgments: int = 1) -> Request:
    """Return a prompt that says its number."""
    responses = tuple(range(number, number + judgments))
    return Request("AC", 0, responses, (1,) * judgments, f"{number}", (), group)


def prompts(sizes: Iterable[int]) -> list[Request]:
    """Return groups of so many prompts."""
    numbers = count()
    return [
        request(next(numbers), f"g{group}") for group, size in enumerate(sizes) for _ in range(size)
    ]


class Stored(Delivery):
    """Counts answers by prompt."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: Counter[str] = Counter()
        self.replicas: set[tuple[str, str | None]] = set()
        """Groups, and the replicas that answered them."""

    def commit(self, pairs: Sequence[tuple[Request, Answer]]) -> None:
        for asked, answer in pairs:
            assert answer.text == f"answer to {asked.prompt}"
            self.answers[asked.prompt] += 1
            self.replicas.add((asked.group, answer.fingerprint))

    def failed(self, request: Request, failure: Failure) -> None:
        raise AssertionError(request, failure)


class LostError(Exception):
    """Raised by Ray where a replica is lost."""


class FailedTaskError(LostError):
    """Raised by Ray where the code of a replica raised."""


class Actor:
    """A replica in this process, whose calls run one after the other when they are waited for."""

    def __init__(self, replica: Any, number: int) -> None:
        self.replica, self.number = replica, number
        self.alive = True
        self.calls: list[Call] = []

    def __getattr__(self, method: str) -> Any:
        def remote(*arguments: Any) -> "Call":
            # As Ray does: what is sent is a copy.
            call = Call(self, method, copy.deepcopy(arguments))
            self.calls.append(call)
            return call

        return SimpleNamespace(remote=remote)


@dataclass(eq=False)
class Call:
    """A call to a replica."""

    actor: Actor
    method: str
    arguments: tuple[Any, ...]
    done: bool = False
    result: Any = None


class FakeRay(ModuleType):
    """Ray in this process, which loses replicas by chance or at a prompt."""

    def __init__(self, seed: int = 0, lost: float = 0.0, deadly: str = "") -> None:
        super().__init__("ray")
        self.draw = random.Random(seed)
        self.lost, self.deadly = lost, deadly
        self.actors: list[Actor] = []

    def remote(self, **options: Any) -> Any:
        assert options == {"max_restarts": 0, "num_cpus": 1, "num_gpus": 0}

        def begin(kind: type) -> Any:
            return SimpleNamespace(remote=lambda *values: self.begin(kind(*values)))

        return begin

    def begin(self, replica: Any) -> Actor:
        self.actors.append(Actor(replica, len(self.actors)))
        return self.actors[-1]

    def kill(self, actor: Actor) -> None:
        actor.alive = False

    def wait(
        self, calls: list[Call], num_returns: int = 1, timeout: float | None = None
    ) -> tuple[list[Call], list[Call]]:
        assert calls
        assert len(set(calls)) == len(calls)
        if timeout:
            for actor in self.draw.sample(self.actors, len(self.actors)):
                if waiting := [call for call in actor.calls if not call.done]:
                    self.work(actor, waiting[0])
        done = [call for call in calls if call.done or not call.actor.alive][:num_returns]
        return done, [call for call in calls if call not in done]

    def work(self, actor: Actor, call: Call) -> None:
        deadly = call.method == "work" and any(
            a.prompt == self.deadly for _, a in call.arguments[0]
        )
        if deadly or self.draw.random() < self.lost:
            actor.alive = False
        if actor.alive:
            call.result, call.done = getattr(actor.replica, call.method)(*call.arguments), True

    def get(self, call: Call) -> Any:
        if not call.done:
            raise LostError("The actor died unexpectedly.\n\tclass_name: Replica\n")
        if isinstance(call.result, Exception):
            raise call.result
        return call.result


class FakeReplica:
    """Answers some of its prompts in each call, and says by which replica."""

    scheduled = 16
    loading: ClassVar[list[Any]] = []
    """What the next ones return when they load the model, other than its description."""
    working: ClassVar[list[Any]] = []
    """What the next calls return."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.waiting: list[tuple[int, Ask]] = []

    def start(self) -> Any:
        facts = SimpleNamespace(scheduled=self.scheduled, block_size=16)
        model = DescribedModel(cast(Any, facts), cast(Any, None), {})
        return self.loading.pop() if self.loading else model

    def work(self, asks: Sequence[tuple[int, Ask]]) -> Any:
        if self.working:
            return self.working.pop()
        self.waiting += asks
        self.draw.shuffle(self.waiting)
        taken = [self.waiting.pop() for _ in range((len(self.waiting) + 1) // 2)]
        answers = [
            (key, Answer(f"answer to {ask.prompt}", fingerprint=f"{id(self)}"))
            for key, ask in taken
        ]
        return Turn(answers, PrefixReuse(16, 10 * len(taken), 4 * len(taken), 5 * len(taken)))

    def stop(self) -> None:
        """Free nothing."""


@pytest.fixture
def new_pool(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return a function that makes a pool of replicas in a fake Ray."""

    def make(ray: FakeRay, replicas: int = 3) -> Any:
        exceptions = ModuleType("ray.exceptions")
        vars(exceptions).update(RayError=LostError, RayTaskError=FailedTaskError)
        for module in (ray, exceptions):
            monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.delitem(sys.modules, "judge.engines.ray.replica_pool", raising=False)
        module = importlib.import_module("judge.engines.ray.replica_pool")
        monkeypatch.delitem(sys.modules, "judge.engines.ray.replica_pool")
        monkeypatch.setattr(module, "Replica", lambda draw, _: FakeReplica(draw))
        monkeypatch.setattr(FakeReplica, "loading", [])
        monkeypatch.setattr(FakeReplica, "working", [])
        return module.ReplicaPool(ray.draw, None, replicas, {"num_cpus": 1, "num_gpus": 0})

    return make


@pytest.mark.parametrize("seed", range(10))
def test_a_replica_answers_whole_groups(seed: int, new_pool: Callable[..., Any]) -> None:
    draw = random.Random(seed)
    asked = prompts([draw.randint(1, 60) for _ in range(40)])
    stored = Stored()
    reuse = new_pool(FakeRay(seed)).answer(iter(asked), stored)
    assert stored.answers == Counter(each.prompt for each in asked)
    by_group: dict[str, set[str | None]] = defaultdict(set)
    for group, replica in stored.replicas:
        by_group[group].add(replica)
    assert {len(replicas) for replicas in by_group.values()} == {1}
    assert len({replica for _, replica in stored.replicas}) == 3, "all replicas have work"
    assert reuse.prompt_tokens == 10 * len(asked)
    assert (reuse.recomputed, reuse.least) == (0.6, 0.5)


@pytest.mark.parametrize("seed", range(20))
def test_each_prompt_is_answered_once_though_replicas_are_lost(
    seed: int, new_pool: Callable[..., Any]
) -> None:
    asked = prompts([seed % 5 + 1] * 300)
    ray, stored = FakeRay(seed, lost=0.1), Stored()
    pool = new_pool(ray)
    pool.answer.__globals__.update(_MOST_LOSSES=100)
    # Two calls of an engine: between them, replicas may be lost as well.
    pool.answer(iter(asked[:50]), stored)
    pool.answer(iter(asked[50:]), stored)
    assert stored.answers == Counter(each.prompt for each in asked)
    assert len(ray.actors) > 3
    assert sum(actor.alive for actor in ray.actors) <= 3, "a replaced replica is ended"
    pool.end()
    assert not any(actor.alive for actor in ray.actors)


def test_what_a_kill_can_lose_is_bounded(
    new_pool: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeReplica, "scheduled", 512)
    # An answer that counts for twenty responses is twenty judgments.
    asked = [request(20 * number, f"g{number // 10}", 20) for number in range(1000)]
    pool, stored = new_pool(FakeRay(), 5), Stored()
    most = 0

    def watched() -> Iterator[Request]:
        nonlocal most
        for each in asked:
            open_prompts = [one for member in pool._members for one in member.open.values()]
            most = max(most, sum(len(one.response_ids) for one in open_prompts))
            yield each

    # A clock on which hardly anything is answered in a second.
    times = count(step=60.0)
    pool.answer.__globals__.update(
        monotonic=lambda: next(times), _HANGS_SECONDS=1e9, _SILENT_SECONDS=1e9
    )
    pool.answer(watched(), stored)
    assert stored.answers.total() == 1000
    assert 1800 <= most < 2000 + 20 * 10


def test_a_prompt_that_ends_its_replica_each_time_stops_the_run(
    new_pool: Callable[..., Any],
) -> None:
    ray, stored = FakeRay(deadly="7"), Stored()
    with pytest.raises(
        StudyError, match=r"ended 4 times, the last time by: The actor died"
    ) as told:
        new_pool(ray).answer(iter(prompts([4] * 100)), stored)
    assert "run the command again to resume" in str(told.value)
    assert "class_name" not in str(told.value)
    assert set(stored.answers.values()) == {1}


def test_a_replica_whose_engine_stops_is_started_again(new_pool: Callable[..., Any]) -> None:
    ray, stored, asked = FakeRay(), Stored(), prompts([4] * 50)
    pool = new_pool(ray)
    FakeReplica.working.append(f"vLLM stopped: out of memory. {RESUME}")
    pool.answer(iter(asked), stored)
    assert stored.answers == Counter(each.prompt for each in asked)
    assert len(ray.actors) == 4


def test_a_model_that_cannot_be_loaded_stops_the_run(new_pool: Callable[..., Any]) -> None:
    pool = new_pool(FakeRay(), 1)
    FakeReplica.loading.append("vLLM can't run m: no files.")
    with pytest.raises(StudyError, match=r"^vLLM can't run m: no files\.$"):
        pool.start()
    pool = new_pool(FakeRay(lost=0.2, seed=3), 1)
    pool.start()
    FakeReplica.loading.append("vLLM can't run m: no files.")
    with pytest.raises(StudyError, match=f"no files. {RESUME}"):
        pool.answer(iter(prompts([4] * 100)), Stored())


def test_an_error_in_a_replica_stops_the_run(new_pool: Callable[..., Any]) -> None:
    pool = new_pool(FakeRay())
    FakeReplica.working.append(FailedTaskError("KeyError: 'x'\nTraceback"))
    with pytest.raises(StudyError, match=f"KeyError: 'x'. .*{RESUME}"):
        pool.answer(iter(prompts([4])), Stored())


class SilentRay(FakeRay):
    """Ray whose replicas load the model and then never return."""

    def work(self, actor: Actor, call: Call) -> None:
        if call.method == "start":
            super().work(actor, call)


def test_a_replica_that_hangs_is_replaced_and_a_run_without_answers_stops(
    new_pool: Callable[..., Any],
) -> None:
    pool, times = new_pool(ray := SilentRay(), 1), count(step=30.0)
    pool.answer.__globals__["monotonic"] = lambda: next(times)
    with pytest.raises(StudyError, match=r"No replica has answered for 30 minutes.*ray status"):
        pool.answer(iter(prompts([3])), Stored())
    assert len(ray.actors) > 1


@pytest.mark.parametrize(
    ("replicas", "each", "resources", "missing"),
    [
        (2, 1, {"GPU": 2.0, "CPU": 2.0}, None),
        (4, 1, {"GPU": 2.0, "CPU": 16.0}, "--replicas 4 needs 4 GPUs of Ray, and 2 are available"),
        (2, 4, {"GPU": 6.0, "CPU": 16.0}, "of 4 GPUs each needs 8 GPUs of Ray, and 6"),
        (2, 1, {"GPU": 2.0, "CPU": 1.0}, "needs 2 CPUs of Ray, and 1 are available.*--num-cpus"),
        (2, 1, {"CPU": 2.0}, None),
        (2, 1, {"CPU": 1.0}, "needs 2 CPUs"),
        (1, 1, {}, "needs 1 CPUs of Ray, and 0 are available"),
    ],
)
def test_a_cluster_that_is_too_small_is_reported_with_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
    replicas: int,
    each: int,
    resources: dict[str, float],
    missing: str | None,
) -> None:
    ray, util = ModuleType("ray"), ModuleType("ray.util")
    vars(ray).update(cluster_resources=lambda: resources)
    vars(util).update(
        placement_group=lambda _: SimpleNamespace(wait=lambda _seconds: True),
        remove_placement_group=lambda _: None,
    )
    for module in (ray, util):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    if missing is None:
        gpus = each if "GPU" in resources else 0
        assert replica_resources(replicas, each) == {"num_cpus": each, "num_gpus": gpus}
    else:
        with pytest.raises(StudyError, match=f"{missing}.*Nothing was asked"):
            replica_resources(replicas, each)


def test_replicas_over_several_gpus_take_all_of_them() -> None:
    arguments: dict[str, Any] = {"tensor_parallel_size": 4, "pipeline_parallel_size": 2}
    assert (accelerators_each({}), accelerators_each(arguments)) == (1, 8)


def test_the_address_of_a_client_is_refused() -> None:
    assert RaySettings.checked(model="m", cluster="10.0.0.1:6379").cluster == "10.0.0.1:6379"
    with pytest.raises(StudyError, match="run the command on a machine of the cluster"):
        RaySettings.checked(model="m", cluster="ray://10.0.0.1:10001")


@pytest.mark.parametrize(
    ("available", "told"),
    [
        ({"GPU": 1.0, "CPU": 8.0}, "needs 4 GPUs of Ray, and 1 are available.* are in use"),
        ({"GPU": 4.0, "CPU": 8.0}, "of 2 GPUs each finds too few machines with 2 free ones"),
    ],
)
def test_a_full_cluster_stops_before_anything_is_asked(
    monkeypatch: pytest.MonkeyPatch, available: dict[str, float], told: str
) -> None:
    ray, util = ModuleType("ray"), ModuleType("ray.util")
    places: list[Any] = []
    removed: list[Any] = []

    def placement_group(bundles: list[dict[str, int]]) -> Any:
        places.append(bundles)
        return SimpleNamespace(wait=lambda _seconds: len(places) > 1)

    vars(ray).update(
        cluster_resources=lambda: {"GPU": 4.0, "CPU": 8.0}, available_resources=lambda: available
    )
    vars(util).update(placement_group=placement_group, remove_placement_group=removed.append)
    for module in (ray, util):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    with pytest.raises(StudyError, match=f"{told}.*Nothing was asked"):
        replica_resources(2, 2)
    assert replica_resources(2, 2) == {"num_cpus": 2, "num_gpus": 2}
    assert places == [[{"CPU": 2, "GPU": 2}] * 2] * 2
    assert len(removed) == 2, "replicas take the places that were held"


@pytest.mark.parametrize("package", ["ray", "vllm"])
def test_a_missing_package_is_named_with_the_extra(
    monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None if package == "ray" else ModuleType("ray"))
    monkeypatch.setattr(cluster, "find_spec", lambda _: None)
    with pytest.raises(StudyError, match=rf"{package}.*pip install 'ccrs-study\[ray\]'"):
        connect(None, replicas=1, each=1)


@pytest.fixture
def vllm_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have vLLM found."""
    monkeypatch.setattr(cluster, "find_spec", lambda _: True)


class RayThatFails(ModuleType):
    """Ray whose processes do not start; it raises the bare class, with a paragraph."""

    stopped = False

    def is_initialized(self) -> bool:
        return False

    def init(self, **options: Any) -> None:
        del options
        raise Exception(  # noqa: TRY002  (as Ray does)
            "The current node timed out during startup.\n\n(raylet) Some processes failed."
        )

    def shutdown(self) -> None:
        self.stopped = True


@pytest.mark.usefixtures("vllm_is_there")
@pytest.mark.parametrize(
    ("address", "begin", "remedy"),
    [
        (None, "Ray does not start on this machine: The current node timed out", "(ray stop)"),
        ("auto", "There is no Ray at auto: The current node timed out", "--cluster names it."),
    ],
)
def test_a_ray_that_does_not_start_is_one_cause_and_one_remedy(
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    address: str | None,
    begin: str,
    remedy: str,
) -> None:
    ray = RayThatFails("ray")
    monkeypatch.setitem(sys.modules, "ray", ray)
    with pytest.raises(StudyError) as caught:
        connect(address, replicas=1, each=1)
    message = str(caught.value)
    assert message.startswith(begin)
    assert remedy in message
    assert "raylet" not in message
    assert "\n" not in message
    assert ray.stopped, "what had started is ended"
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("vllm_is_there")
def test_paragraphs_of_the_scheduler_are_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    # The variable by which Ray's documentation keeps messages from being printed; Ray reads it when
    # it is imported. The tests with a real Ray check what is printed.
    ray = RayThatFails("ray")
    monkeypatch.setattr(ray, "init", lambda **_: None, raising=False)
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setenv("RAY_DEDUP_LOGS_SKIP_REGEX", "chosen by the user")
    assert connect(None, replicas=1, each=1)
    assert os.environ["RAY_DEDUP_LOGS_SKIP_REGEX"] == "chosen by the user"
    monkeypatch.delenv("RAY_DEDUP_LOGS_SKIP_REGEX")
    assert connect(None, replicas=1, each=1)
    assert re.search(os.environ["RAY_DEDUP_LOGS_SKIP_REGEX"], "A worker died or was killed")


def test_only_public_names_of_ray_are_used() -> None:
    files = list(Path(cluster.__file__).parent.glob("*.py"))
    assert len(files) > 3
    assert [
        file for file in files if re.search(r"\bray\W[\w.]*\b_\w|\bray\._", file.read_text())
    ] == []
