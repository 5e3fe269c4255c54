"""What a rater takes along whose work is done: a code, and the way back to who recruited them."""

from dataclasses import dataclass
from urllib.parse import quote

from study.errors import StudyError
from study.settings.campaign import RatingSpec

_PLACE = "{code}"


@dataclass(frozen=True)
class Completion:
    """What the last page shows, beside its thanks."""

    code: str | None
    url: str | None
    """A plain link; nothing is sent there unless the rater follows it."""


def completion(rating: RatingSpec) -> Completion | None:
    """Return code and way back as study.toml names them; None: it names neither.

    Raises
    ------
    StudyError
        The address has a place for a code and there is none.
    """
    code, url = rating.completion_code, rating.completion_url
    if code is None and url is None:
        return None
    if url is not None and _PLACE in url:
        if code is None:
            raise StudyError(
                f"rating.completion_url in study.toml has a place for {_PLACE}; set "
                "rating.completion_code, or take the place out."
            )
        url = url.replace(_PLACE, quote(code, safe=""))
    return Completion(code, url)
