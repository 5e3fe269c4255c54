"""What the owner tells raters in their own words: the consent text and the instructions."""

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from study.errors import StudyError
from study.study import Study

LONGEST = 200_000
"""Bytes of a text. Nobody reads as much before they agree; such a file is named by mistake."""
_HELD = "_texts_of_raters"


@dataclass(frozen=True)
class RaterText:
    """A Markdown text, with the hash by which an answer says which text it was given to."""

    markdown: str
    sha256: str
    """Of the file's bytes, in hex."""


@dataclass(frozen=True)
class Texts:
    """The texts of a study; None where study.toml names no file."""

    consent: RaterText | None
    instructions: RaterText | None


def texts_of(study: Study) -> Texts:
    """Return the texts of a study, which are read once for each opening of it.

    A server that runs goes on with the texts it began with, as it does with the settings.

    Raises
    ------
    StudyError
        A file that study.toml names is missing, empty, too long or not UTF-8.
    """
    held: Texts | None = study.__dict__.get(_HELD)
    if held is None:
        rating = study.config.rating
        held = Texts(
            _read(study.folder, "consent", rating.consent),
            _read(study.folder, "instructions", rating.instructions),
        )
        study.__dict__[_HELD] = held
    return held


def _read(folder: Path, setting: str, name: str | None) -> RaterText | None:
    if name is None:
        return None
    path = folder / name
    named = f"{path}, which rating.{setting} in study.toml names,"
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise StudyError(
            f"{named} is missing. Write the text there, or take the setting out."
        ) from None
    except OSError as error:
        raise StudyError(f"{named} can't be read ({error.strerror}).") from None
    if len(content) > LONGEST:
        raise StudyError(f"{named} has {len(content)} bytes; {LONGEST} are the most.")
    try:
        # Editors on Windows begin a file with a mark that is no text.
        markdown = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise StudyError(
            f"{named} is not UTF-8 at byte {error.start + 1}. Save it as UTF-8."
        ) from None
    if not markdown.strip():
        raise StudyError(f"{named} is empty. Write the text there, or take the setting out.")
    return RaterText(markdown, sha256(content).hexdigest())
