"""An endpoint: one HTTP session, and one attempt at one prompt."""

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from judge.engines.openai.endpoint_usage import Tally
from judge.protocol.chat_completion import Trouble, read_reply, spent_quota
from judge.protocol.exchange import Answer
from judge.protocol.logprob_distribution import ScoreTokens
from judge.text import printable
from study.errors import StudyError

_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
# No answer of a judge is longer; what is, comes from something else than a judge.
_LARGEST = 4 * 1024 * 1024


@dataclass(frozen=True)
class Reply:
    """What came of one attempt."""

    said: Answer | Trouble
    wait: float | None = None
    """Seconds until a quota that this answer used up is there again."""
    body: bytes = b""


@dataclass(frozen=True)
class Listed:
    """A model as an endpoint lists it."""

    window: int | None
    owner: str | None = None


class Endpoint:
    """Sends chat completions. Use it with `async with`.

    With `scores`, answers have the distribution of the score that their token probabilities tell.
    """

    def __init__(
        self,
        base_url: str,
        *,
        key_name: str,
        timeout: float,
        connections: int,
        scores: ScoreTokens | None = None,
    ) -> None:
        self.url = self._base = base_url
        self._scores = scores
        self._headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            **_authorization(base_url, key_name),
        }
        authorization = self._headers.get("Authorization", "")
        self._key = authorization.removeprefix("Bearer ").encode()
        self._timeout = timeout
        self._connections = connections
        self._proxy = _proxy(base_url)
        self._session: aiohttp.ClientSession | None = None
        self.tally = Tally()
        """All that it was asked, and what its answers took."""

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

    async def ask(self, prompt: str, parameters: Mapping[str, Any]) -> Reply:
        """Send one prompt as the only message, and say what came of it. Never raises."""
        reply = await self._asked(prompt, parameters)
        self.tally.add(reply.said if isinstance(reply.said, Answer) else None)
        return reply

    async def _asked(self, prompt: str, parameters: Mapping[str, Any]) -> Reply:
        body = json.dumps(
            {"messages": [{"role": "user", "content": prompt}], **parameters},
            ensure_ascii=False,
        ).encode("utf-8", "replace")
        assert self._session is not None  # noqa: S101  (callers enter first)
        started = perf_counter()
        try:
            async with self._session.post(
                f"{self._base}/chat/completions",
                data=body,
                allow_redirects=False,
                proxy=self._proxy,
            ) as response:
                # The whole body, whose length the server promised; a cut one raises.
                content = await self._body(response)
                spent = (perf_counter() - started) * 1000
                if content is None:
                    return Reply(Trouble("again", "too_large", "its answer exceeds 4 MiB"))
                said = read_reply(response.status, response.headers, content, spent, self._scores)
                return Reply(said, spent_quota(response.headers), content)
        except TimeoutError:
            detail = f"no answer within {self._timeout:g} s"
            return Reply(Trouble("again", "timeout", detail))
        except aiohttp.ClientConnectorError as error:
            return Reply(Trouble("again", "no_connection", _unreached(error)))
        except aiohttp.ClientResponseError as error:
            # Its own words hold the proxy's address, and a password with it.
            detail = printable(f"HTTP {error.status}: {error.message}")
            return Reply(Trouble("again", "connection_cut", detail))
        except (aiohttp.ClientError, OSError, asyncio.IncompleteReadError) as error:
            return Reply(Trouble("again", "connection_cut", _words(error)))

    async def models(self) -> dict[str, Listed]:
        """Return the models that the endpoint lists, with their windows where it says them.

        An endpoint without such a list has none; that is no trouble.
        """
        data = await self._json("GET", f"{self._base}/models")
        listed = data.get("data") if isinstance(data, dict) else None
        found: dict[str, Listed] = {}
        for model in listed if isinstance(listed, list) else []:
            if isinstance(model, dict) and isinstance(model.get("id"), str):
                owner = model.get("owned_by")
                owner = owner if isinstance(owner, str) else None
                found[printable(model["id"])] = Listed(_window(model), owner)
        return found

    async def number_tokens(self, model: str, numbers: Sequence[int]) -> dict[int, int] | None:
        """Return numbers by their tokens, as vLLM's own address tells them.

        None where it does not tell them, or where a number takes several tokens.
        """
        # Between line breaks each number is by itself, as at the beginning of an answer.
        text = "\n".join(map(str, numbers))
        asked = {"model": model, "prompt": text, "add_special_tokens": False}
        data = await self._json("POST", f"{self._base.removesuffix('/v1')}/tokenize", asked)
        tokens = data.get("tokens") if isinstance(data, dict) else None
        if not isinstance(tokens, list) or len(tokens) != 2 * len(numbers) - 1:
            return None
        apart, between = tokens[::2], set(tokens[1::2])
        if len(between) > 1 or len(set(apart)) < len(numbers) or between & set(apart):
            return None
        return dict(zip(apart, numbers, strict=True))

    async def _json(self, method: str, url: str, asked: Any = None) -> Any:
        """Return what a call beside the completions says; None where it says nothing."""
        assert self._session is not None  # noqa: S101  (callers enter first)
        body = None if asked is None else json.dumps(asked).encode()
        try:
            async with self._session.request(
                method, url, data=body, allow_redirects=False, proxy=self._proxy
            ) as response:
                if response.status != 200:
                    return None
                return json.loads(await self._body(response) or b"")
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError, RecursionError):
            return None

    async def _body(self, response: aiohttp.ClientResponse) -> bytes | None:
        """Return the body; None where it is longer than any answer is."""
        body = bytearray()
        async for chunk in response.content.iter_chunked(65536):
            body += chunk
            if len(body) > _LARGEST:
                return None
        # A server may echo what it was sent; the key is stored nowhere.
        return bytes(body).replace(self._key, b"[key]") if self._key else bytes(body)


def _window(model: Mapping[str, Any]) -> int | None:
    meta = model.get("meta")
    places = {**(meta if isinstance(meta, dict) else {}), **model}
    for name in ("max_model_len", "context_length", "context_window", "n_ctx"):
        if type(places.get(name)) is int and places[name] > 0:
            return int(places[name])
    return None


def _authorization(base_url: str, key_name: str) -> dict[str, str]:
    key = os.environ.get(key_name, "").strip()
    if not key:
        return {}
    if any(ord(character) < 33 or ord(character) > 126 for character in key):
        raise StudyError(f"The key in {key_name} holds a blank or a character that no key has.")
    parts = urlsplit(base_url)
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        raise StudyError(
            f"The key in {key_name} would go to {parts.hostname} unencrypted. Use an https:// "
            "address, or name an empty variable with --api-key-env if that server needs no key."
        )
    return {"Authorization": f"Bearer {key}"}


def _proxy(base_url: str) -> str | None:
    parts = urlsplit(base_url)
    if parts.hostname in _LOOPBACK or proxy_bypass(parts.hostname or ""):
        return None
    proxy = getproxies().get(parts.scheme)
    if proxy is not None and urlsplit(proxy).scheme not in {"http", "https"}:
        raise StudyError(
            f"The environment's {parts.scheme}_proxy is no http:// or https:// address; correct it."
        )
    return proxy


def _unreached(error: aiohttp.ClientConnectorError) -> str:
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return f"the host {error.host} is not known"
    number = error.os_error.errno
    if isinstance(error, aiohttp.ClientSSLError) or not number or number < 0:
        return _words(error)
    return f"can't connect to {error.host}:{error.port} ({os.strerror(number)})"


def _words(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
