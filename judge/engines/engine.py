"""What an engine is and what it reports; engines are registered as entry points `ccrs.engines`."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import ClassVar, Literal, Protocol, cast, runtime_checkable

from judge.prompts.template import PromptSet
from judge.protocol.conditions import Conditions, Run
from judge.protocol.exchange import Answer, Failure, Request
from judge.run_settings import JudgeSettings
from study.entry_points import entry_points
from study.errors import StudyError, nearest
from study.schema import CallKind
from study.study import Study

GROUP = "ccrs.engines"
CommandKind = CallKind | Literal["respond"]
"""What a call is for: kinds of a judge's calls, or the answers of a reader."""
# English prose has between four and five bytes per token with common tokenizers.
_BYTES_PER_TOKEN = 4.0
# Existing answers that are stored together.
_BLOCK = 500


@dataclass(frozen=True)
class TokenCount:
    """An estimate of a prompt's tokens from its bytes: a line, fitted to counts of the server.

    Without a calibration it is a rule of thumb, and `calibrated` is False.
    """

    base: float = 0.0
    per_byte: float = 1 / _BYTES_PER_TOKEN
    calibrated: bool = False
    density: float = 1.0
    """Characters per byte of the calibration text: 1 for English, a third for Thai."""

    @classmethod
    def fitted(
        cls, short: tuple[int, int], long: tuple[int, int], density: float = 1.0
    ) -> "TokenCount":
        """Fit the line through two prompts, each given as (bytes, tokens).

        Counts that do not grow with the prompt are useless: then the rule of thumb is returned.
        """
        (short_bytes, short_tokens), (long_bytes, long_tokens) = short, long
        if long_bytes <= short_bytes or long_tokens < 1.5 * short_tokens:
            return cls()
        per_byte = (long_tokens - short_tokens) / (long_bytes - short_bytes)
        return cls(
            short_tokens - per_byte * short_bytes, per_byte, calibrated=True, density=density
        )

    def estimate(self, size: int) -> float:
        """Return the tokens of a prompt of this many bytes."""
        return max(0.0, self.base + self.per_byte * size)


class Usage:
    """Counts what an engine reports besides answers and failures; the base of deliveries."""

    def __init__(self) -> None:
        self.retries: Counter[str] = Counter()
        """Tries of a prompt beyond its first, by the reason of the failure before them."""
        self.overhead: Counter[str] = Counter()
        """Calls and tokens of the engine's own requests."""
        self.figures: dict[str, float] = {}
        """Figures that the engine measures about itself."""
        self._lock = Lock()

    def retried(self, reason: str) -> None:
        """Count a further try of a prompt, by the reason of the failure before it."""
        with self._lock:
            self.retries[reason] += 1

    def add_overhead(self, counts: Mapping[str, int]) -> None:
        """Count the engine's own requests: calls, and tokens by name where they are known."""
        with self._lock:
            self.overhead.update(counts)

    def measured(self, figures: Mapping[str, float]) -> None:
        """Store figures that the engine measured about itself."""
        with self._lock:
            self.figures.update(figures)


@dataclass(frozen=True)
class Ready:
    """What an engine has found out before the first prompt."""

    conditions: Conditions
    tokens: TokenCount
    window: int | None = None
    """Tokens that prompt and answer may have together; None if unknown."""
    answer_tokens: int = 0
    """Tokens of the window that are reserved for the answer."""
    notes: tuple[str, ...] = field(default=())
    """What the user should know, in sentences."""

    asks: bool = True
    """Whether answers arrive during the call. An engine may only write the prompts to files."""
    overhead: Mapping[str, int] = field(default_factory=dict)
    """Calls of the engine's own requests so far, and tokens by name where they are known."""
    count: Callable[[Sequence[str]], int] | None = None
    """Returns the tokens of a prompt, given in parts, with the chat template around it. None: the
    engine has no tokenizer, and tokens are estimated from bytes."""

    def fits(
        self, size: int, parts: Callable[[], Sequence[str]] | None = None, further: int = 0
    ) -> bool:
        """Return whether a prompt fits the window; True if the window is unknown.

        Parameters
        ----------
        size
            Bytes of the prompt.
        parts
            Returns its text, in parts; called only if the bytes do not decide.
        further
            Tokens that its answer may have in addition to `answer_tokens`.
        """
        if self.window is None:
            return True
        room = self.window - self.answer_tokens - further
        # No common tokenizer makes more tokens than bytes.
        if self.count is None or parts is None or size + self.tokens.base <= room:
            return self.tokens.estimate(size) <= room
        return self.count(parts()) <= room


