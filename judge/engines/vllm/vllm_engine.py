"""The engine `vllm`: prompts to a model in this process, streamed through its scheduler."""

from collections.abc import Iterable, Sequence

from judge.engines.engine import Delivery, Ready
from judge.engines.engine_settings import VLLMSettings
from judge.engines.vllm.model_loader import LoadedModel, load
from judge.engines.vllm.run_conditions import decoding, model_spec, ready
from judge.engines.vllm.scheduler_feed import SchedulerFeed, answer_all
from judge.prompts.template import PromptSet
from judge.protocol.conditions import Run
from judge.protocol.exchange import Request
from study.study import Study


class VLLMEngine:
    """Asks a model that vLLM runs in this process."""

    settings = VLLMSettings

    def __init__(self, settings: VLLMSettings, study: Study, prompts: PromptSet) -> None:
        self._settings = settings
        self._spec = model_spec(settings, study, prompts)
        self._decoding = decoding(settings, prompts)
        self._model: LoadedModel | None = None
        self._feed: SchedulerFeed | None = None

    def start(self, sample: Sequence[str]) -> Ready:
        """Load the model."""
        self._model = load(self._spec)
        self._feed = SchedulerFeed(self._spec.model, self._model, self._decoding)
        return ready(self._settings, self._spec, self._decoding, self._model.described, sample)

    def run(self, run: Run, requests: Iterable[Request], delivery: Delivery) -> tuple[str, ...]:
        """Keep the scheduler full, in the requests' order; store answers every second."""
        del run
        assert self._feed is not None  # noqa: S101  (start comes first)
        reuse = answer_all(self._feed, requests, delivery)
        notes = reuse.report(delivery)
        if notes and self._spec.deterministic:
            return (
                *notes,
                f"--deterministic computed {reuse.recomputed:.0%} of them; without it "
                f"{reuse.least:.0%} suffice.",
            )
        return notes

    def close(self) -> None:
        """Free the GPU's memory."""
        if self._model is not None:
            self._model.close()
