"""The socket that the server listens on, and what others can reach through it."""

import socket
from ipaddress import ip_address
from urllib.parse import urlsplit

from study.errors import StudyError

_BACKLOG = 1024


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; with port 0 the system chooses a free port.

    Raises
    ------
    StudyError
        The port is in use or not allowed, or the host is not an address of this computer.
    """
    try:
        addresses = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE | socket.AI_ADDRCONFIG
        )
    except (socket.gaierror, UnicodeError):
        raise StudyError(f"--host {host}: unknown host name.") from None
    # A name such as localhost has several addresses; links use IPv4.
    family, kind, protocol, _, address = min(
        addresses, key=lambda entry: entry[0] != socket.AF_INET
    )
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise StudyError(_refused(host, port, error)) from None
    return listening


def address_of(listening: socket.socket) -> str:
    """Return the address to open in a browser, such as http://127.0.0.1:8350."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_loopback(host: str) -> bool:
    """Return whether only this computer can reach a host."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host.strip("[]").partition("%")[0]).is_loopback
    except ValueError:
        return False


def is_local(url: str) -> bool:
    """Return whether only this computer can open an address."""
    return is_loopback(urlsplit(url).hostname or "")


def reachability(listening: socket.socket, base_url: str, proxies: int) -> list[str]:
    """Return lines for the owner: who can reach the pages, and at which address."""
    host = listening.getsockname()[0]
    lines = []
    if not is_loopback(host):
        lines.append(
            f"Warning: anyone on the network can reach {address_of(listening)} without the proxy. "
            "Let a firewall admit the proxy only."
        )
    if not is_loopback(host) and is_local(base_url):
        lines.append(
            f"Links lead to {base_url}, which leads every rater to their own computer. Set "
            "rating.base_url in study.toml to the address that raters reach."
        )
    elif base_url != address_of(listening):
        lines.append(
            f"Links lead to {base_url} (rating.base_url in study.toml), which must lead to "
            f"{address_of(listening)}."
        )
    if base_url.startswith("http:") and not is_local(base_url) and is_loopback(host):
        lines.append(
            f"Warning: {base_url} is not https. Between the raters and that address, links and "
            "sessions can be read on the way."
        )
    if base_url.startswith("https:") and not proxies:
        lines.append(
            "Warning: https means that there is a reverse proxy in front; without --proxies 1 all "
            "raters share its address, and its limits."
        )
    return lines


def _refused(host: str, port: int, error: OSError) -> str:
    import errno

    if error.errno == errno.EADDRINUSE:
        return (
            f"Port {port} of {host} is in use, perhaps by another `ccrs serve`. Stop that one, or "
            "choose another port with --port and name it in rating.base_url of study.toml."
        )
    if error.errno == errno.EACCES:
        return f"Port {port} is for the system's own services; choose one above 1023 with --port."
    if error.errno == errno.EADDRNOTAVAIL:
        return f"--host {host} is not an address of this computer; 127.0.0.1 always is."
    return f"The server can't listen on {host}:{port} ({error.strerror})."
