"""Prompts in blocks of whole groups, no more of them under way than a kill may lose."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import attrgetter
from time import monotonic
from typing import Protocol

from judge.engines.engine import Delivery
from judge.engines.vllm.prefix_reuse import PrefixReuse
from judge.engines.vllm.scheduler_feed import LOAD_FACTOR
from judge.protocol.exchange import Answer, Failure, Request
from study.errors import StudyError

MOST_LOST, LOST_SECONDS = 2000, 60.0
"""A kill loses the prompts under way: at most so many judgments, or the work of so many seconds."""
_BLOCK, _LARGEST_BLOCK = 32, 512
"""Prompts of a block: at least, if the model works on as many; only larger groups are cut."""
STALLED_SECONDS, MOST_STALLS = 600.0, 3
"""After so long without an answer, prompts under way are sent again, at most so many times."""


@dataclass(frozen=True, slots=True)
class BlockResult:
    """What a replica returns for a block."""

    answers: Sequence[Answer | Failure]
    """In the order of the prompts."""
    prompt_tokens: int
    cached_tokens: int
    shared_tokens: int


class Replicas(Protocol):
    """Replicas that answer blocks, in any order."""

    count: int
    scheduled: int
    """Prompts that one of them works on at once."""
    block_size: int
    """Tokens of a block of its prefix cache."""

    def put(self, number: int, requests: Sequence[Request]) -> None:
        """Send a block to any replica; a number that was sent before is sent again."""

    def results(self) -> list[tuple[int, BlockResult]]:
        """Wait a moment for results, and return them; a block can have several."""

    def done(self, number: int) -> None:
        """Forget a block whose answers are stored."""


def cut_blocks(requests: Iterable[Request], least: int) -> Iterator[list[Request]]:
    """Yield requests in blocks of whole groups with at least so many prompts, the last with fewer.

    A replica answers a block, so its cache has the beginning that the prompts of a group share.
    """
    block: list[Request] = []
    for _, group in groupby(requests, key=attrgetter("group")):
        while part := list(islice(group, _LARGEST_BLOCK - len(block))):
            block += part
            if len(block) >= _LARGEST_BLOCK:
                yield block
                block = []
        if len(block) >= least:
            yield block
            block = []
    if block:
        yield block


def most_under_way(replicas: Replicas, judgments_per_second: float) -> int:
    """Return how many judgments may be under way."""
    wanted = LOAD_FACTOR * replicas.scheduled * replicas.count
    return min(wanted, max(MOST_LOST, int(LOST_SECONDS * judgments_per_second)))


def answer_blocks(
    replicas: Replicas, requests: Iterable[Request], numbers: Iterator[int], delivery: Delivery
) -> PrefixReuse:
    """Have requests answered, delivering each answer once; return the token counts.

    Raises
    ------
    StudyError
        No replica answers any more. Answers until then are stored.
    """
    blocks = cut_blocks(requests, min(_BLOCK, max(1, replicas.scheduled // 2)))
    reuse = PrefixReuse(replicas.block_size)
    under_way: dict[int, list[Request]] = {}
    judgments = answered = stalls = 0
    began = last = monotonic()
    while True:
        most = most_under_way(replicas, answered / max(1.0, monotonic() - began))
        while (not under_way or judgments < most) and (block := next(blocks, None)) is not None:
            number = next(numbers)
            under_way[number] = block
            judgments += _judgments(block)
            replicas.put(number, block)
        if not under_way:
            return reuse
        for number, result in replicas.results():
            last, stalls = monotonic(), 0
            # A block that was sent twice is answered twice.
            if (answered_block := under_way.pop(number, None)) is not None:
                _deliver(answered_block, result, delivery)
                reuse.add(result.prompt_tokens, result.cached_tokens, result.shared_tokens)
                replicas.done(number)
                judgments -= _judgments(answered_block)
                answered += _judgments(answered_block)
        if monotonic() - last > STALLED_SECONDS:
            # Ray returns the blocks of a lost node to a replica that it can start again there.
            if stalls == MOST_STALLS:
                raise StudyError(
                    f"No replica has answered for {MOST_STALLS * STALLED_SECONDS / 60:.0f} "
                    "minutes. All answers so far are stored; check the cluster with 'ray status', "
                    "and run the command again to resume."
                )
            last, stalls = monotonic(), stalls + 1
            for number, waiting in under_way.items():
                replicas.put(number, waiting)


def _judgments(block: Sequence[Request]) -> int:
    return sum(len(request.response_ids) for request in block)


def _deliver(block: Sequence[Request], result: BlockResult, delivery: Delivery) -> None:
    answers = []
    for request, answer in zip(block, result.answers, strict=True):
        if isinstance(answer, Failure):
            delivery.failed(request, answer)
        else:
            answers.append((request, answer))
    if answers:
        delivery.commit(answers)
