"""Codes and links by which a recruiting service learns how a rater's part in the study ended."""

from dataclasses import dataclass
from urllib.parse import quote

from study.errors import StudyError
from study.settings.rating import EXITS, Exit, RatingSpec

_PLACE = "{code}"


@dataclass(frozen=True)
class ExitCode:
    """What a rater is shown at one way out of the study."""

    code: str | None
    url: str | None
    """A link; no request is sent there unless the rater follows it."""


def exit_code(rating: RatingSpec, way: Exit) -> ExitCode | None:
    """Return the code and the address of study.toml for one way out; None: it has neither.

    Raises
    ------
    StudyError
        The address has a placeholder for a code, but no code is set.
    """
    code, url = getattr(rating, f"{way}_code"), getattr(rating, f"{way}_url")
    if code is None and url is None:
        return None
    if url is not None and _PLACE in url:
        if code is None:
            raise StudyError(
                f"rating.{way}_url in study.toml contains {_PLACE}; set rating.{way}_code, or "
                "remove the placeholder."
            )
        url = url.replace(_PLACE, quote(code, safe=""))
    return ExitCode(code, url)


def check_exit_codes(rating: RatingSpec) -> None:
    """Raise StudyError where an address lacks its code."""
    for way in EXITS:
        exit_code(rating, way)
