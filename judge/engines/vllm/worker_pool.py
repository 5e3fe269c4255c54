"""Several processes that each load the model, on separate GPUs, and share the prompts of a run.

This process hands out prompts and stores answers. The prompts of one query and context go to one
process, whose cache contains their beginning. A process does not know the study: it receives
prompts over a pipe and sends its answers back.
"""

import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from itertools import count
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from queue import Queue
from threading import Thread
from time import monotonic
from typing import Any

from judge.engines.engine import Delivery
from judge.engines.vllm.chat_layout import ChatLayout
from judge.engines.vllm.model_loader import ModelFacts, ModelSpec, load, missing_vllm
from judge.engines.vllm.prefix_reuse import PrefixReuse
from judge.engines.vllm.scheduler_feed import (
    COMMIT_SECONDS,
    LOAD_FACTOR,
    Ask,
    Decoding,
    SchedulerFeed,
)
from judge.protocol.exchange import Answer, Request
from study.errors import StudyError

# Prompts read in advance for processes that are busy, while another has room.
_READ_AHEAD = 4096
_END_SECONDS = 10.0
_SEND_SECONDS = 0.5
# Sent to a process in place of prompts: the run has no more of them; the process shall end.
_END_OF_RUN, _CLOSE = "end of run", "close"

_Answers = list[tuple[Request, Answer]]


class _Worker:
    """A process, as the pool sees it."""

    def __init__(self, process: Any, pipe: Connection) -> None:
        self.process = process
        self.pipe = pipe
        self.queue: deque[tuple[int, Request]] = deque()
        self.under_way: dict[int, Request] = {}
        self.end_sent = False
        self.done = False

    def send(self, message: Any) -> None:
        # If the process has ended, the next read from its pipe reports it.
        with suppress(OSError):
            self.pipe.send(message)

    def send_prompts(self, most: int) -> None:
        batch = []
        while self.queue and len(self.under_way) < most:
            number, request = self.queue.popleft()
            self.under_way[number] = request
            batch.append((number, Ask.of(request)))
        if batch:
            self.send(batch)

    def has_room(self, most: int) -> bool:
        return len(self.under_way) + len(self.queue) < most


class WorkerPool:
    """Processes that load one model each and share a run's prompts."""

    def __init__(self, spec: ModelSpec, decoding: Decoding, size: int) -> None:
        self._spec = spec
        self._decoding = decoding
        self._size = size
        self._workers: list[_Worker] = []
        self._most = 1
        """Prompts that one process has at once."""
        self._reuse = PrefixReuse(1)

    def start(self) -> tuple[ModelFacts, ChatLayout]:
        """Load the model in every process.

        Raises
        ------
        StudyError
            One of them cannot load it.
        """
        # A forked process would share the locks of this one's threads.
        context = get_context("spawn")
        for devices in device_groups(self._spec.arguments, self._size, os.environ):
            own_end, other_end = context.Pipe()
            process = context.Process(
                target=worker_loop, args=(other_end, self._spec, self._decoding, devices)
            )
            process.start()
            other_end.close()
            self._workers.append(_Worker(process, own_end))
        try:
            messages = [self._receive(worker) for worker in self._workers]
        except BaseException:
            self.end()
            raise
        facts, layout = messages[0][1:]
        self._most = LOAD_FACTOR * facts.scheduled
        self._reuse = PrefixReuse(facts.block_size)
        return facts, layout

    def run(self, requests: Iterable[Request], delivery: Delivery) -> PrefixReuse:
        """Have every request answered; return the token counts of all processes.

        Raises
        ------
        StudyError
            A process has ended. Its answers until then are stored.
        """
        stream, numbers = iter(requests), count()
        answers: _Answers = []
        stored = monotonic()
        for worker in self._workers:
            worker.end_sent = worker.done = False
        try:
            while not all(worker.done for worker in self._workers):
                self._distribute(stream, numbers)
                self._collect(answers)
                if answers and monotonic() - stored > COMMIT_SECONDS:
                    delivery.commit(answers)
                    answers, stored = [], monotonic()
        except BaseException:
            # The prompts that they still have belong to this run.
            self.end()
            raise
        finally:
            if answers:
                delivery.commit(answers)
        return self._reuse.reset()

    def end(self) -> None:
        """End the processes, whatever they are doing."""
        for worker in self._workers:
            worker.send(_CLOSE)
            worker.pipe.close()
        for worker in self._workers:
            for stop in (worker.process.terminate, worker.process.kill):
                worker.process.join(_END_SECONDS)
                if worker.process.is_alive():
                    stop()
            worker.process.join()
        self._workers = []

    def _distribute(self, stream: Iterator[Request], numbers: Iterator[int]) -> None:
        """Give each process as many prompts as it has room for."""
        queued = sum(len(worker.queue) for worker in self._workers)
        ended = False
        while queued < _READ_AHEAD and any(w.has_room(self._most) for w in self._workers):
            request = next(stream, None)
            if request is None:
                ended = True
                break
            worker = self._workers[shard(request.group, self._size)]
            worker.queue.append((next(numbers), request))
            queued += 1
        for worker in self._workers:
            worker.send_prompts(self._most)
            if ended and not (worker.queue or worker.end_sent):
                worker.end_sent = True
                worker.send(_END_OF_RUN)

    def _collect(self, answers: _Answers) -> None:
        """Wait a moment for answers, and add them.

        Raises
        ------
        StudyError
            A process has failed or ended, after the answers of the others are added.
        """
        error: StudyError | None = None
        by_pipe = {id(worker.pipe): worker for worker in self._workers if not worker.done}
        for pipe in wait([worker.pipe for worker in by_pipe.values()], COMMIT_SECONDS):
            worker = by_pipe[id(pipe)]
            try:
                kind, *values = self._receive(worker)
            except StudyError as raised:
                error = raised
                continue
            if kind == "answers":
                answers += [(worker.under_way.pop(key), answer) for key, answer in values[0]]
            else:
                self._reuse.add(*values)
                worker.done = True
        if error is not None:
            raise error

    def _receive(self, worker: _Worker) -> Any:
        """Return the next message of a process: its kind, and values.

        Raises
        ------
        StudyError
            The process reports a failure, or has ended.
        """
        try:
            message = worker.pipe.recv()
        except (EOFError, OSError):
            worker.process.join(_END_SECONDS)
            code = worker.process.exitcode
            how = f"by signal {-code}" if code is not None and code < 0 else f"with status {code}"
            raise StudyError(
                f"Process {self._workers.index(worker) + 1} of {self._size} has ended {how}. All "
                "answers so far are stored; run the command again to resume."
            ) from None
        if message[0] == "failed":
            raise StudyError(message[1])
        return message


