"""The engine `vllm`: prompts to a model on this machine, streamed through its scheduler."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from judge.engines.engine import Delivery, Ready, TokenCount
from judge.engines.engine_settings import VLLMSettings
from judge.engines.vllm.chat_layout import DATE, ChatLayout
from judge.engines.vllm.engine_arguments import check_arguments, of_identity
from judge.engines.vllm.model_loader import LoadedModel, ModelFacts, ModelSpec, load, read_template
from judge.engines.vllm.scheduler_feed import Decoding, SchedulerFeed, answer_all
from judge.engines.vllm.worker_pool import WorkerPool
from judge.prompts.template import PromptSet
from judge.protocol.conditions import Conditions, Run
from judge.protocol.exchange import Request
from study.errors import StudyError
from study.study import Study

# Parts of a prompt that are encoded separately may differ from the whole by so many tokens.
_NEAR = 64


class VLLMEngine:
    """Asks a model that vLLM runs here: in this process, or in several that share the prompts."""

    settings = VLLMSettings
    asks_now = True

    def __init__(self, settings: VLLMSettings, study: Study, prompts: PromptSet) -> None:
        if settings.model is None:
            raise StudyError(
                "Name the model that judges, with --model: a folder, or a name on the hub."
            )
        if settings.structured and not prompts.schemas:
            raise StudyError(
                f"--structured leaves no room for the reason that {prompts.name} asks for. Leave "
                "it out, or ask for reason and score as fields of an object."
            )
        arguments = dict(study.config.judge.vllm)
        check_arguments(arguments)
        self._settings = settings
        self._spec = ModelSpec(
            settings.model,
            settings.revision,
            settings.window,
            settings.seed or 0,
            arguments,
            read_template(arguments, study.folder),
            tuple(prompts.score_scales),
            prompts.system,
        )
        temperature = settings.temperature
        self._decoding = Decoding(
            prompts.temperature if temperature is None else temperature,
            settings.max_tokens or prompts.max_tokens,
            settings.seed,
            settings.structured,
        )
        self._model: LoadedModel | None = None
        self._feed: SchedulerFeed | None = None
        self._pool: WorkerPool | None = None

    def start(self, sample: Sequence[str]) -> Ready:
        """Load the model, in as many processes as the settings request."""
        if self._settings.processes > 1:
            self._pool = WorkerPool(self._spec, self._decoding, self._settings.processes)
            facts, layout = self._pool.start()
        else:
            self._model = load(self._spec)
            self._feed = SchedulerFeed(self._spec.model, self._model, self._decoding)
            facts, layout = self._model.facts, self._model.layout
        return Ready(
            Conditions(
                engine="vllm",
                model=self._spec.model,
                model_revision=self._spec.revision,
                decoding=self._identity(facts),
                seed=self._settings.seed,
                observed=facts.observed,
            ),
            _token_count(layout, sample),
            window=facts.window,
            answer_tokens=self._decoding.max_tokens,
            count=_prompt_counter(layout, facts.window - self._decoding.max_tokens),
        )

    def run(self, run: Run, requests: Iterable[Request], delivery: Delivery) -> tuple[str, ...]:
        """Keep the scheduler full, in the requests' order; store answers every second."""
        del run
        if self._pool is not None:
            reuse = self._pool.run(requests, delivery)
        else:
            assert self._feed is not None  # noqa: S101  (start comes first)
            reuse = answer_all(self._feed, requests, delivery)
        if not reuse.prompt_tokens:
            return ()
        delivery.measured({"recomputed": reuse.recomputed, "least_recomputed": reuse.least})
        return (reuse.line(),)

    def close(self) -> None:
        """Free the GPU's memory."""
        if self._pool is not None:
            self._pool.end()
        if self._model is not None:
            self._model.close()

    def _identity(self, facts: ModelFacts) -> dict[str, Any]:
        return {
            "temperature": self._decoding.temperature,
            "max_tokens": self._decoding.max_tokens,
            "structured": self._decoding.structured,
            "chat_template_sha256": facts.template_hash,
            "chat_template_date": DATE,
            **of_identity(self._spec.arguments),
        }


def _prompt_counter(layout: ChatLayout, room: int) -> Any:
    """Return a function that counts the tokens of a prompt, exactly where it nearly fills a room.

    Otherwise the counts of its parts are added, and reused: the passages of a context are a part
    of many prompts.
    """
    cached_size = lru_cache(maxsize=32)(lambda part: len(layout.text(part)))
    around = layout.around

    def count(parts: Sequence[str]) -> int:
        size = around + sum(map(cached_size, parts))
        return len(layout.tokens("".join(parts))) if abs(size - room) <= _NEAR else size

    return count


def _token_count(layout: ChatLayout, sample: Sequence[str]) -> TokenCount:
    around = layout.around
    sizes = [(len(prompt.encode()), len(layout.text(prompt))) for prompt in sample]
    if not sizes or not all(size for size, _ in sizes):
        return TokenCount(base=around)
    # The densest prompt of the sample: prompts that seem to fit by it are counted exactly.
    per_byte = max(tokens / size for size, tokens in sizes)
    return TokenCount(base=around, per_byte=per_byte, calibrated=True)
