"""The engine ray without Ray: groups, lost replicas, what a cluster must have."""

import copy
import os
import random
import re
import socket
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar, cast

import pytest

from judge.engines.engine import Delivery
from judge.engines.engine_settings import RaySettings
from judge.engines.ray import cluster, ray_engine
from judge.engines.ray.cluster import connect, places
from judge.engines.ray.ray_engine import RayEngine
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

    def __init__(self, cause: Exception) -> None:
        super().__init__(f"ray::Replica.work()\nTraceback\n{cause}")
        self.cause = cause


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

    exceptions = SimpleNamespace(RayError=LostError, RayTaskError=FailedTaskError)

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
        self, calls: list[Call], num_returns: int, timeout: float
    ) -> tuple[list[Call], list[Call]]:
        assert timeout < 1
        assert num_returns == len(calls) > 0
        assert len(set(calls)) == len(calls)
        for actor in self.draw.sample(self.actors, len(self.actors)):
            if waiting := [call for call in actor.calls if not call.done]:
                self.work(actor, waiting[0])
        done = [call for call in calls if call.done or not call.actor.alive]
        return done, [call for call in calls if call not in done]

    def work(self, actor: Actor, call: Call) -> None:
        deadly = call.method == "work" and any(
            a.prompt == self.deadly for _, a in call.arguments[0]
        )
        if deadly or self.draw.random() < self.lost:
            actor.alive = False
        if actor.alive:
            try:
                call.result = getattr(actor.replica, call.method)(*call.arguments)
            except Exception as error:  # noqa: BLE001  (as Ray does)
                call.result = FailedTaskError(error)
            call.done = True

    def get(self, call: Call) -> Any:
        if not call.done:
            raise LostError("The actor died unexpectedly.\n\tclass_name: Replica\n")
        if isinstance(call.result, Exception):
            raise call.result
        return call.result