class Delivery(Usage, ABC):
    """Receives what an engine returns. Calls may come from any thread, one at a time."""

    @abstractmethod
    def commit(self, pairs: Sequence[tuple[Request, Answer]]) -> None:
        """Store answers; return when they are on disk. Only then are their slots free."""

    @abstractmethod
    def failed(self, request: Request, failure: Failure) -> None:
        """Count a prompt without an answer; the next call asks it again."""


def deliver_in_blocks(
    delivery: Delivery, results: Iterable[tuple[Request, Answer | Failure]]
) -> None:
    """Deliver results that exist already: answers in blocks, failures one by one."""
    block: list[tuple[Request, Answer]] = []
    for request, result in results:
        if isinstance(result, Failure):
            delivery.failed(request, result)
            continue
        block.append((request, result))
        if len(block) >= _BLOCK:
            delivery.commit(block)
            block = []
    if block:
        delivery.commit(block)


class Engine(Protocol):
    """Answers prompts. Created from its settings, the study and the prompt version."""

    settings: ClassVar[type[JudgeSettings]]
    """The settings of the engine, from which the options of the command are made."""

    def __init__(self, settings: JudgeSettings, study: Study, prompts: PromptSet) -> None: ...

    def start(self, sample: Sequence[str]) -> Ready:
        """Find out under which conditions it answers; `sample` contains prompts of the study.

        Raises
        ------
        StudyError
            It cannot answer; the message says why, and what to do.
        """

    def run(self, run: Run, requests: Iterable[Request], delivery: Delivery) -> tuple[str, ...]:
        """Answer the requests, in their order where order matters; return notes for the user.

        May be called again.

        Raises
        ------
        StudyError
            The run cannot continue. Answers that were committed remain stored.
        """

    def close(self) -> None:
        """Release all resources; `run` is not called afterwards."""


@runtime_checkable
class FileEngine(Protocol):
    """An engine that writes or reads files, and so has something to do after its last prompt."""

    def finish(self, kind: CommandKind) -> tuple[str, ...]:
        """Complete the files after the last `run` of a command; return notes for the user.

        `kind` is the kind of call: probes, pairs and readers have commands of their own.
        """


def load_engine(name: str) -> type[Engine]:
    """Return the engine of this name.

    Raises
    ------
    StudyError
        The name is unknown, or the package that provides the engine cannot be loaded.
    """
    entries = {entry.name: entry for entry in entry_points(group=GROUP)}
    if name not in entries:
        hint, names = nearest(name, entries), ", ".join(sorted(entries))
        if name in {"batch", "recorded"}:
            hint = "The engine of requests and answers in files is 'files'."
        raise StudyError(f"Unknown engine {name!r}. {hint} Engines: {names}.".replace("  ", " "))
    try:
        return cast(type[Engine], entries[name].load())
    except ImportError as error:
        raise StudyError(
            f"The engine {name!r} can't be loaded ({error}). Install or update the package that "
            "provides it."
        ) from error


def registered_settings() -> dict[str, type[JudgeSettings]]:
    """Return the settings of every engine by name, without engines that cannot be loaded."""
    loaded = {}
    for name in sorted({entry.name for entry in entry_points(group=GROUP)}):
        # The error is shown when the engine is selected.
        with suppress(StudyError):
            loaded[name] = load_engine(name).settings
    return loaded
