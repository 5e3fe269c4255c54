"""A run as a report shows it: what it was made with, what it did and took."""

import re
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from judge.inspect.show import show_run
from study.study import Study

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")
# Ends of names that mean something inside a network only.
_INSIDE = (".internal", ".local", ".localhost", ".lan", ".home", ".corp", ".intranet", ".invalid")

_SHOWN = (
    "begun",
    "config_hash",
    "software",
    "judgments",
    "possible",
    "missing",
    "tokens",
    "cached_share",
    "milliseconds",
)


def run_record(study: Study, name: str) -> dict[str, Any]:
    """Return what the report's section on runs is made of, as plain values for its JSON.

    Reports are passed on: of the endpoint only the host of a public provider is in it, and
    neither notes nor prices of single calls.

    Raises
    ------
    StudyError
        The study has no run of this name.
    """
    run = show_run(study, name)
    told = run.as_json()
    reasons: dict[str, int] = {}
    for construct in run.constructs:
        for reason, number in construct.missing.items():
            reasons[reason] = reasons.get(reason, 0) + number
    flags: dict[str, int] = {}
    for flag, number in run.flags.items():
        shown = without_addresses(flag)
        flags[shown] = flags.get(shown, 0) + number
    return {
        **{field: told[field] for field in _SHOWN},
        "observed": {name: without_addresses(value) for name, value in run.observed.items()},
        "flags": flags,
        "host": public_host(run.endpoint),
        "missing_by_reason": reasons,
        "constructs": [
            {
                "construct": one.construct,
                "judgments": one.judgments,
                "values": one.values,
                "missing": one.missing,
            }
            for one in run.constructs
        ],
        "served": told["served"],
        "account": told["account"],
        "calls": [
            {name: call[name] for name in call if name not in {"notes", "prices", "software"}}
            for call in told["calls"]
        ],
    }


def without_addresses(value: Any) -> Any:
    """Return a value with the public host of each address in it, or "an own server".

    Examples
    --------
    >>> without_addresses(["answered at http://gpu7:8000/v1"])
    ['answered at an own server']
    """
    if isinstance(value, str):
        return _ADDRESS.sub(lambda found: public_host(found[0]) or "an own server", value)
    if isinstance(value, list):
        return [without_addresses(one) for one in value]
    if isinstance(value, dict):
        return {without_addresses(name): without_addresses(one) for name, one in value.items()}
    return value


def public_host(endpoint: str | None) -> str | None:
    """Return the host of an address that anybody can reach; None for one's own machines.

    Examples
    --------
    >>> public_host("https://api.openai.com/v1")
    'api.openai.com'
    >>> public_host("http://gpu7.internal:8000/v1") is None
    True
    """
    host = (urlsplit(endpoint).hostname or "") if endpoint else ""
    try:
        ip_address(host)
    except ValueError:
        return host if "." in host and not host.endswith(_INSIDE) else None
    return None
