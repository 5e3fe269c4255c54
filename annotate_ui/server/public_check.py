"""What must be in place before strangers can reach the pages."""

from pathlib import Path
from urllib.parse import urlsplit

from annotate_ui.server.sockets import is_loopback
from study.errors import StudyError
from study.study import Study


def check_public(study: Study, *, proxies: int, secret_file: Path | None) -> None:
    """Refuse to open the pages to the internet without TLS, a stated proxy and a lasting secret.

    Raises
    ------
    StudyError
        With everything that is missing, and how to bring it about.
    """
    base = urlsplit(study.config.rating.base_url)
    missing = []
    if base.scheme != "https" or is_loopback(base.hostname or ""):
        missing.append(
            f"rating.base_url in study.toml is {study.config.rating.base_url}; name the https "
            "address that raters open."
        )
    if not proxies:
        missing.append(
            "No reverse proxy is stated. TLS ends there; say how many stand in front: --proxies 1."
        )
    if secret_file is None:
        missing.append(
            "No secret is named. Sessions are signed with it, and end when it is lost with a "
            "container or a machine: --secret-file FILE."
        )
    elif not secret_file.exists():
        missing.append(
            f"{secret_file} does not exist. Make it once, for your eyes only: "
            f"(umask 077; head -c 32 /dev/urandom > {secret_file})"
        )
    if missing:
        lines = "\n".join(f"  {one}" for one in missing)
        raise StudyError(f"Not ready for the internet:\n{lines}")
