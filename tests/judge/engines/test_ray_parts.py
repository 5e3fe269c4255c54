"""Parts of the engine ray that need no Ray: blocks, what may be lost, what a cluster must have."""

import random
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import count, pairwise
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import judge.engines.ray.blocks as blocks_module
from judge.engines.engine import Delivery
from judge.engines.engine_settings import RaySettings
from judge.engines.ray.blocks import MOST_LOST, BlockResult, answer_blocks, cut_blocks
from judge.engines.ray.cluster import accelerators_each, connect, shortage
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
        self.failures: list[str] = []

    def commit(self, pairs: Sequence[tuple[Request, Answer]]) -> None:
        for asked, answer in pairs:
            assert answer.text == f"answer to {asked.prompt}"
            self.answers[asked.prompt] += 1

    def failed(self, request: Request, failure: Failure) -> None:
        assert failure.reason == "vllm_error"
        self.failures.append(request.prompt)


class FakeReplicas:
    """Answers blocks in random order, some of them twice, and loses some if it is told to."""

    count = 3
    scheduled = 64
    block_size = 16

    def __init__(self, seed: int, lost: float = 0.0) -> None:
        self.draw = random.Random(seed)
        self.lost = lost
        self.waiting: list[tuple[int, Sequence[Request]]] = []
        self.open: dict[int, Sequence[Request]] = {}
        self.most = 0

    def put(self, number: int, requests: Sequence[Request]) -> None:
        first = number not in self.open
        self.open[number] = requests
        self.most = max(self.most, sum(len(r.response_ids) for b in self.open.values() for r in b))
        if not first or self.draw.random() >= self.lost:
            self.waiting.append((number, requests))

    def results(self) -> list[tuple[int, BlockResult]]:
        self.draw.shuffle(self.waiting)
        taken, self.waiting = self.waiting[:2], self.waiting[2:]
        results = []
        for number, block in taken:
            answers = [
                Failure("vllm_error", "x") if r.prompt == "7" else Answer(f"answer to {r.prompt}")
                for r in block
            ]
            result = BlockResult(answers, 10 * len(block), 4 * len(block), 5 * len(block))
            results += [(number, result)] * self.draw.choice([1, 1, 2])
        return results

    def done(self, number: int) -> None:
        del self.open[number]


@pytest.mark.parametrize("seed", range(20))
def test_blocks_have_whole_groups(seed: int) -> None:
    draw = random.Random(seed)
    asked = prompts([draw.randint(1, 60) for _ in range(draw.randint(0, 60))])
    least = draw.randint(1, 40)
    blocks = list(cut_blocks(asked, least))
    assert [each for block in blocks for each in block] == asked
    ends = [(one[-1].group, other[0].group) for one, other in pairwise(blocks)]
    assert all(one != other for one, other in ends)
    assert all(least <= len(block) < least + 60 for block in blocks[:-1])


def test_only_groups_larger_than_a_block_are_cut() -> None:
    blocks = list(cut_blocks(prompts([1200, 3, 600]), 32))
    assert [len(block) for block in blocks] == [512, 512, 176, 512, 91]


@pytest.mark.parametrize("seed", range(10))
def test_each_prompt_is_answered_once_whatever_comes_twice(seed: int) -> None:
    asked = prompts([seed % 5 + 1] * 200)
    replicas, stored = FakeReplicas(seed), Stored()
    reuse = answer_blocks(replicas, iter(asked), count(1), stored)
    assert stored.answers == Counter(each.prompt for each in asked if each.prompt != "7")
    assert stored.failures == ["7"]
    assert not replicas.open
    assert replicas.most <= 2 * 64 * 3 + 64
    assert reuse.prompt_tokens == 10 * len(asked)
    assert (reuse.recomputed, reuse.least) == (0.6, 0.5)


def test_what_a_kill_can_lose_is_bounded() -> None:
    replicas, stored = FakeReplicas(1), Stored()
    replicas.count, replicas.scheduled = 50, 512
    # An answer that counts for twenty responses is twenty judgments.
    asked = (request(20 * number, f"g{number // 10}", 20) for number in range(1000))
    numbers = count(1)
    monotonic = count()

    with pytest.MonkeyPatch.context() as patch:
        # A clock on which hardly anything is answered in a second.
        patch.setattr(blocks_module, "monotonic", lambda: next(monotonic) * 60.0)
        patch.setattr(blocks_module, "STALLED_SECONDS", 1e9)
        answer_blocks(replicas, asked, numbers, stored)
    assert stored.answers.total() == 1000
    assert replicas.most < MOST_LOST + 20 * 50


def test_blocks_of_a_lost_machine_are_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks_module, "STALLED_SECONDS", 0.01)
    asked = prompts([4] * 100)
    replicas, stored = FakeReplicas(3, lost=0.5), Stored()
    answer_blocks(replicas, asked, count(1), stored)
    assert stored.answers.total() == len(asked) - 1


def test_a_run_stops_where_no_replica_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks_module, "STALLED_SECONDS", 0.001)

    class Silent(FakeReplicas):
        def results(self) -> list[tuple[int, BlockResult]]:
            return []

    with pytest.raises(StudyError, match=r"No replica has answered .* run the command again"):
        answer_blocks(Silent(0), prompts([3]), count(1), Stored())


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
    replicas: int, each: int, resources: dict[str, float], missing: str | None
) -> None:
    problem = shortage(replicas, each, resources)
    if missing is None:
        assert problem is None
    else:
        with pytest.raises(StudyError, match=missing):
            raise StudyError(problem or "")


def test_replicas_over_several_gpus_take_all_of_them() -> None:
    arguments: dict[str, Any] = {"tensor_parallel_size": 4, "pipeline_parallel_size": 2}
    assert (accelerators_each({}), accelerators_each(arguments)) == (1, 8)


def test_the_address_of_a_client_is_refused() -> None:
    assert RaySettings.checked(model="m", cluster="10.0.0.1:6379").cluster == "10.0.0.1:6379"
    with pytest.raises(StudyError, match="run the command on a machine of the cluster"):
        RaySettings.checked(model="m", cluster="ray://10.0.0.1:10001")


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
        connect(address, replicas=1, each=1)
    message = str(caught.value)
    assert message.startswith(begin)
    assert remedy in message
    assert "raylet" not in message
    assert "\n" not in message
    assert ray.stopped, "what had started is ended"
    assert capfd.readouterr() == ("", "")


def test_paragraphs_of_the_scheduler_are_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    ray, private = RayThatFails("ray"), ModuleType("ray._private")
    worker = SimpleNamespace(_worker_logs_enabled=True)
    monkeypatch.setattr(ray, "init", lambda **_: None, raising=False)
    monkeypatch.setattr(private, "worker", worker, raising=False)
    for module in (ray, private):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    assert connect(None, replicas=1, each=1)
    assert worker._worker_logs_enabled is False
