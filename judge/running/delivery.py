"""Where engines hand over answers: one class for runs, estimates, probes and drift."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Protocol

from judge.engines.engine import Usage
from judge.protocol.exchange import TOKENS, Answer, Failure, Request
from judge.running.metric_requests import MetricRequest
from judge.running.prompt_sample import Name, name_of

_EXAMPLES = 3


@dataclass(frozen=True)
class RunProgress:
    """How far a call has come."""

    answered: int
    failed: int
    total: int
    """Prompts to ask as far as they are known: steps that follow add theirs."""
    tokens: int
    """Prompt and completion tokens that the server counted."""


Reached = Callable[[RunProgress], None]


class AnswerStore(Protocol):
    """What stores answers."""

    def commit(self, pairs: Sequence[tuple[MetricRequest, Answer]]) -> int:
        """Store answers; return the number of judgments that they decide, once on disk."""


class AnswerDelivery(Usage):
    """Stores the answers of one call, and counts them."""

    def __init__(
        self,
        store: AnswerStore,
        total: int = 0,
        reached: Reached | None = None,
        *,
        sample: bool = False,
    ) -> None:
        super().__init__()
        self._store = store
        self._reached = reached
        self._sample = sample
        self._counting = Lock()
        self._unanswered: set[tuple[str, int, int]] = set()
        self.total = total
        """Prompts to ask, as far as they are known."""
        self.sampled: dict[Name, Answer] = {}
        """Answers by prompt, where they are a sample of a run."""
        self.answered = 0
        self.judged = 0
        self.failures: Counter[str] = Counter()
        self.failed_prompts: set[tuple[str, int]] = set()
        """Prompts (hash, repeat) that got no answer in this call."""
        self.examples: list[str] = []
        """The first failure of each kind, in the words of the server."""
        self.tokens: Counter[str] = Counter()
        """Of the answers, by name; a name is there once an answer has it."""
        self.uncounted = 0
        """Answers whose prompt tokens are not known."""

    @property
    def unanswered(self) -> int:
        """Judgments that wait for prompts that failed, and that the run has in no form."""
        return len(self._unanswered)

    def commit(self, pairs: Sequence[tuple[Request, Answer]]) -> None:
        """Store answers; return when they are on disk."""
        own = [(_own(request), answer) for request, answer in pairs]
        judged = self._store.commit(own)
        with self._counting:
            self.judged += judged
            for request, answer in own:
                if self._sample:
                    self.sampled[name_of(request)] = answer
                self.answered += 1
                self.uncounted += answer.prompt_tokens is None
                for name in TOKENS:
                    count = getattr(answer, f"{name}_tokens")
                    if count is not None:
                        self.tokens[name] += count
        self._report()

    def failed(self, request: Request, failure: Failure) -> None:
        """Count a prompt that got no answer; the next run asks it again."""
        own = _own(request)
        with self._counting:
            if failure.reason not in self.failures and len(self.examples) < _EXAMPLES:
                self.examples.append(f"{failure.reason}: {failure.detail}")
            self.failures[failure.reason] += 1
            self.failed_prompts.add((own.prompt_hash, own.repeat))
            self._unanswered |= {
                (own.construct_key, own.repeat, response)
                for response, attempt in zip(own.response_ids, own.attempts, strict=True)
                if attempt == 1
            }
        self._report()

    def _report(self) -> None:
        if self._reached is not None:
            spent = self.tokens["prompt"] + self.tokens["completion"]
            self._reached(RunProgress(self.answered, self.failures.total(), self.total, spent))


def _own(request: Request) -> MetricRequest:
    assert isinstance(request, MetricRequest)  # noqa: S101  (engines hand back what they got)
    return request
