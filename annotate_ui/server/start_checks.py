"""Checks before the server starts: addresses that others reach."""

from pathlib import Path

from annotate_ui.server.sockets import is_local, is_loopback
from study.errors import StudyError
from study.study import Study


def check_behind_proxy(host: str, *, proxies: int) -> None:
    """Refuse to serve other computers directly.

    Without TLS, links and sessions can be read on the way; and a few hundred connections that
    send a byte now and then take all places, which a reverse proxy prevents.

    Raises
    ------
    StudyError
        `host` is not an address of this computer only, and no proxy is named.
    """
    if not proxies and not is_loopback(host):
        raise StudyError(
            f"--host {host} is an address that other computers reach, and the server must not be "
            "reached directly: links and sessions could be read on the way, and slow connections "
            "could stop it. Leave --host out and put a reverse proxy with https in front "
            "(`ccrs help serving`); if the proxy runs on another computer, add --proxies 1."
        )


def check_public(study: Study, *, proxies: int, secret_file: Path | None) -> None:
    """Refuse to serve pages on the internet without TLS, a proxy and a secret that is kept.

    Raises
    ------
    StudyError
        Names everything that is missing, each with the remedy.
    """
    base_url = study.config.rating.base_url
    missing = []
    if not base_url.startswith("https:") or is_local(base_url):
        missing.append(
            f"rating.base_url in study.toml is {base_url}; name the https address that raters open."
        )
    if not proxies:
        missing.append("No reverse proxy is named. TLS ends there; give their number: --proxies 1.")
    if secret_file is None:
        missing.append(
            "No secret file is named. Sessions are signed with the secret, and end when it is "
            "lost with a container or a machine: --secret-file FILE."
        )
    elif not secret_file.exists():
        missing.append(
            f"{secret_file} does not exist. Create it once, readable by you only: "
            f"(umask 077; head -c 32 /dev/urandom > {secret_file})"
        )
    if missing:
        lines = "\n".join(f"  {text}" for text in missing)
        raise StudyError(f"Not ready for the internet:\n{lines}")
