"""An endpoint: an HTTP session, single requests, and short series of tries."""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import uniform
from time import monotonic, perf_counter
from types import TracebackType
from typing import Any, Self

import aiohttp

from judge.engines.openai.api_key import ApiKey
from judge.engines.openai.budget import Budget
from judge.engines.openai.connection import NO_REPLY, no_reply, proxy_to
from judge.protocol.chat_completion import Trouble, read_reply, spent_quota
from judge.protocol.exchange import TOKENS, Answer, chat_messages
from judge.protocol.logprob_distribution import ScoreTokens
from judge.text import printable

# Bytes. A longer body does not come from a judge.
_LARGEST_BODY = 4 * 1024 * 1024

FIRST_WAIT = 0.5
"""Seconds before the second try of a request; they double with each further try."""
LONGEST_WAIT = 30.0
_LONGEST_REQUESTED_WAIT = 60.0
# How servers refuse an expired key; a 400 is in `Trouble` only where it names the key.
_KEY_REFUSED = frozenset({"http_400", "http_401", "http_403"})
# A key may expire again before a prompt is sent with it.
_MOST_RENEWALS = 2


def backoff(attempt: int) -> float:
    """Return the seconds to wait after `attempt` earlier waits.

    They are random, so that the prompts under way do not all return at the same moment.
    """
    longest = min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(attempt, 20))
    return uniform(longest / 2, longest)  # noqa: S311  (nothing secret)


Reader = Callable[[int, Mapping[str, str], bytes, float], Answer | Trouble]
"""Returns what a reply means from its status, headers, body and milliseconds."""


@dataclass(frozen=True)
class Reply:
    """The result of one request."""

    result: Answer | Trouble
    wait: float | None = None
    """Seconds until a quota that this answer used up is available again."""
    body: bytes = b""


@dataclass(frozen=True)
class ListedModel:
    """A model as an endpoint lists it."""

    window: int | None
    owner: str | None = None


class UsageCounter(Counter[str]):
    """`calls`, and tokens by name; a name is present once an answer reports it."""

    def add(self, answer: Answer | None) -> None:
        """Count a call, and the tokens of its answer if there is one."""
        self["calls"] += 1
        if answer is None:
            return
        for name in TOKENS:
            count = getattr(answer, f"{name}_tokens")
            if count is not None:
                self[name] += count

    def remove(self, answer: Answer) -> None:
        """Undo the count of an answer."""
        counted = UsageCounter()
        counted.add(answer)
        self.subtract(counted)


