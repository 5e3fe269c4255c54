"""Requests to a provider's batch service, with its key, retries, and errors in words."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

import aiohttp

from judge.engines.openai.api_key import ApiKey
from judge.engines.openai.connection import no_reply, proxy_to
from judge.engines.openai.endpoint import backoff
from judge.protocol.chat_completion import Trouble, read_reply
from judge.protocol.exchange import Answer
from judge.text import printable
from study.errors import StudyError

TRIES = 5
"""How often a request is sent whose failure may pass."""
_LONGEST_WAIT = 60.0
# Seconds without a byte. A service may check an uploaded file before it replies.
_SILENCE = 300.0
_BLOCK = 1 << 20
_REFUSED_KEY = frozenset({401, 403})
# Other errors of the system, such as a full disk, concern files on this machine.
_NO_REPLY = (TimeoutError, aiohttp.ClientError, ConnectionError, asyncio.IncompleteReadError)
# Of a server that has no such address.
_ABSENT = frozenset({404, 405, 501})


class FileForm(NamedTuple):
    """A file within a form, as browsers send one."""

    path: Path
    fields: Mapping[str, str]


Body = bytes | Path | FileForm
"""The body of a request; a path is a file that is sent as it is."""


class ProviderError(StudyError):
    """A provider refused a request, or gave no complete reply; the message has the remedy."""

    def __init__(self, message: str, status: int, trouble: Trouble) -> None:
        super().__init__(message)
        self.may_pass = trouble.kind in {"again", "throttled"}
        """Whether the same request may succeed later."""
        self.may_have_effect = self.may_pass and not (
            status == 429 or trouble.reason == "no_connection"
        )
        """Whether it may have succeeded, and the answer was lost."""
        self.is_absent = status in _ABSENT
        """Whether the server has no such address."""
        self.wait = trouble.wait


class ProviderReply(NamedTuple):
    """The JSON object of a reply, and its headers."""

    data: dict[str, Any]
    headers: Mapping[str, str]


class ProviderClient:
    """Sends requests to one provider. Use it with `async with`.

    Parameters
    ----------
    base_url
        The provider's address; nothing is sent to another host.
    key
        Its key, which is removed from all that it sends.
    headers
        Headers of each request, those with the key included.
    """

    def __init__(self, base_url: str, key: ApiKey, headers: Mapping[str, str]) -> None:
        self.base_url = base_url
        self._key = key
        self._headers = headers
        self._proxy = proxy_to(base_url)
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=30, sock_read=_SILENCE),
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

    def clean(self, text: str) -> str:
        """Return a message of the provider on one line, without keys, shortened."""
        trouble = Trouble("stop", "", printable(" ".join(text.split())[:300]))
        return str(getattr(self._key.redaction.result(trouble), "detail", ""))

    async def get(self, url: str) -> ProviderReply:
        """Return what is at an address, given from the base address on or as a whole."""
        return await self.send("GET", url)

    async def send(
        self,
        method: str,
        url: str,
        body: Body | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        tries: int = TRIES,
    ) -> ProviderReply:
        """Send a request and return the reply.

        Raises
        ------
        ProviderError
            There is no reply of use after all tries.
        """

        async def once() -> ProviderReply:
            async with self._reply(method, url, body, headers) as response:
                content = self._key.redaction.body(await response.read())
                try:
                    data = json.loads(content) if content.strip() else {}
                except (ValueError, RecursionError):
                    data = None
                if not isinstance(data, dict):
                    trouble = Trouble("again", "no_json", "its reply is not a JSON object")
                    raise self._error(response.status, trouble)
                return ProviderReply(data, response.headers)

        reply: ProviderReply = await self._repeated(once, tries)
        return reply

    async def download(self, url: str, path: Path) -> None:
        """Write JSON lines from an address into a file, which gets its name when it is complete.

        Raises
        ------
        ProviderError
            The lines did not arrive as a whole after all tries.
        """
        part = path.with_name(f"{path.name}.part")

        async def once() -> None:
            async with self._reply("GET", url) as response:
                rest = b""
                with part.open("wb") as file:
                    async for block in response.content.iter_chunked(_BLOCK):
                        *lines, rest = (rest + block).split(b"\n")
                        file.writelines(self._key.redaction.body(line) + b"\n" for line in lines)
                    file.write(self._key.redaction.body(rest))
                if not _is_json(rest):
                    # Where a reply does not state its length, its end is the only sign.
                    trouble = Trouble("again", "connection_cut", "the results end within a line")
                    raise self._error(response.status, trouble)
            part.replace(path)

        try:
            await self._repeated(once, TRIES)
        finally:
            part.unlink(missing_ok=True)

    async def _repeated(self, once: Callable[[], Awaitable[Any]], tries: int) -> Any:
        for attempt in range(tries):
            try:
                return await once()
            except ProviderError as error:
                if not error.may_pass or attempt + 1 == tries:
                    raise
                await pause(error, attempt)
        raise AssertionError

    @asynccontextmanager
    async def _reply(
        self,
        method: str,
        url: str,
        body: Body | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Send a request once, and yield a reply with the status of success."""
        assert self._session is not None  # noqa: S101  (callers enter first)
        address = url if "://" in url else f"{self.base_url}{url}"
        if urlsplit(address)[:2] != urlsplit(self.base_url)[:2]:
            host = printable(urlsplit(address).netloc)
            raise StudyError(
                f"The provider names an address on another host, {host}; the key is not sent "
                "there. Check --base-url, or download the results by hand."
            )
        try:
            async with (
                _opened(body) as data,
                self._session.request(
                    method,
                    address,
                    data=data,
                    headers=headers,
                    allow_redirects=False,
                    proxy=self._proxy,
                ) as response,
            ):
                if not 200 <= response.status < 300:
                    content = self._key.redaction.body(await response.content.read(_BLOCK))
                    reply = read_reply(response.status, response.headers, content, None)
                    raise self._error(response.status, _trouble(reply, response.status))
                yield response
        except _NO_REPLY as error:
            raise self._error(0, no_reply(error, _SILENCE)) from None

    def _error(self, status: int, trouble: Trouble) -> ProviderError:
        if status in _REFUSED_KEY:
            remedy = self._key.remedy
        elif trouble.reason == "no_quota" or status == 402:
            remedy = "Pay for more, or wait for the quota, then run the command again."
        elif trouble.kind in {"again", "throttled"}:
            remedy = "Run the command again later: it continues, and submits nothing twice."
        elif status in _ABSENT:
            remedy = "Check --base-url: this server has no such address, or has deleted the file."
        else:
            remedy = "Correct what the message names, then run the command again."
        detail = self.clean(trouble.detail).rstrip(".")
        host = urlsplit(self.base_url).netloc
        return ProviderError(f"{host}: {detail}. {remedy}", status, trouble)


@asynccontextmanager
async def _opened(body: Body | None) -> AsyncIterator[Any]:
    """Yield a body as aiohttp takes it."""
    if body is None or isinstance(body, bytes):
        yield body
        return
    path = body if isinstance(body, Path) else body.path
    with path.open("rb") as file:
        if isinstance(body, Path):
            yield file
            return
        form = aiohttp.FormData(dict(body.fields))
        form.add_field("file", file, filename=path.name, content_type="application/jsonl")
        yield form


async def pause(error: ProviderError, attempt: int) -> None:
    """Wait before a further try, as long as the provider asks."""
    wait = backoff(attempt) if error.wait is None else error.wait
    await asyncio.sleep(min(wait, _LONGEST_WAIT))


def _trouble(reply: Answer | Trouble, status: int) -> Trouble:
    """Return why a request failed, also where a prompt would be at fault."""
    if isinstance(reply, Trouble):
        return reply
    return Trouble("stop", f"http_{status}", reply.text or f"HTTP {status}: refused")


def _is_json(line: bytes) -> bool:
    try:
        return not line.strip() or isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
