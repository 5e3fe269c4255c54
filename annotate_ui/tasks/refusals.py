"""Reasons for which a request of a rater is refused, with messages for the rater."""

from annotate_ui.tasks.answers import StoredAnswer
from study.errors import StudyError


class RefusalError(StudyError):
    """A request of a rater that was refused; nothing was stored."""

    code = "refused"
    """Identifies the reason to the page's script."""
    status = 400
    """The HTTP status of the response."""


class NotYoursError(RefusalError):
    """The page does not exist, or was not opened for this rater."""

    code = "not_found"
    status = 404

    def __init__(
        self, message: str = "This page was not opened for you. Go on from the start page."
    ) -> None:
        super().__init__(message)


class LeftError(RefusalError):
    """The rater has left the study; their session is over."""

    code = "signed_out"
    status = 401

    def __init__(self) -> None:
        super().__init__("You have left the study. What you finished is kept.")


class InvalidError(RefusalError):
    """The content cannot be stored; `field` names the invalid part."""

    code = "invalid"
    status = 422

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.field = field


class KeyReusedError(RefusalError):
    """An idempotency key was used for different content."""

    code = "key_reused"
    status = 409


class StaleError(RefusalError):
    """The rating was changed elsewhere; `current` is the stored answer, if any."""

    code = "stale"
    status = 409

    def __init__(self, message: str, current: StoredAnswer | None) -> None:
        super().__init__(message)
        self.current = current
