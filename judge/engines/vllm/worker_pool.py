"""Several processes with a model each, for as many GPUs: this one hands out prompts and stores.

A query's prompts with one context go to one process, whose cache has their beginning. Processes
hold no part of the study: what one has answered comes back at once, and is stored here.
"""

import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from itertools import count
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from time import monotonic
from typing import Any

from judge.engines.engine import Delivery
from judge.engines.vllm.chat_layout import Layout
from judge.engines.vllm.model_loader import ModelFacts, ModelSpec, needed
from judge.engines.vllm.prefix_reuse import Reuse
from judge.engines.vllm.scheduler_feed import COMMITTED_EVERY, WAITING, Decoding
from judge.engines.vllm.worker_process import CLOSE, END, work_off
from judge.protocol.exchange import Answer, Request
from study.errors import StudyError

# Prompts read ahead for processes that are busy, while another has room.
_AHEAD = 4096
_SECONDS_TO_END = 10.0

Done = list[tuple[Request, Answer]]


class _Worker:
    """A process, as seen from here."""

    def __init__(self, process: Any, pipe: Connection) -> None:
        self.process = process
        self.pipe = pipe
        self.queue: deque[tuple[int, Request]] = deque()
        self.under_way: dict[int, Request] = {}
        self.told_end = False
        self.done = False

    def send(self, what: Any) -> None:
        # Where the process has ended, reading from its pipe says so next.
        with suppress(OSError):
            self.pipe.send(what)

    def hand_out(self, most: int) -> None:
        batch = []
        while self.queue and len(self.under_way) < most:
            number, request = self.queue.popleft()
            self.under_way[number] = request
            batch.append((number, request.prompt, request.repeat, request.max_tokens))
        if batch:
            self.send(batch)

    def is_hungry(self, most: int) -> bool:
        return len(self.under_way) + len(self.queue) < most


