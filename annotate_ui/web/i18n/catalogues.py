"""Catalogues of the pages' words: gettext files, shipped here or next to study.toml."""

import re
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import PoFileError, read_po
from babel.support import NullTranslations, Translations

from study.errors import StudyError
from study.study import Study

TRANSLATIONS = Path(__file__).parents[1] / "translations"


def words_of(study: Study) -> NullTranslations:
    """Return the translations of the pages' words that study.toml names.

    `rating.catalogue` takes precedence over a shipped catalogue. A language with a region falls
    back on the language, so that "de-AT" is served with "de".

    Raises
    ------
    StudyError
        The language has no catalogue, or the file can't be read.
    """
    rating = study.config.rating
    if rating.catalogue is not None:
        return read_catalogue(study.folder / rating.catalogue)
    language = rating.interface_language.lower()
    if language.partition("-")[0] == "en":
        return NullTranslations()
    shipped = {path.stem.lower(): path for path in TRANSLATIONS.glob("*.po")}
    path = shipped.get(language) or shipped.get(language.partition("-")[0])
    if path is None:
        available = ", ".join(["en", *sorted(shipped)])
        raise StudyError(
            f'rating.interface_language = "{rating.interface_language}" in '
            f"{study.folder / 'study.toml'} has no catalogue; available: {available}. Put a .po "
            "file next to study.toml and name it in rating.catalogue; messages.pot in "
            f"{TRANSLATIONS} is the template."
        )
    return read_catalogue(path)


def read_catalogue(path: Path) -> NullTranslations:
    """Return the translations of a gettext file; missing and fuzzy entries stay in English.

    Raises
    ------
    StudyError
        The file is missing or not a gettext file, or a text of it can't be filled in.
    """
    try:
        with path.open("rb") as file:
            catalogue = read_po(file, abort_invalid=True)
    except OSError as error:
        raise StudyError(
            f"{path}, named in rating.catalogue, can't be read: {error.strerror}."
        ) from None
    except (PoFileError, ValueError) as error:
        raise StudyError(f"{path} is not a gettext catalogue: {error}") from None
    _check(catalogue, path)
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return Translations(compiled)


# What a page fills in; anything else after a percent sign fails when the page is shown.
_PLACE = re.compile(r"%\((\w+)\)s|%%")


def _check(catalogue: Catalog, path: Path) -> None:
    """Refuse translations that would fail when a page is shown."""
    for message in catalogue:
        if not message.id or message.fuzzy:
            continue
        names = {name for text in _forms(message.id) for name in _PLACE.findall(text)}
        for text in _forms(message.string):
            unknown = sorted(set(_PLACE.findall(text)) - names - {""})
            if unknown:
                raise StudyError(
                    f"{path}: the translation {text!r} of {_forms(message.id)[0]!r} names "
                    f"%({unknown[0]})s, which is not in the original. Keep the names in brackets "
                    "as they are."
                )
            if "%" in _PLACE.sub("", text):
                raise StudyError(
                    f"{path}: the translation {text!r} of {_forms(message.id)[0]!r} contains "
                    "a single percent sign. Write %% for one, and %(name)s as in the original."
                )


def _forms(text: str | Iterable[str] | None) -> list[str]:
    return [text] if isinstance(text, str) else list(text or ())
