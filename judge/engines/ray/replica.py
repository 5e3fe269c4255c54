"""A replica: a process of Ray with a model of vLLM, which answers as the engine `vllm` does."""

from collections import deque
from collections.abc import Sequence
from time import monotonic

from judge.engines.vllm.model_loader import DescribedModel, ModelSpec, load
from judge.engines.vllm.prefix_reuse import PrefixReuse
from judge.engines.vllm.prompt_requests import Ask, Decoding
from judge.engines.vllm.scheduler_feed import SchedulerFeed
from judge.protocol.exchange import Answer

_TURN_SECONDS = 0.5


class Replica:
    """Answers prompts in turns: those of a call are answered in it or in later ones.

    So the scheduler never runs empty between calls.
    """

    def __init__(self, spec: ModelSpec, decoding: Decoding) -> None:
        self._spec, self._decoding = spec, decoding
        self._waiting: deque[tuple[int, Ask]] = deque()
        self._feed: SchedulerFeed

    def start(self) -> DescribedModel:
        """Load the model, and describe it."""
        model = load(self._spec)
        self._feed = SchedulerFeed(self._spec.model, model, self._decoding)
        return model.described

    def work(self, asks: Sequence[tuple[int, Ask]]) -> tuple[list[tuple[int, Answer]], PrefixReuse]:
        """Take numbered prompts, work for a moment, and return answers and their token counts."""
        self._waiting.extend(asks)
        stream = (self._waiting.popleft() for _ in range(len(self._waiting)))
        answers, until = list[tuple[int, Answer]](), monotonic() + _TURN_SECONDS
        self._feed.fill(stream)
        while self._feed.busy and monotonic() < until:
            answers += self._feed.step()
            self._feed.fill(stream)
        return answers, self._feed.reuse.reset()
