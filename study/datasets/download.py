"""A download that is bounded in size and in time, and never leaves HTTPS."""

from collections.abc import Callable
from http.client import HTTPException
from time import monotonic
from urllib.error import HTTPError
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    UnknownHandler,
)

_SILENCE_SECONDS = 30
_FILE_SECONDS = 300
_CHUNK = 1 << 16


def https_opener() -> OpenerDirector:
    """Return an opener that knows HTTPS alone, so that no redirect can lead elsewhere."""
    opener = OpenerDirector()
    for handler in (
        ProxyHandler(),  # HTTPS_PROXY and its kin, as everywhere
        UnknownHandler(),
        HTTPSHandler(),
        HTTPDefaultErrorHandler(),
        HTTPRedirectHandler(),
        HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    return opener


def download(address: str, *, size: int, advance: Callable[[int], None]) -> bytes:
    """Return what lies at `address`, cut after `size` + 1 bytes.

    `advance` is told how many bytes have come. The caller compares the digest: more than
    `size` bytes, or fewer, can't be the file that was meant.

    Raises
    ------
    OSError
        Unreachable, refused, silent for too long, or broken off.
    """
    request = Request(address, headers={"User-Agent": "ccrs-study"})  # noqa: S310  (HTTPS only)
    deadline = monotonic() + _FILE_SECONDS
    content = bytearray()
    try:
        with https_opener().open(request, timeout=_SILENCE_SECONDS) as answer:
            while len(content) <= size:
                chunk = answer.read(min(_CHUNK, size + 1 - len(content)))
                if not chunk:
                    break
                content += chunk
                advance(min(len(content), size))
                if monotonic() > deadline:
                    raise TimeoutError(f"not finished after {_FILE_SECONDS} seconds")
    except HTTPError as error:
        error.close()
        raise
    except HTTPException as error:
        raise OSError(f"the server's answer broke off ({type(error).__name__})") from error
    return bytes(content)
