"""The server's log on standard error: when and where an error occurred, without its message.

Messages may quote what was being stored, such as a comment or a token. They are left out, except
those of the operating system and of the database connection, which quote neither.
"""

import logging
import sys
import traceback
from types import TracebackType
from typing import Any

LOGGERS = ("waitress", "annotate_ui", "flask-limiter", "sqlalchemy")


class WithoutMessages(logging.Formatter):
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
        return "\n".join(_described(error) for error in reversed(chain))


def _described(error: BaseException) -> str:
    kind = type(error)
    places = "".join(
        f"  {frame.filename}:{frame.lineno} in {frame.name}\n"
        for frame in traceback.extract_tb(error.__traceback__)
    )
    message = _harmless(error)
    name = f"{kind.__module__}.{kind.__qualname__}"
    return f"{places}  {name}: {message}" if message else f"{places}  {name}"


def _harmless(error: BaseException) -> str:
    package = type(error).__module__.split(".")[0]
    if isinstance(error, OSError):
        return error.strerror or ""
    if package in {"sqlite3", "psycopg"} and type(error).__name__ == "OperationalError":
        return " ".join(str(error).split())
    return ""


def log_errors(stream: Any = None) -> None:
    """Log warnings and errors of server and pages to `stream`, by default standard error."""
    handler = logging.StreamHandler(sys.stderr if stream is None else stream)
    handler.setFormatter(WithoutMessages())
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(logging.WARNING)
        logger.propagate = False
    # A request that waits for a thread for some milliseconds is not an error.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
