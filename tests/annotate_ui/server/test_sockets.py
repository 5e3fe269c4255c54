"""The socket, and the lines for the owner about who can reach it."""

import socket

import pytest

from annotate_ui.server.sockets import address_of, is_loopback, listen, reachability
from study import StudyError


def test_a_free_port_is_taken_and_reported() -> None:
    with listen("127.0.0.1", 0) as first, listen("localhost", 0) as second:
        assert address_of(first) == f"http://127.0.0.1:{first.getsockname()[1]}"
        assert first.getsockname()[1] != second.getsockname()[1]
        assert second.family == socket.AF_INET, "links lead to 127.0.0.1"
        with pytest.raises(StudyError, match="is in use"):
            listen("127.0.0.1", first.getsockname()[1])


def test_ipv6_is_in_brackets() -> None:
    try:
        listening = listen("::1", 0)
    except StudyError:
        # A container may have none, as in CI.
        pytest.skip("this machine has no IPv6")
    with listening:
        assert address_of(listening) == f"http://[::1]:{listening.getsockname()[1]}"


def test_an_invalid_host_is_named() -> None:
    with pytest.raises(StudyError, match="unknown host name"):
        listen("no-such-host.invalid", 0)


@pytest.mark.parametrize(
    ("host", "alone"),
    [
        ("127.0.0.1", True),
        ("127.1.2.3", True),
        ("::1", True),
        ("[::1]", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.0.2.7", False),
        ("rate.example.org", False),
        ("localhost.example.org", False),
    ],
)
def test_loopback_is_known(host: str, alone: bool) -> None:
    assert is_loopback(host) == alone


def test_the_owner_is_warned_about_unreachable_links() -> None:
    with listen("127.0.0.1", 0) as alone, listen("0.0.0.0", 0) as everybody:
        address = address_of(alone)
        assert reachability(alone, address, 0) == []
        (elsewhere,) = reachability(alone, "http://127.0.0.1:1", 0)
        assert elsewhere.startswith("Links lead to http://127.0.0.1:1 ")
        assert address in elsewhere
        links, proxy = reachability(alone, "https://rate.example.org", 0)
        assert links.startswith("Links lead to https://rate.example.org")
        assert "--proxies 1" in proxy
        assert len(reachability(alone, "https://rate.example.org", 1)) == 1
        assert "is not https" in reachability(alone, "http://rate.example.org", 1)[1]
        assert (
            "leads every rater to their own computer"
            in reachability(everybody, "http://127.0.0.1:1", 0)[1]
        )
        assert reachability(everybody, "https://rate.example.org", 1)[0].startswith(
            "Warning: anyone"
        )
