"""What goes wrong between here and the server."""

from study.errors import StudyError

# What the server says where its database is locked or it is overloaded.
_PASSING = frozenset({408, 409, 423, 425, 429, 500, 502, 503, 504})


class ServerError(StudyError):
    """Label Studio could not be reached, or refused; `status` is what it answered, if anything."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status

    @property
    def passes(self) -> bool:
        """Whether the same call may succeed later."""
        return self.status is None or self.status in _PASSING