class Endpoint:
    """Sends chat completions. Use it with `async with`."""

    def __init__(
        self,
        base_url: str,
        *,
        key: ApiKey,
        budget: Budget,
        headers: Mapping[str, str],
        system: str = "",
        timeout: float,
        connections: int,
    ) -> None:
        self.url = base_url
        self.key = key
        self._budget = budget
        self._system = system
        self._headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            **headers,
        }
        self._has_authorization = "authorization" in {name.lower() for name in headers}
        self._timeout = timeout
        self._connections = connections
        self._proxy = proxy_to(base_url)
        self._session: aiohttp.ClientSession | None = None
        self._renewing = asyncio.Lock()
        self.usage = UsageCounter()
        """All calls so far, and the tokens of their answers."""

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._connections, ttl_dns_cache=300),
            timeout=aiohttp.ClientTimeout(total=self._timeout),
            headers=self._headers,
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._session is not None:
            await self._session.close()

    async def ask(
        self, prompt: str, parameters: Mapping[str, Any], scores: ScoreTokens | None = None
    ) -> Reply:
        """Send a prompt, after the system message if there is one, once.

        With `scores`, the answer has the distribution of its score, from token probabilities. A
        prompt that is refused because of the key is sent again if there is a new key.

        Raises
        ------
        StudyError
            The prompt might exceed the largest cost of the call. Nothing else raises.
        """
        worst = await self._budget.reserve(f"{self._system}{prompt}", parameters)
        result: Answer | Trouble | None = None
        try:
            payload = {"messages": chat_messages(prompt, self._system), **parameters}
            reply = await self.post(
                "/chat/completions", payload, partial(read_reply, scores=scores)
            )
            result = reply.result
        finally:
            self._budget.settle(worst, result)
        self.usage.add(reply.result if isinstance(reply.result, Answer) else None)
        return reply

    async def post(self, path: str, payload: Mapping[str, Any], read: Reader) -> Reply:
        """Send JSON to a path of the endpoint, once, and again if there is a new key."""
        for renewals in range(_MOST_RENEWALS + 1):
            sent_at, key = monotonic(), self.key.value
            reply = await self._send(path, payload, read, key)
            refused = isinstance(reply.result, Trouble) and reply.result.reason in _KEY_REFUSED
            if not refused or renewals == _MOST_RENEWALS:
                break
            async with self._renewing:
                if not await self.key.renew(key, sent_at):
                    break
        return replace(reply, result=self.key.redaction.result(reply.result))

    async def _send(self, path: str, payload: Mapping[str, Any], read: Reader, key: str) -> Reply:
        body = json.dumps(payload, ensure_ascii=False).encode("utf-8", "replace")
        assert self._session is not None  # noqa: S101  (callers enter first)
        started = perf_counter()
        try:
            async with self._session.post(
                f"{self.url}{path}",
                data=body,
                headers=self._authorization(key),
                allow_redirects=False,
                proxy=self._proxy,
            ) as response:
                # A body that is shorter than the server announced raises.
                content = await self._body(response)
                milliseconds = (perf_counter() - started) * 1000
                if content is None:
                    return Reply(Trouble("again", "too_large", "its answer exceeds 4 MiB"))
                result = read(response.status, response.headers, content, milliseconds)
                return Reply(result, spent_quota(response.headers), content)
        except NO_REPLY as error:
            return Reply(no_reply(error, self._timeout))

    async def models(self) -> dict[str, ListedModel]:
        """Return the models that the endpoint lists; empty where it has no such list."""
        data = await self._json("GET", f"{self.url}/models")
        entries = data.get("data") if isinstance(data, dict) else None
        models: dict[str, ListedModel] = {}
        for entry in entries if isinstance(entries, list) else []:
            if isinstance(entry, dict) and isinstance(entry.get("id"), str):
                owner = entry.get("owned_by")
                owner = owner if isinstance(owner, str) else None
                models[printable(entry["id"])] = ListedModel(_window(entry), owner)
        return models

    async def number_tokens(self, model: str, numbers: Sequence[int]) -> dict[int, int] | None:
        """Return numbers by their tokens, from the tokenizer of a vLLM server.

        None where the server does not answer, or where a number has several tokens.
        """
        # Line breaks separate the numbers, so each is encoded as at the beginning of an answer.
        text = "\n".join(map(str, numbers))
        payload = {"model": model, "prompt": text, "add_special_tokens": False}
        data = await self._json("POST", f"{self.url.removesuffix('/v1')}/tokenize", payload)
        tokens = data.get("tokens") if isinstance(data, dict) else None
        if not isinstance(tokens, list) or len(tokens) != 2 * len(numbers) - 1:
            return None
        written_numbers, break_tokens = tokens[::2], set(tokens[1::2])
        if (
            len(break_tokens) > 1
            or len(set(written_numbers)) < len(numbers)
            or break_tokens & {*written_numbers}
        ):
            return None
        return dict(zip(written_numbers, numbers, strict=True))

    async def _json(self, method: str, url: str, payload: Any = None) -> Any:
        """Return the JSON of a request that is not a completion; None where there is none."""
        assert self._session is not None  # noqa: S101  (callers enter first)
        body = None if payload is None else json.dumps(payload).encode()
        try:
            async with self._session.request(
                method,
                url,
                data=body,
                headers=self._authorization(self.key.value),
                allow_redirects=False,
                proxy=self._proxy,
            ) as response:
                if response.status != 200:
                    return None
                return json.loads(await self._body(response) or b"")
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError, RecursionError):
            return None

    def _authorization(self, key: str) -> dict[str, str]:
        if not key or self._has_authorization:
            return {}
        return {"Authorization": f"Bearer {key}"}

    async def _body(self, response: aiohttp.ClientResponse) -> bytes | None:
        """Return the body; None where it is longer than any answer of a judge."""
        body = bytearray()
        async for chunk in response.content.iter_chunked(65536):
            body += chunk
            if len(body) > _LARGEST_BODY:
                return None
        # A server may echo its input; the key must not be stored.
        return self.key.redaction.body(bytes(body))


async def ask_repeatedly(
    endpoint: Endpoint, prompt: str, parameters: Mapping[str, Any], tries: int = 3
) -> Reply:
    """Send a prompt until there is an answer, or trouble that further tries do not end.

    Returns the last reply. One prompt at a time is sent in this way, so waits are not random.
    """
    return await repeatedly(lambda: endpoint.ask(prompt, parameters), tries)


async def repeatedly(send: Callable[[], Awaitable[Reply]], tries: int) -> Reply:
    """Send a request until there is an answer, or trouble that further tries do not end.

    Returns the last reply.
    """
    for attempt in range(tries):
        reply = await send()
        trouble = reply.result
        if isinstance(trouble, Answer) or trouble.kind in {"stop", "parameter"}:
            break
        if attempt + 1 < tries:
            wait = FIRST_WAIT * 2.0**attempt if trouble.wait is None else trouble.wait
            await asyncio.sleep(min(wait, _LONGEST_REQUESTED_WAIT))
    return reply


def _window(model: Mapping[str, Any]) -> int | None:
    meta = model.get("meta")
    fields = {**(meta if isinstance(meta, dict) else {}), **model}
    for name in ("max_model_len", "context_length", "context_window", "n_ctx"):
        if type(fields.get(name)) is int and fields[name] > 0:
            return int(fields[name])
    return None