class FakeReplica:
    """Answers some of its prompts in each call, and says by which replica."""

    loading: ClassVar[list[Exception]] = []
    """What the next ones raise when they load the model."""
    working: ClassVar[list[Exception]] = []
    """What the next calls raise."""

    def __init__(self, spec: Any, _: object) -> None:
        self.draw: random.Random = spec.draw
        self.waiting: list[tuple[int, Ask]] = []

    def start(self) -> DescribedModel:
        if self.loading:
            raise self.loading.pop()
        facts = SimpleNamespace(scheduled=16, block_size=16)
        return DescribedModel(cast(Any, facts), cast(Any, None), {})

    def work(self, asks: Sequence[tuple[int, Ask]]) -> tuple[list[tuple[int, Answer]], PrefixReuse]:
        if self.working:
            raise self.working.pop()
        self.waiting += asks
        self.draw.shuffle(self.waiting)
        taken = [self.waiting.pop() for _ in range((len(self.waiting) + 1) // 2)]
        answers = [
            (key, Answer(f"answer to {ask.prompt}", fingerprint=f"{id(self)}"))
            for key, ask in taken
        ]
        return answers, PrefixReuse(16, 10 * len(taken), 4 * len(taken), 5 * len(taken))


NewEngine = Callable[..., RayEngine]


@pytest.fixture
def new_engine(monkeypatch: pytest.MonkeyPatch) -> NewEngine:
    """Return a function that makes an engine with replicas in a fake Ray."""

    def make(ray: FakeRay, replicas: int = 3) -> RayEngine:
        by_name: dict[str, Any] = {
            "Replica": FakeReplica,
            "model_spec": lambda *_: SimpleNamespace(arguments={}, draw=ray.draw),
            "decoding": lambda *_: None,
            "connect": lambda *_: (ray, False),
            "places": lambda *_: {"num_cpus": 1, "num_gpus": 0},
            "ready": lambda *_: "ready",
        }
        for name, value in by_name.items():
            monkeypatch.setattr(ray_engine, name, value)
        monkeypatch.setattr(FakeReplica, "loading", [])
        monkeypatch.setattr(FakeReplica, "working", [])
        settings = RaySettings(model="m", replicas=replicas)
        return RayEngine(settings, cast(Any, None), cast(Any, None))

    return make


def run(engine: RayEngine, asked: Iterable[Request]) -> "Stored":
    """Have an engine answer prompts; return what it delivered."""
    stored = Stored()
    engine.run(cast(Any, None), iter(asked), stored)
    return stored


@pytest.mark.parametrize("seed", range(10))
def test_a_replica_answers_whole_groups(seed: int, new_engine: NewEngine) -> None:
    draw = random.Random(seed)
    asked = prompts([draw.randint(1, 60) for _ in range(40)])
    engine = new_engine(FakeRay(seed))
    assert engine.start(()) == "ready"
    stored = run(engine, asked)
    assert stored.answers == Counter(each.prompt for each in asked)
    by_group: dict[str, set[str | None]] = defaultdict(set)
    for group, replica in stored.replicas:
        by_group[group].add(replica)
    assert {len(replicas) for replicas in by_group.values()} == {1}
    assert len({replica for _, replica in stored.replicas}) == 3, "all replicas have work"
    assert stored.figures == {"recomputed": 0.6, "least_recomputed": 0.5}


@pytest.mark.parametrize("seed", range(20))
def test_each_prompt_is_answered_once_though_replicas_are_lost(
    seed: int, new_engine: NewEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = prompts([seed % 5 + 1] * 300)
    monkeypatch.setattr(ray_engine, "_MOST_LOSSES", 100)
    engine = new_engine(ray := FakeRay(seed, lost=0.1))
    engine.start(())
    # Two calls of an engine: between them, replicas may be lost as well.
    answers = run(engine, asked[:50]).answers + run(engine, asked[50:]).answers
    assert answers == Counter(each.prompt for each in asked)
    assert len(ray.actors) > 3
    assert sum(actor.alive for actor in ray.actors) <= 3, "a replaced replica is ended"
    engine.close()
    assert not any(actor.alive for actor in ray.actors)


def test_a_prompt_that_ends_its_replica_each_time_stops_the_run_when_all_others_are_answered(
    new_engine: NewEngine,
) -> None:
    asked, stored = prompts([4] * 100), Stored()
    engine = new_engine(FakeRay(deadly="7"))
    engine.start(())
    with pytest.raises(
        StudyError, match=r"ended 10 times without an answer, the last time by: The actor died"
    ) as told:
        engine.run(cast(Any, None), iter(asked), stored)
    assert "run the command again to resume" in str(told.value)
    assert "class_name" not in str(told.value)
    # The prompts of its group are sent with it.
    assert stored.answers == Counter(each.prompt for each in asked if each.group != "g1")


def test_a_replica_whose_engine_stops_is_started_again(new_engine: NewEngine) -> None:
    asked = prompts([4] * 50)
    engine = new_engine(ray := FakeRay())
    engine.start(())
    FakeReplica.working.append(StudyError(f"vLLM stopped: out of memory. {RESUME}"))
    assert run(engine, asked).answers == Counter(each.prompt for each in asked)
    assert len(ray.actors) == 4


def test_a_model_that_cannot_be_loaded_stops_the_run(new_engine: NewEngine) -> None:
    engine = new_engine(FakeRay(), 1)
    FakeReplica.loading.append(StudyError("vLLM can't run m: no files."))
    with pytest.raises(StudyError, match=r"^vLLM can't run m: no files\.$"):
        engine.start(())
    engine = new_engine(FakeRay(lost=0.2, seed=3), 1)
    engine.start(())
    FakeReplica.loading.append(StudyError("vLLM can't run m: no files."))
    with pytest.raises(StudyError, match=rf"^vLLM can't run m: no files\. {RESUME}"):
        run(engine, prompts([4] * 100))


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (StudyError(f"vLLM stopped: out of memory. {RESUME}"), r"vLLM stopped: out of memory\."),
        (KeyError("x"), r"KeyError\('x'\)\."),
    ],
)
def test_an_error_that_each_replica_meets_stops_the_run(
    new_engine: NewEngine, error: Exception, told: str
) -> None:
    engine = new_engine(FakeRay(), 1)
    engine.start(())
    FakeReplica.working += [error] * 4
    with pytest.raises(StudyError, match=f"ended 4 times .* by: {told} Ray's logs") as raised:
        run(engine, prompts([4]))
    assert str(raised.value).count(RESUME) == 1


class SilentRay(FakeRay):
    """Ray whose replicas load the model and then never return."""

    def work(self, actor: Actor, call: Call) -> None:
        if call.method == "start":
            super().work(actor, call)


def test_a_run_without_answers_stops(
    new_engine: NewEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, times = new_engine(SilentRay(), 1), count(step=30.0)
    engine.start(())
    monkeypatch.setattr(ray_engine, "monotonic", lambda: next(times))
    with pytest.raises(StudyError, match=r"No replica has answered for 30 minutes.*ray status"):
        run(engine, prompts([3]))


class Cluster(ModuleType):
    """A Ray with these resources, of which some are free, and whose machines have room or not."""

    def __init__(self, total: dict[str, float], free: dict[str, float], *, room: bool) -> None:
        super().__init__("ray")
        self.cluster_resources, self.available_resources = lambda: total, lambda: free
        self.util = ModuleType("ray.util")
        self.asked: list[Any] = []
        self.removed: list[Any] = []

        def placement_group(bundles: list[dict[str, int]]) -> Any:
            self.asked.append(bundles)
            return SimpleNamespace(wait=lambda _seconds: room)

        vars(self.util).update(
            placement_group=placement_group, remove_placement_group=self.removed.append
        )


@pytest.mark.parametrize(
    ("replicas", "each", "total", "free", "told"),
    [
        (4, 1, {"GPU": 2, "CPU": 16}, {"GPU": 2}, "--replicas 4 needs 4 GPUs of Ray: it has 2, "),
        (2, 4, {"GPU": 6, "CPU": 16}, {"GPU": 6}, "needs 8 GPUs of Ray, 4 on one machine .* has 6"),
        (2, 1, {"CPU": 1}, {"CPU": 1}, "needs 2 CPUs of Ray: it has 1, .*--num-cpus"),
        (1, 1, {}, {}, "needs 1 CPUs of Ray: it has 0"),
        # In use by others, and free but not enough of them on one machine.
        (2, 2, {"GPU": 4}, {"GPU": 1}, "needs 4 GPUs .* has 4, of which 1 are free .*ray status"),
        (2, 2, {"GPU": 4}, {"GPU": 4}, "2 on one machine for each replica.* of which 4 are free"),
    ],
)
def test_a_cluster_that_is_too_small_or_full_is_reported_with_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
    replicas: int,
    each: int,
    total: dict[str, float],
    free: dict[str, float],
    told: str,
) -> None:
    ray = Cluster(total, free, room=False)
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setitem(sys.modules, "ray.util", ray.util)
    with pytest.raises(StudyError, match=f"{told}.*Nothing was asked"):
        places(replicas, each)
    assert len(ray.asked) == len(ray.removed)


@pytest.mark.parametrize(
    ("total", "resources"),
    [
        ({"GPU": 4.0, "CPU": 0.0}, {"num_cpus": 0, "num_gpus": 2}),
        ({"CPU": 4.0}, {"num_cpus": 2, "num_gpus": 0}),
    ],
)
def test_replicas_take_the_places_that_were_held_for_a_moment(
    monkeypatch: pytest.MonkeyPatch, total: dict[str, float], resources: dict[str, int]
) -> None:
    ray = Cluster(total, total, room=True)
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setitem(sys.modules, "ray.util", ray.util)
    assert places(2, 2) == resources
    kind = "GPU" if "GPU" in total else "CPU"
    assert ray.asked == [[{kind: 2}] * 2]
    assert len(ray.removed) == 1


def test_the_address_of_a_client_and_one_without_a_port_are_refused() -> None:
    assert RaySettings.checked(model="m", cluster="10.0.0.1:6379").cluster == "10.0.0.1:6379"
    for address in ("ray://10.0.0.1:10001", "10.0.0.1"):
        with pytest.raises(StudyError, match="run the command on a machine of the cluster"):
            RaySettings.checked(model="m", cluster=address)


def test_a_missing_ray_is_named_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(StudyError, match=r"ray.*pip install 'ccrs-study\[ray\]'"):
        connect(None, 1)


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
        connect(address, 1)
    message = str(caught.value)
    assert message.startswith(begin)
    assert remedy in message
    assert "raylet" not in message
    assert "\n" not in message
    assert ray.stopped, "what had started is ended"
    assert capfd.readouterr() == ("", "")


def test_an_address_where_nothing_answers_is_not_tried_again_by_ray(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ray = RayThatFails("ray")
    monkeypatch.setitem(sys.modules, "ray", ray)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(StudyError, match=f"There is no Ray at {address}: .*refused"):
            connect(address, 1)


def test_paragraphs_of_the_scheduler_are_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    # The variable by which Ray's documentation keeps messages from being printed; Ray reads it when
    # it is imported. The tests with a real Ray check what is printed.
    ray = RayThatFails("ray")
    monkeypatch.setattr(ray, "init", lambda **_: None, raising=False)
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setenv("RAY_DEDUP_LOGS_SKIP_REGEX", "chosen by the user")
    assert connect(None, 1) == (ray, True)
    assert os.environ["RAY_DEDUP_LOGS_SKIP_REGEX"] == "chosen by the user"
    monkeypatch.delenv("RAY_DEDUP_LOGS_SKIP_REGEX")
    assert connect(None, 1) == (ray, True)
    assert re.search(os.environ["RAY_DEDUP_LOGS_SKIP_REGEX"], "A worker died or was killed")


def test_only_public_names_of_ray_are_used() -> None:
    files = list(Path(cluster.__file__).parent.glob("*.py"))
    assert len(files) >= 3
    assert [
        file for file in files if re.search(r"(?<![a-z])ray\W[\w.]*\b_\w", file.read_text())
    ] == []
