"""An encoder behind an endpoint: `/v1/embeddings` of OpenAI's protocol."""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from judge.engines.encoders.transformer_model import short_name
from judge.engines.engine_settings import OpenAISettings
from judge.engines.openai.api_key import ApiKey
from judge.engines.openai.budget import Budget
from judge.engines.openai.capabilities import unusable_endpoint
from judge.engines.openai.endpoint import Endpoint, Reply, repeatedly
from judge.engines.openai.openai_engine import run_coroutine
from judge.metrics.embedding import NOT_FINITE, Embedding
from judge.metrics.metric import MissingValue
from judge.protocol.chat_completion import Trouble, read_reply
from judge.protocol.exchange import Answer
from study.errors import StudyError

# Texts a request: the vectors of 16 texts with 4,096 numbers each stay below the largest body.
_BATCH = 16
_FIRST_TRIES = 3


class EndpointEncoder:
    """Vectors of texts from an endpoint, with the judge's client, key and waits.

    Its weights are not known here: the identity has the address, the model that answers, and the
    size of the vectors.

    Raises
    ------
    StudyError
        The endpoint can't be used.
    """

    def __init__(self, model: str, settings: OpenAISettings) -> None:
        assert settings.base_url is not None  # noqa: S101  (the caller has one)
        self._url = settings.base_url
        self._model = model
        self._settings = settings
        self._key = ApiKey(settings.base_url, settings.api_key_env, settings.api_key_command)
        self._served: str | None = None
        [first] = self.embed(["Paris is the capital of France."])
        if isinstance(first, MissingValue):
            raise StudyError(
                f"--encoder {model}: the endpoint has no vector for a plain sentence "
                f"({first.reason}). Check --base-url and the model's name."
            )
        self._size = len(first.vector)

    @cached_property
    def identity(self) -> str:
        """Address, model that answers, and size of the vectors."""
        return f"{self._url} served:{self._served} size:{self._size}"

    @cached_property
    def name(self) -> str:
        """Name of the model and the beginning of the identity's hash."""
        return short_name(self._model.rpartition("/")[2], self.identity)

    def embed(self, texts: Sequence[str]) -> list[Embedding | MissingValue]:
        """Return the vector of each text, or the reason for which the endpoint refuses the text.

        Raises
        ------
        StudyError
            The endpoint can't be used any more, or answers with something else than vectors.
        """
        return run_coroutine(self._embed(texts))

    async def _embed(self, texts: Sequence[str]) -> list[Embedding | MissingValue]:
        results: list[Embedding | MissingValue] = []
        async with Endpoint(
            self._url,
            key=self._key,
            budget=Budget(self._settings),
            headers={},
            timeout=self._settings.timeout,
            connections=1,
        ) as endpoint:
            for start in range(0, len(texts), _BATCH):
                results += await self._batch(endpoint, texts[start : start + _BATCH])
        return results

    async def _batch(
        self, endpoint: Endpoint, texts: Sequence[str]
    ) -> list[Embedding | MissingValue]:
        payload = {"model": self._model, "input": list(texts), "encoding_format": "float"}

        async def send() -> Reply:
            return await endpoint.post("/embeddings", payload, _read)

        # At the start the user waits for what may be a wrong address.
        tries = self._settings.tries if self._served else _FIRST_TRIES
        reply = await repeatedly(send, tries)
        if isinstance(reply.result, Trouble):
            raise StudyError(unusable_endpoint(self._model, reply.result, self._key.remedy))
        if reply.result.missing is None:
            served = reply.result.served_model or self._model
            if self._served not in {None, served}:
                raise StudyError(
                    f"The endpoint answers with the model {served}, and before with "
                    f"{self._served}: their vectors can't be compared. Name one of them with "
                    "--encoder."
                )
            self._served = served
            return [_embedding(entry) for entry in _entries(json.loads(reply.body), len(texts))]
        if len(texts) == 1:
            return [MissingValue(reply.result.missing)]
        # One of the texts was refused, which may be too long: each is sent alone.
        return [result for text in texts for result in await self._batch(endpoint, [text])]


def _read(
    status: int, headers: Mapping[str, str], body: bytes, milliseconds: float
) -> Answer | Trouble:
    result = read_reply(status, headers, body, milliseconds)
    # Vectors are an answer without a message.
    if isinstance(result, Trouble) and result.reason == "no_choice":
        data = json.loads(body)
        if isinstance(data.get("data"), list):
            model = data.get("model")
            return Answer("", served_model=model if isinstance(model, str) else None)
        return Trouble("stop", "no_vectors", "its answer contains no vectors")
    return result


def _entries(reply: dict[str, Any], count: int) -> list[Any]:
    """Return the entries of a reply in the order of the texts."""
    entries = reply["data"]
    if len(entries) != count or not all(isinstance(entry, dict) for entry in entries):
        raise StudyError(
            f"The endpoint returned {len(entries)} vectors for {count} texts; check that it serves "
            "a model for embeddings."
        )
    places = [entry.get("index", place) for place, entry in enumerate(entries)]
    if sorted(map(str, places)) != sorted(map(str, range(count))):
        raise StudyError(
            f"The endpoint numbered the vectors of {count} texts as {places!r:.80}; check that it "
            "serves a model for embeddings."
        )
    return [entry for _, entry in sorted(zip(map(int, places), entries, strict=True), key=_first)]


def _first(pair: tuple[int, Any]) -> int:
    return pair[0]


def _embedding(entry: Mapping[str, Any]) -> Embedding | MissingValue:
    numbers = entry.get("embedding")
    if not isinstance(numbers, list) or not numbers:
        raise StudyError(
            "The endpoint returned an entry without a vector (`embedding`, a list of numbers); "
            "check that it serves a model for embeddings."
        )
    # JSON has no NaN: some servers write null in its place.
    if not all(n is None or isinstance(n, int | float) for n in numbers):
        raise StudyError("The endpoint returned a vector with entries that are not numbers.")
    vector = np.array([np.nan if n is None else n for n in numbers], dtype=np.float64)
    if not np.isfinite(vector).all() or not vector.any():
        return MissingValue(NOT_FINITE)
    return Embedding(vector)
