"""The headers that a user adds to requests; those with secrets come from the environment."""

import os

from judge.engines.engine_settings import OpenAISettings
from judge.engines.openai.api_key import check_encrypted
from judge.engines.openai.redaction import Redaction
from study.errors import StudyError


def added_headers(settings: OpenAISettings, redaction: Redaction) -> dict[str, str]:
    """Return the headers of `--header` and `--header-env`; the values of the latter are secrets.

    Raises
    ------
    StudyError
        A variable is empty or no header can contain it, or it would be sent unencrypted to
        another machine.
    """
    headers = dict(settings.header)
    for name, variable in settings.header_env.items():
        value = os.environ.get(variable, "").strip()
        source = f"--header-env {name}={variable}"
        if not value:
            raise StudyError(f"{source}: the environment variable {variable} is empty.")
        if not (value.isascii() and value.isprintable()):
            raise StudyError(f"{source}: the value contains a character that no header can have.")
        check_encrypted(settings.base_url or "", f"The value of {variable}", f"leave {source} out")
        redaction.add(value)
        # Such as "Basic abc": the secret is the last word.
        redaction.add(value.split()[-1])
        headers[name] = value
    return headers


def described_headers(settings: OpenAISettings) -> dict[str, str | None]:
    """Return the headers as they are stored: by name, and those with secrets without a value."""
    return {**settings.header, **dict.fromkeys(settings.header_env)}
