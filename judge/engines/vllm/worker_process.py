"""A process with a model of its own: takes prompts over a pipe, and sends answers back."""

import os
import signal
from collections import deque
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import Queue
from threading import Thread
from time import monotonic
from typing import Any, Literal

from judge.engines.vllm.model_loader import ModelSpec, load
from judge.engines.vllm.scheduler_feed import Decoding, Streaming
from judge.protocol.exchange import Answer
from study.errors import StudyError

Kind = Literal["ready", "answers", "done", "failed"]
"""The first word of what a process sends."""

END, CLOSE = "end", "close"
"""What is told beside prompts: no more of this run, and no more at all."""

_SENT_EVERY = 0.5


def work_off(pipe: Connection, spec: ModelSpec, decoding: Decoding, devices: str | None) -> None:
    """Load the model, say so, and answer one run after the other until told to close.

    The pipe brings lists of (number, prompt, repeat, max_tokens), `END` after the last of a run,
    and `CLOSE`.
    """
    # Ctrl-C reaches the whole group of processes; the one that stores ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if devices is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = devices
    try:
        loaded = load(spec)
        try:
            _send(pipe, "ready", loaded.facts, loaded.layout)
            inbox: Queue[Any] = Queue()
            # Always read, so that neither end waits for the other to make room.
            Thread(target=_read, args=(pipe, inbox), daemon=True).start()
            streaming = Streaming(spec.model, loaded, decoding)
            while _answered(pipe, inbox, streaming):
                pass
        finally:
            loaded.close()
    except StudyError as error:
        _send(pipe, "failed", str(error))


def _answered(pipe: Connection, inbox: Queue[Any], streaming: Streaming) -> bool:
    """Answer the prompts of one run; tell whether another may come."""
    waiting: deque[tuple[int, str, int, int | None]] = deque()
    done: list[tuple[int, Answer]] = []
    sent, ended = monotonic(), False
    while True:
        idle = not (streaming.busy or waiting)
        while not ended and (idle or not inbox.empty()):
            batch = inbox.get()
            if batch == CLOSE:
                streaming.abort()
                return False
            idle, ended = False, batch == END
            waiting.extend(() if ended else batch)
        while waiting and streaming.has_room:
            streaming.add(*waiting.popleft())
        done += streaming.step()
        if done and (monotonic() - sent > _SENT_EVERY or not streaming.busy):
            _send(pipe, "answers", done)
            done, sent = [], monotonic()
        if ended and not (streaming.busy or waiting):
            break
    reuse = streaming.reuse.taken()
    _send(pipe, "done", reuse.prompt_tokens, reuse.cached_tokens, reuse.shared_tokens)
    return True


def _read(pipe: Connection, inbox: Queue[Any]) -> None:
    while True:
        try:
            batch = pipe.recv()
        except (EOFError, OSError):
            # Nobody is left to answer to.
            os._exit(1)
        inbox.put(batch)
        if batch == CLOSE:
            return


def _send(pipe: Connection, kind: Kind, *what: Any) -> None:
    # Where nobody is left to hear it, the thread that reads ends this process.
    with suppress(OSError):
        pipe.send((kind, *what))
