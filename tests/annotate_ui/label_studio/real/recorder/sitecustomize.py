"""Records the calls to other machines of the Python process that has this folder on its path.

Python imports a module of this name when it starts. What is recorded are the requests to connect,
to send and to look up a name, before they are made, by any Python code of the process and of the
Python processes that it starts; a library that opens its sockets without Python is not seen.
"""

import ipaddress
import os
import sys
from typing import Any

FILE = os.environ.get("CCRS_TEST_OUTSIDE_CALLS")
_NAMES = {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"}
_ADDRESSES = {"socket.connect", "socket.sendto", "socket.sendmsg", "socket.getnameinfo"}


def host_of(event: str, arguments: tuple[Any, ...]) -> object:
    """Return the host of an audited call; None: it has none, or is no call of this kind."""
    if event in _NAMES:
        return arguments[0]
    if event in _ADDRESSES:
        address = arguments[-1]
        # Sockets of the machine itself have a path.
        return address[0] if isinstance(address, tuple) else None
    return None


def is_local(host: object) -> bool:
    """Whether this is the machine itself."""
    text = host.decode() if isinstance(host, bytes) else str(host or "")
    if text in {"", "localhost"}:
        return True
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _record(event: str, arguments: tuple[Any, ...]) -> None:
    host = host_of(event, arguments)
    if not is_local(host):
        _write(f"{event} {host}\n")


def _write(line: str) -> None:
    # Without `open`, whose own events would come here.
    file = os.open(str(FILE), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, line.encode())
    os.close(file)


if FILE:
    # An empty file says that nothing was recorded, a missing one that nothing could be.
    _write("")
    sys.addaudithook(_record)
