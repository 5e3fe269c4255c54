"""Whether a server at another address is the one of before, such as after its start by Slurm.

A model's name alone does not say so: two providers may serve other weights under one name.
"""

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

Server = tuple[str | None, Mapping[str, Any] | None]
"""Address, and what the engine observed there."""

REPORTED = ("served_model", "fingerprint")
"""What a server reports of itself, among what an engine observes."""


def is_same_server(one: Server, other: Server) -> bool:
    """Return whether two servers of one model, which accept the same, may continue each other.

    At different addresses they must report the same model and fingerprint. If they report no
    fingerprint, their hosts must also belong together: `is_same_place`.
    """
    (address, observed), (other_address, other_observed) = one, other
    if address == other_address:
        return True
    if address is None or other_address is None:
        return False
    reports = [
        tuple((each or {}).get(name) for name in REPORTED) for each in (observed, other_observed)
    ]
    if reports[0] != reports[1]:
        return False
    return reports[0][1] is not None or is_same_place(address, other_address)


def is_same_place(one: str, other: str) -> bool:
    """Return whether the hosts of two addresses are one, are both local, or differ in a first name.

    Local hosts have a private address or a name without a dot, such as the machines of a cluster.
    """
    hosts = [(urlsplit(address).hostname or "") for address in (one, other)]
    if hosts[0] == hosts[1] or all(map(_is_local, hosts)):
        return True
    if any(map(_is_local, hosts)) or any(map(_is_number, hosts)):
        return False
    domains = [host.partition(".")[2] for host in hosts]
    return domains[0] == domains[1] and "." in domains[0]


def _is_local(host: str) -> bool:
    if _is_number(host):
        address = ip_address(host)
        return address.is_private or address.is_loopback
    return "." not in host


def _is_number(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
