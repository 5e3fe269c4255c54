"""The engine `openai`: prompts over HTTP, as many at once as the endpoint takes."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from judge.engines.engine import Delivery, Ready
from judge.engines.engine_settings import OpenAISettings
from judge.engines.openai.capabilities import Probed, probe
from judge.engines.openai.committer import Committer
from judge.engines.openai.dispatcher import ask_all
from judge.engines.openai.endpoint import Endpoint
from judge.engines.openai.endpoint_worker import EndpointWorker
from judge.engines.openai.event_loop import run_to_end
from judge.prompts.template import PromptSet
from judge.protocol.conditions import Conditions, Run, name_of, with_shuffle
from judge.protocol.exchange import Request
from judge.protocol.logprob_distribution import ScoreTokens
from study.errors import StudyError
from study.study import Study


class OpenAIEngine:
    """Asks an endpoint for chat completions."""

    settings = OpenAISettings
    asks_now = True

    def __init__(self, settings: OpenAISettings, study: Study, prompts: PromptSet) -> None:
        if settings.base_url is None:
            raise StudyError(
                "The engine openai needs the endpoint's address: "
                "--base-url http://localhost:8000/v1"
            )
        self._study = study
        self._settings = settings
        self._prompts = prompts
        self._url = settings.base_url
        self._probed: Probed | None = None

    def start(self, sample: Sequence[str]) -> Ready:
        """Probe the endpoint; see `judge.engines.openai.capabilities`."""

        async def probed() -> Probed:
            async with self._endpoint(connections=1) as endpoint:
                found = await probe(endpoint, self._settings, self._prompts, sample, self._begun)
                return replace(found, ready=replace(found.ready, overhead=dict(endpoint.tally)))

        self._probed = run_to_end(probed())
        return self._probed.ready

    def run(self, run: Run, requests: Iterable[Request], delivery: Delivery) -> tuple[str, ...]:
        """Ask every request; a slot is free when its judgment is committed."""
        del run
        assert self._probed is not None  # noqa: S101  (start comes first)
        probed = self._probed

        async def asked() -> None:
            slots = self._settings.concurrency
            async with self._endpoint(slots, probed.scores) as endpoint:
                committer = Committer(delivery.commit)
                worker = EndpointWorker(endpoint, probed, self._settings, delivery, committer)
                try:
                    await ask_all(worker, iter(requests), committer, slots)
                finally:
                    delivery.add_overhead(worker.overhead)

        run_to_end(asked())
        return ()

    def close(self) -> None:
        """Nothing is held."""

    def _begun(self, conditions: Conditions) -> str | None:
        """Return the name of the run that was begun under these conditions."""
        # As the run will be known, once the order of its passages is added.
        shown = with_shuffle(conditions, self._settings.shuffle_passages)
        return name_of(self._study, shown, self._prompts, self._settings.repeats)

    def _endpoint(self, connections: int, scores: ScoreTokens | None = None) -> Endpoint:
        return Endpoint(
            self._url,
            key_name=self._settings.api_key_env,
            timeout=self._settings.timeout,
            connections=connections,
            scores=scores,
        )