class Workers:
    """Processes that load one model each, and share a run's prompts."""

    def __init__(self, spec: ModelSpec, decoding: Decoding, number: int) -> None:
        self._spec = spec
        self._decoding = decoding
        self._number = number
        self._workers: list[_Worker] = []
        self._at_once = 1
        self._reuse = Reuse(1)

    def start(self) -> tuple[ModelFacts, Layout]:
        """Load the model in every process.

        Raises
        ------
        StudyError
            One of them can't.
        """
        # A process that is copied from this one would share its threads' locks.
        context = get_context("spawn")
        for mine in device_groups(self._spec.arguments, self._number, os.environ):
            here, there = context.Pipe()
            given = (there, self._spec, self._decoding, mine)
            process = context.Process(target=work_off, args=given)
            process.start()
            there.close()
            self._workers.append(_Worker(process, here))
        try:
            words = [self._first_words(worker) for worker in self._workers]
        except BaseException:
            self.end()
            raise
        facts, layout = words[0]
        self._at_once = WAITING * facts.at_once
        self._reuse = Reuse(facts.block_size)
        return facts, layout

    def run(self, requests: Iterable[Request], delivery: Delivery) -> Reuse:
        """Have every request answered; return what the engines counted.

        Raises
        ------
        StudyError
            A process has ended. What was answered until then is stored.
        """
        stream, numbers = iter(requests), count()
        done: Done = []
        stored = monotonic()
        for worker in self._workers:
            worker.told_end = worker.done = False
        try:
            while not all(worker.done for worker in self._workers):
                self._hand_out(stream, numbers)
                trouble = self._collect(done)
                if trouble is not None:
                    raise StudyError(trouble)
                if done and monotonic() - stored > COMMITTED_EVERY:
                    delivery.commit(done)
                    done, stored = [], monotonic()
        except BaseException:
            # What they have under way belongs to this run.
            self.end()
            raise
        finally:
            if done:
                delivery.commit(done)
        return self._reuse.taken()

    def end(self) -> None:
        """End the processes, whatever they do."""
        for worker in self._workers:
            worker.send(CLOSE)
            worker.pipe.close()
        for worker in self._workers:
            for stop in (worker.process.terminate, worker.process.kill):
                worker.process.join(_SECONDS_TO_END)
                if worker.process.is_alive():
                    stop()
            worker.process.join()
        self._workers = []

    def _first_words(self, worker: _Worker) -> tuple[ModelFacts, Layout]:
        try:
            kind, *told = worker.pipe.recv()
        except (EOFError, OSError):
            raise StudyError(self._ended(worker)) from None
        if kind == "failed":
            raise StudyError(told[0])
        facts, layout = told
        return facts, layout

    def _hand_out(self, stream: Iterator[Request], numbers: Iterator[int]) -> None:
        """Give each process as much as it has room for."""
        ahead = sum(len(worker.queue) for worker in self._workers)
        ended = False
        while ahead < _AHEAD and any(w.is_hungry(self._at_once) for w in self._workers):
            request = next(stream, None)
            if request is None:
                ended = True
                break
            worker = self._workers[shard(request.group, self._number)]
            worker.queue.append((next(numbers), request))
            ahead += 1
        for worker in self._workers:
            worker.hand_out(self._at_once)
            if ended and not (worker.queue or worker.told_end):
                worker.told_end = True
                worker.send(END)

    def _collect(self, done: Done) -> str | None:
        """Wait a moment for answers, and add them; return why the run must stop, if so."""
        trouble = None
        pipes = {id(worker.pipe): worker for worker in self._workers if not worker.done}
        for pipe in wait([worker.pipe for worker in pipes.values()], COMMITTED_EVERY):
            worker = pipes[id(pipe)]
            try:
                kind, *told = worker.pipe.recv()
            except (EOFError, OSError):
                trouble = self._ended(worker)
                continue
            if kind == "answers":
                done += [(worker.under_way.pop(key), answer) for key, answer in told[0]]
            elif kind == "done":
                self._reuse.add(*told)
                worker.done = True
            else:
                trouble = told[0]
        return trouble

    def _ended(self, worker: _Worker) -> str:
        worker.process.join(_SECONDS_TO_END)
        code = worker.process.exitcode
        how = f"by signal {-code}" if code is not None and code < 0 else f"with status {code}"
        return (
            f"Process {self._workers.index(worker) + 1} of {self._number} has ended {how}. What "
            "was judged is kept; run the command again to go on."
        )


def shard(group: str, number: int) -> int:
    """Return which of so many processes gets the prompts of a group."""
    return int.from_bytes(sha256(group.encode()).digest()[:8]) % number


def device_groups(
    arguments: Mapping[str, Any], number: int, environment: Mapping[str, str]
) -> list[str | None]:
    """Return the GPUs of each process, as CUDA_VISIBLE_DEVICES names them; None: there are none.

    Raises
    ------
    StudyError
        There are fewer than the processes need.
    """
    each = int(arguments.get("tensor_parallel_size", 1)) * int(
        arguments.get("pipeline_parallel_size", 1)
    )
    named = environment.get("CUDA_VISIBLE_DEVICES")
    if named is None:
        names = [str(device) for device in range(_devices())]
    else:
        names = [name.strip() for name in named.split(",") if name.strip()]
    if not names:
        return [None] * number
    if len(names) < number * each:
        raise StudyError(
            f"--processes {number} with {each} GPUs each needs {number * each}, and "
            f"{len(names)} are there. Ask for fewer processes, or change tensor_parallel_size."
        )
    return [",".join(names[start * each : (start + 1) * each]) for start in range(number)]


def _devices() -> int:
    """Return the number of GPUs, without taking hold of one."""
    try:
        from vllm.platforms import current_platform
    except ImportError as error:
        raise needed(error) from error
    return 0 if current_platform.is_cpu() else int(current_platform.device_count())
