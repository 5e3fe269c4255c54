"""The key of an endpoint: where it is read, and when it is read again."""

import asyncio
import os
import shlex
import subprocess
from time import monotonic
from urllib.parse import urlsplit

from judge.engines.openai.redaction import Redaction
from study.errors import StudyError

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_COMMAND_SECONDS = 60


class ApiKey:
    """A key from an environment variable, or from what a command prints.

    It is read again when a server refuses it, since tokens expire. `redaction` removes every key
    that was read from what servers send.

    Raises
    ------
    StudyError
        The command cannot be run, the key contains invalid characters, or it would be sent
        unencrypted to another machine.
    """

    def __init__(self, base_url: str, variable: str, command: str | None = None) -> None:
        self._variable = variable
        self._command = command
        self._source = "from --api-key-command" if command else f"in {variable}"
        self.redaction = Redaction()
        self._read_at = monotonic()
        self.value = self._read()
        """The key; empty if there is none."""
        if self.value:
            remedy = "leave --api-key-command out"
            if command is None:
                remedy = "name an empty variable with --api-key-env"
            check_encrypted(base_url, f"The key {self._source}", remedy)

    @property
    def remedy(self) -> str:
        """What to do where a server refuses the key."""
        if self._command:
            return "Check what the command of --api-key-command prints."
        return (
            f"Check the key in the environment variable {self._variable} "
            "(--api-key-env names another one)."
        )

    async def renew(self, refused: str, sent_at: float) -> bool:
        """Read the key again; return whether there is another one than the refused one.

        Only one caller at a time.

        Parameters
        ----------
        refused
            The key that the server refused.
        sent_at
            When it was sent, by the monotonic clock: requests that were under way together read
            the key once.
        """
        if self.value == refused and self._read_at <= sent_at:
            self._read_at = monotonic()
            try:
                self.value = await asyncio.to_thread(self._read)
            except StudyError:
                # What issues keys may be out of order for a while, as the server itself.
                return False
        return self.value != refused

    def _read(self) -> str:
        key = (
            _printed(self._command) if self._command else os.environ.get(self._variable, "")
        ).strip()
        if any(ord(character) < 33 or ord(character) > 126 for character in key):
            raise StudyError(
                f"The key {self._source} contains a blank or another invalid character."
            )
        self.redaction.add(key)
        return key


def check_encrypted(base_url: str, what: str, remedy: str) -> None:
    """Refuse to send a secret over http:// to another machine."""
    parts = urlsplit(base_url)
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise StudyError(
            f"{what} would go to {parts.hostname} unencrypted. Use an https:// address, or "
            f"{remedy} if that server needs no key."
        )


def _printed(command: str) -> str:
    """Return what a command prints. Neither its words nor its output are in a message."""
    try:
        done = subprocess.run(  # noqa: S603  (the user's own command, without a shell)
            shlex.split(command),
            capture_output=True,
            check=True,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=_COMMAND_SECONDS,
        )
    except subprocess.CalledProcessError as error:
        problem = f"exits with {error.returncode}"
    except subprocess.TimeoutExpired:
        problem = f"takes longer than {_COMMAND_SECONDS} s"
    except (OSError, ValueError, IndexError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        problem = f"can't be run ({reason or 'check its quotes'})"
    else:
        if done.stdout.strip():
            return done.stdout
        problem = "prints nothing"
    raise StudyError(f"The command of --api-key-command {problem}. Run it alone to see why.")
