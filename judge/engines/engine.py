"""What an engine is, and how one is found: by its name in the entry points `ccrs.engines`."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from threading import Lock
from typing import ClassVar, Protocol, cast

from judge.prompts.template import PromptSet
from judge.protocol.conditions import Conditions, Run
from judge.protocol.exchange import Answer, Failure, Request
from judge.settings import JudgeSettings
from study.errors import StudyError, nearest
from study.study import Study

# English prose has between four and five bytes a token with the tokenizers in use.
_BYTES_A_TOKEN = 4.0


@dataclass(frozen=True)
class TokenCount:
    """An estimate of tokens from bytes: a line, fitted to what the server counted.

    Without a calibration it is a rule of thumb, and `calibrated` is False.
    """

    base: float = 0.0
    per_byte: float = 1 / _BYTES_A_TOKEN
    calibrated: bool = False
    density: float = 1.0
    """Characters a byte of the text that it was fitted to: 1 for English, a third for Thai."""

    @classmethod
    def fitted(
        cls, short: tuple[int, int], long: tuple[int, int], density: float = 1.0
    ) -> "TokenCount":
        """Fit the line through two prompts, each given as (bytes, tokens counted).

        Counts that do not grow with the prompt tell nothing: then the rule of thumb stays.
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


GROUP = "ccrs.engines"


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
    """What an engine found out before the first prompt."""

    conditions: Conditions
    tokens: TokenCount
    window: int | None = None
    """Tokens that prompt and answer may have together; None: not known."""
    answer_tokens: int = 0
    """Of these, kept free for the answer."""
    notes: tuple[str, ...] = field(default=())
    """What the user should know, in sentences."""

    asks: bool = True
    """Whether answers arrive during the call. An engine may only write the prompts to files."""
    overhead: Mapping[str, int] = field(default_factory=dict)
    """Calls of the engine's own requests so far, and tokens by name where they are known."""
    count: Callable[[Sequence[str]], int] | None = None
    """Tokens of a prompt that is made of these parts, with all that goes around it; None: the
    engine has no tokenizer, and lengths are estimated from bytes."""

    def fits(
        self, size: int, parts: Callable[[], Sequence[str]] | None = None, further: int = 0
    ) -> bool:
        """Tell whether a prompt fits the window, as far as one is known.

        Parameters
        ----------
        size
            Its bytes.
        parts
            Makes its text, in parts; asked for only where the bytes leave it open.
        further
            Tokens that its answer may have beyond `answer_tokens`.
        """
        if self.window is None:
            return True
        room = self.window - self.answer_tokens - further
        # No tokenizer in use makes more tokens than bytes.
        if self.count is None or parts is None or size + self.tokens.base <= room:
            return self.tokens.estimate(size) <= room
        return self.count(parts()) <= room


class Delivery(Protocol):
    """Where an engine hands over what came back. May be called from any one thread at a time."""

    def commit(self, pairs: Sequence[tuple[Request, Answer]]) -> None:
        """Store answers; return when they are on disk. Only then is a prompt's slot free."""

    def failed(self, request: Request, failure: Failure) -> None:
        """Count a prompt that got no answer; the next run asks it again."""

    def retried(self, reason: str) -> None:
        """Count a further try of a prompt, by the reason of the failure before it."""

    def add_overhead(self, counts: Mapping[str, int]) -> None:
        """Count the engine's own requests: calls, and tokens by name where they are known."""

    def measured(self, figures: Mapping[str, float]) -> None:
        """Store figures that the engine measured about itself."""


class Engine(Protocol):
    """Answers prompts. Made from its settings, the study and the prompt version."""

    settings: ClassVar[type[JudgeSettings]]
    """The settings that the engine takes; the options of the command are made from them."""
    asks_now: ClassVar[bool]
    """Whether a prompt that is handed over is asked now, so that probes can be."""

    def __init__(self, settings: JudgeSettings, study: Study, prompts: PromptSet) -> None: ...

    def start(self, sample: Sequence[str]) -> Ready:
        """Find out under what conditions it answers; `sample` holds some prompts of the study.

        Raises
        ------
        StudyError
            It can't answer: the message says why, and what to do.
        """

    def run(self, run: Run, requests: Iterable[Request], delivery: Delivery) -> tuple[str, ...]:
        """Answer the requests, in their order as far as it matters; return closing notes.

        May be called again.

        Raises
        ------
        StudyError
            Going on makes no sense. What was committed before stays.
        """

    def close(self) -> None:
        """Let go of what answers; nothing is asked afterwards."""


def load_engine(name: str) -> type[Engine]:
    """Return the engine of this name.

    Raises
    ------
    StudyError
        There is none, or the package that provides it cannot be loaded.
    """
    entries = {entry.name: entry for entry in entry_points(group=GROUP)}
    if name not in entries:
        known = ", ".join(sorted(entries))
        raise StudyError(
            f"There is no engine {name!r}. {nearest(name, entries)} Known: {known}.".replace(
                "  ", " "
            )
        )
    try:
        return cast(type[Engine], entries[name].load())
    except ImportError as error:
        raise StudyError(
            f"The engine {name!r} can't be loaded ({error}). Install or update the package that "
            "provides it."
        ) from error


def registered_settings() -> dict[str, type[JudgeSettings]]:
    """Return the settings of every engine by its name; an engine that can't be loaded has none."""
    loaded = {}
    for name in sorted({entry.name for entry in entry_points(group=GROUP)}):
        # `load_engine` names the problem when that engine is asked for.
        with suppress(StudyError):
            loaded[name] = load_engine(name).settings
    return loaded
