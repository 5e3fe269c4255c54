"""Why a request of a rater is refused. Each says what to do, in words for the rater."""

from annotate_ui.tasks.answers import StoredAnswer
from study.errors import StudyError


class RefusalError(StudyError):
    """A request of a rater that was not carried out; nothing was stored."""

    code = "refused"
    """A word for the page's script."""
    status = 400
    """The HTTP status that says so."""


class NotYoursError(RefusalError):
    """There is no such page for this rater."""

    code = "not_found"
    status = 404


class LeftError(RefusalError):
    """The rater has left the study; their session is over."""

    code = "signed_out"
    status = 401


class InvalidError(RefusalError):
    """The content can't be stored; `field` is the part at fault."""

    code = "invalid"
    status = 422

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.field = field


class KeyReusedError(RefusalError):
    """An idempotency key came with another content."""

    code = "key_reused"
    status = 409


class StaleError(RefusalError):
    """The rating has changed since; `current` is what is stored, None if nothing is."""

    code = "stale"
    status = 409

    def __init__(self, message: str, current: StoredAnswer | None) -> None:
        super().__init__(message)
        self.current = current
