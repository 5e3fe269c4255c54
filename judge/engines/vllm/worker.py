"""A process with a model of its own: takes prompts over a pipe, and sends answers back."""

import os
import signal
from collections import deque
from multiprocessing.connection import Connection
from queue import Queue
from threading import Thread
from time import monotonic
from typing import Any, Literal

from judge.answers import Answer
from judge.engines.vllm.loading import ModelSpec, load
from judge.engines.vllm.streaming import Decoding, Streaming
from study.errors import StudyError

Kind = Literal["ready", "answers", "done", "failed"]
"""The first word of what a process sends."""

_SENT_EVERY = 0.5


def work_off(pipe: Connection, spec: ModelSpec, decoding: Decoding, devices: str | None) -> None:
    """Load the model, say so, and answer until told that no prompt is left.

    What comes are lists of (number, prompt, repeat), and None at the end.
    """
    # Ctrl-C reaches the whole group of processes; the one that stores ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if devices is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = devices
    try:
        loaded = load(spec)
        try:
            _send(pipe, "ready", loaded.facts, loaded.layout)
            _answer(pipe, Streaming(spec.model, loaded, decoding))
        finally:
            loaded.close()
    except StudyError as error:
        _send(pipe, "failed", str(error))


def _answer(pipe: Connection, streaming: Streaming) -> None:
    inbox: Queue[Any] = Queue()
    # Always read, so that neither end waits for the other to make room.
    Thread(target=_read, args=(pipe, inbox), daemon=True).start()
    waiting: deque[tuple[int, str, int]] = deque()
    done: list[tuple[int, Answer]] = []
    sent, ended = monotonic(), False
    while True:
        idle = not (streaming.busy or waiting)
        while not ended and (idle or not inbox.empty()):
            batch = inbox.get()
            idle, ended = False, batch is None
            waiting.extend(batch or ())
        while waiting and streaming.has_room:
            streaming.add(*waiting.popleft())
        done += streaming.step()
        if done and (monotonic() - sent > _SENT_EVERY or not streaming.busy):
            _send(pipe, "answers", done)
            done, sent = [], monotonic()
        if ended and not (streaming.busy or waiting):
            break
    reuse = streaming.reuse
    _send(pipe, "done", reuse.prompt_tokens, reuse.cached_tokens, reuse.shared_tokens)


def _read(pipe: Connection, inbox: Queue[Any]) -> None:
    while True:
        try:
            batch = pipe.recv()
        except (EOFError, OSError):
            # Nobody is left to answer to.
            os._exit(1)
        inbox.put(batch)
        if batch is None:
            return


def _send(pipe: Connection, kind: Kind, *what: Any) -> None:
    pipe.send((kind, *what))
