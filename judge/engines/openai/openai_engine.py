"""The engine `openai`: prompts over HTTP, as many at once as the endpoints take."""

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace

from judge.engines.engine import Delivery, Ready
from judge.engines.openai.capabilities import Probed, probe
from judge.engines.openai.committer import Committer
from judge.engines.openai.dispatcher import Asking
from judge.engines.openai.endpoint import Endpoint
from judge.engines.openai.endpoint_agreement import together
from judge.engines.openai.endpoint_worker import Lane
from judge.engines.openai.event_loop import run_to_end
from judge.prompts.prompt_set import PromptSet
from judge.protocol.conditions import Conditions, Run, name_of, with_shuffle
from judge.protocol.logprob_distribution import ScoreTokens
from judge.protocol.request import Request
from judge.settings import JudgeSettings
from study.errors import StudyError
from study.study import Study


class OpenAIEngine:
    """Asks one endpoint that speaks OpenAI's chat completions, or several that serve one model."""

    def __init__(self, settings: JudgeSettings, study: Study, prompts: PromptSet) -> None:
        settings.refuse("answers", "requests", "revision", "structured", "processes")
        if not settings.addresses:
            raise StudyError(
                "The engine openai needs the endpoint's address: "
                "--base-url http://localhost:8000/v1"
            )
        self._study = study
        self._settings = settings
        self._prompts = prompts
        self._probed: dict[str, Probed] = {}
        self._known_as = settings.addresses[0]
        """The address that the run is known by."""

    def start(self, sample: Sequence[str]) -> Ready:
        """Probe the endpoints; see `judge.engines.openai.capabilities` and `.together`."""

        async def probed(url: str) -> Probed | StudyError:
            try:
                async with self._endpoint(url, connections=1) as endpoint:
                    one = await probe(endpoint, self._settings, self._prompts, sample, self._begun)
                    return replace(one, ready=replace(one.ready, spent=dict(endpoint.tally)))
            except StudyError as error:
                return error

        async def all_probed() -> list[Probed | StudyError]:
            return await asyncio.gather(*(probed(url) for url in self._settings.addresses))

        found = dict(zip(self._settings.addresses, run_to_end(all_probed()), strict=True))
        self._probed = {url: one for url, one in found.items() if isinstance(one, Probed)}
        without = {url: one for url, one in found.items() if isinstance(one, StudyError)}
        if not self._probed:
            raise next(iter(without.values()))
        ready = together({url: one.ready for url, one in self._probed.items()}, without)
        self._known_as = next(
            (url for url in self._settings.addresses if self._begun_at(ready.conditions, url)),
            self._settings.addresses[0],
        )
        return replace(ready, conditions=replace(ready.conditions, endpoint=self._known_as))

    def run(self, run: Run, requests: Iterable[Request], delivery: Delivery) -> tuple[str, ...]:
        """Ask every request; a slot is free when its judgment is committed."""
        del run
        connections = self._settings.concurrency

        async def asked() -> tuple[str, ...]:
            async with AsyncExitStack() as stack:
                committer = Committer(delivery.commit)
                lanes = []
                for url, one in self._probed.items():
                    endpoint = self._endpoint(url, connections, one.scores)
                    await stack.enter_async_context(endpoint)
                    lanes.append(self._lane(endpoint, one, delivery, committer))
                asking = Asking(lanes, committer, connections)
                try:
                    await asking.all(iter(requests))
                finally:
                    for lane in lanes:
                        delivery.spent(lane.beside)
                return tuple(asking.notes)

        return run_to_end(asked())

    def close(self) -> None:
        """Nothing is held."""

    def _lane(
        self, endpoint: Endpoint, probed: Probed, delivery: Delivery, committer: Committer
    ) -> Lane:
        leader = self._settings.leader
        return Lane(
            endpoint,
            probed,
            self._settings,
            delivery,
            committer,
            leads=probed.leads if leader == "auto" else leader == "on",
            mark=None if endpoint.url == self._known_as else f"answered at {endpoint.url}",
        )

    def _begun(self, conditions: Conditions) -> str | None:
        """Return the name of the run that was begun under these conditions at any address."""
        names = (self._begun_at(conditions, url) for url in self._settings.addresses)
        return next((name for name in names if name is not None), None)

    def _begun_at(self, conditions: Conditions, url: str) -> str | None:
        # As the run will be known, once the order of its passages is added.
        there = replace(conditions, endpoint=url)
        shown = with_shuffle(there, self._settings.shuffle_passages)
        return name_of(self._study, shown, self._prompts, self._settings.repeats)

    def _endpoint(self, url: str, connections: int, scores: ScoreTokens | None = None) -> Endpoint:
        return Endpoint(
            url,
            key_name=self._settings.api_key_env,
            timeout=self._settings.timeout,
            connections=connections,
            scores=scores,
        )
