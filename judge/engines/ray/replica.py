"""A replica: a process of Ray with a model of vLLM, which answers as the engine `vllm` does."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import monotonic

from judge.engines.vllm.model_loader import DescribedModel, LoadedModel, ModelSpec, load
from judge.engines.vllm.prefix_reuse import PrefixReuse
from judge.engines.vllm.prompt_requests import Ask, Decoding
from judge.engines.vllm.scheduler_feed import SchedulerFeed
from judge.protocol.exchange import Answer
from study.errors import StudyError

_TURN_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Turn:
    """What a replica has done in a call."""

    answers: Sequence[tuple[int, Answer]]
    """By the numbers of the prompts, which may be of earlier calls."""
    counts: PrefixReuse


class Replica:
    """Answers prompts in turns: those of a call are answered in it or in later ones.

    So the scheduler never runs empty between calls. A reason in words is returned, not raised:
    Ray would put its own report around it.
    """

    def __init__(self, spec: ModelSpec, decoding: Decoding) -> None:
        self._spec = spec
        self._decoding = decoding
        self._model: LoadedModel | None = None
        self._feed: SchedulerFeed | None = None
        self._waiting: deque[tuple[int, Ask]] = deque()

    def start(self) -> DescribedModel | str:
        """Load the model; return its description, or why it can't be loaded."""
        try:
            self._model = load(self._spec)
        except StudyError as error:
            return str(error)
        self._feed = SchedulerFeed(self._spec.model, self._model, self._decoding)
        return self._model.described

    def work(self, asks: Sequence[tuple[int, Ask]]) -> Turn | str:
        """Take prompts, and work for a moment; return the answers, or why the engine stopped."""
        assert self._feed is not None  # noqa: S101  (start comes first)
        feed, answers = self._feed, list[tuple[int, Answer]]()
        self._waiting.extend(asks)
        stream, until = self._asks(), monotonic() + _TURN_SECONDS
        try:
            feed.fill(stream)
            while feed.busy and monotonic() < until:
                answers += feed.step()
                feed.fill(stream)
        except StudyError as error:
            return str(error)
        return Turn(answers, feed.reuse.reset())

    def stop(self) -> None:
        """Free the GPU's memory."""
        if self._model is not None:
            self._model.close()

    def _asks(self) -> Iterator[tuple[int, Ask]]:
        while self._waiting:
            yield self._waiting.popleft()