def shard(group: str, size: int) -> int:
    """Return which of so many processes gets the prompts of a group."""
    return int.from_bytes(sha256(group.encode()).digest()[:8]) % size


def device_groups(
    arguments: Mapping[str, Any], size: int, environment: Mapping[str, str]
) -> list[str | None]:
    """Return the value of CUDA_VISIBLE_DEVICES for each process; None without GPUs.

    Raises
    ------
    StudyError
        The processes need more GPUs than there are.
    """
    each = int(arguments.get("tensor_parallel_size", 1)) * int(
        arguments.get("pipeline_parallel_size", 1)
    )
    visible = environment.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        names = [str(device) for device in range(_device_count())]
    else:
        names = [name.strip() for name in visible.split(",") if name.strip()]
    if not names:
        return [None] * size
    if len(names) < size * each:
        raise StudyError(
            f"--processes {size} with {each} GPUs each needs {size * each}, and {len(names)} are "
            "available. Request fewer processes, or change tensor_parallel_size."
        )
    return [",".join(names[start * each : (start + 1) * each]) for start in range(size)]


def _device_count() -> int:
    """Return the number of GPUs without allocating one."""
    try:
        from vllm.platforms import current_platform
    except ImportError as error:
        raise missing_vllm(error) from error
    return 0 if current_platform.is_cpu() else int(current_platform.device_count())


def worker_loop(pipe: Connection, spec: ModelSpec, decoding: Decoding, devices: str | None) -> None:
    """Run a process of the pool: load the model, then answer one run after the other.

    The pipe brings lists of (number, Ask), `_END_OF_RUN` after the last of
    a run, and `_CLOSE`. Sent back are tuples that begin with ready, answers, done or failed.
    """
    # Ctrl-C reaches the whole group of processes; the pool ends this one in order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if devices is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = devices
    try:
        model = load(spec)
        try:
            _send(pipe, "ready", model.facts, model.layout)
            inbox: Queue[Any] = Queue()
            # Read all the time, so that neither end waits for the other to make room.
            Thread(target=_read, args=(pipe, inbox), daemon=True).start()
            feed = SchedulerFeed(spec.model, model, decoding)
            while _answer_run(pipe, inbox, feed):
                pass
        finally:
            model.close()
    except StudyError as error:
        _send(pipe, "failed", str(error))


def _answer_run(pipe: Connection, inbox: Queue[Any], feed: SchedulerFeed) -> bool:
    """Answer the prompts of one run; return whether another may follow."""
    waiting: deque[tuple[int, Ask]] = deque()
    answers: list[tuple[int, Answer]] = []
    sent, ended = monotonic(), False
    while True:
        idle = not (feed.busy or waiting)
        while not ended and (idle or not inbox.empty()):
            batch = inbox.get()
            if batch == _CLOSE:
                feed.abort()
                return False
            idle, ended = False, batch == _END_OF_RUN
            waiting.extend(() if ended else batch)
        while waiting and feed.has_room:
            feed.add(*waiting.popleft())
        answers += feed.step()
        if answers and (monotonic() - sent > _SEND_SECONDS or not feed.busy):
            _send(pipe, "answers", answers)
            answers, sent = [], monotonic()
        if ended and not (feed.busy or waiting):
            break
    reuse = feed.reuse.reset()
    _send(pipe, "done", reuse.prompt_tokens, reuse.cached_tokens, reuse.shared_tokens)
    return True


def _read(pipe: Connection, inbox: Queue[Any]) -> None:
    while True:
        try:
            batch = pipe.recv()
        except (EOFError, OSError):
            # The pool has ended.
            os._exit(1)
        inbox.put(batch)
        if batch == _CLOSE:
            return


def _send(pipe: Connection, *message: Any) -> None:
    # If the pool has ended, the thread that reads ends this process.
    with suppress(OSError):
        pipe.send(message)
