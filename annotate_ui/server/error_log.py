"""What the server writes to standard error: when and where something failed, never a text.

Messages of errors may quote what was being stored: a comment, a token. They are left out, but for
those of the system and of the database's connection, which speak of neither.
"""

import logging
import sys
import traceback
from types import TracebackType
from typing import Any

LOGGERS = ("waitress", "annotate_ui", "flask-limiter", "sqlalchemy")


class WithoutTexts(logging.Formatter):
    """Time, level and message in one line, with an error's kind and place below."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s", "%Y-%m-%dT%H:%M:%S%z")

    def formatException(  # noqa: N802  (logging's name)
        self,
        ei: tuple[type[BaseException], BaseException, TracebackType | None]
        | tuple[None, None, None],
    ) -> str:
        """Return the chain of errors: kind and place, the newest last."""
        error = ei[1]
        chain: list[BaseException] = []
        while error is not None and error not in chain:
            chain.append(error)
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        return "\n".join(_told(error) for error in reversed(chain))


def _told(error: BaseException) -> str:
    kind = type(error)
    places = "".join(
        f"  {frame.filename}:{frame.lineno} in {frame.name}\n"
        for frame in traceback.extract_tb(error.__traceback__)
    )
    said = _harmless(error)
    name = f"{kind.__module__}.{kind.__qualname__}"
    return f"{places}  {name}: {said}" if said else f"{places}  {name}"


def _harmless(error: BaseException) -> str:
    home = type(error).__module__.split(".")[0]
    if isinstance(error, OSError):
        return error.strerror or ""
    if home in {"sqlite3", "psycopg"} and type(error).__name__ == "OperationalError":
        return " ".join(str(error).split())
    return ""


def log_errors(stream: Any = None) -> None:
    """Write warnings and errors of server and pages to `stream`, standard error unless given."""
    handler = logging.StreamHandler(sys.stderr if stream is None else stream)
    handler.setFormatter(WithoutTexts())
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(logging.WARNING)
        logger.propagate = False
    # A request that waits for a thread for some milliseconds is not an error.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
