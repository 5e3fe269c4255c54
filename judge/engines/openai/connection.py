"""The connection to a server: the proxy to it, and in words why it gave no reply."""

import asyncio
import os
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from judge.engines.openai.api_key import LOOPBACK
from judge.protocol.chat_completion import Trouble
from judge.text import printable
from study.errors import StudyError

NO_REPLY = (TimeoutError, aiohttp.ClientError, OSError, asyncio.IncompleteReadError)
"""What a request raises that gets no complete reply."""


def proxy_to(address: str) -> str | None:
    """Return the proxy that the environment names for an address; None on this machine."""
    parts = urlsplit(address)
    if parts.hostname in LOOPBACK or proxy_bypass(parts.hostname or ""):
        return None
    proxy = getproxies().get(parts.scheme)
    if proxy is not None and urlsplit(proxy).scheme not in {"http", "https"}:
        raise StudyError(
            f"The variable {parts.scheme}_proxy is not an http:// or https:// address; correct it."
        )
    return proxy


def no_reply(error: BaseException, seconds: float) -> Trouble:
    """Return what an error of `NO_REPLY` means; `seconds` is the time limit."""
    if isinstance(error, TimeoutError):
        return Trouble("again", "timeout", f"no answer within {seconds:g} s")
    if isinstance(error, aiohttp.ClientConnectorError):
        return Trouble("again", "no_connection", _connection_problem(error))
    if isinstance(error, aiohttp.ClientResponseError):
        # The error's own text contains the address of the proxy, and so perhaps a password.
        detail = printable(f"HTTP {error.status}: {error.message}")
        return Trouble("again", "connection_cut", detail)
    return Trouble("again", "connection_cut", _words(error))


def _connection_problem(error: aiohttp.ClientConnectorError) -> str:
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return f"the host {error.host} is not known"
    number = error.os_error.errno
    if isinstance(error, aiohttp.ClientSSLError) or not number or number < 0:
        return _words(error)
    return f"can't connect to {error.host}:{error.port} ({os.strerror(number)})"


def _words(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
