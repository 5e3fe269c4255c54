"""Catalogues of the pages' words: gettext files, shipped here or beside study.toml."""

from io import BytesIO
from pathlib import Path

from babel.messages.mofile import write_mo
from babel.messages.pofile import PoFileError, read_po
from babel.support import NullTranslations, Translations

from study.campaign import Study
from study.errors import StudyError

TRANSLATIONS = Path(__file__).parent / "translations"


def words_of(study: Study) -> NullTranslations:
    """Return the pages' words as study.toml asks for them.

    `rating.catalogue` goes before what is shipped; a language with a region falls back on the
    language alone, so that "de-AT" is served with "de".

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
    found = shipped.get(language) or shipped.get(language.partition("-")[0])
    if found is None:
        known = ", ".join(["en", *sorted(shipped)])
        raise StudyError(
            f'rating.interface_language = "{rating.interface_language}" in '
            f"{study.folder / 'study.toml'} has no catalogue; {known} are there. Put a .po file "
            "beside study.toml and name it in rating.catalogue; messages.pot in "
            f"{TRANSLATIONS} is the template."
        )
    return read_catalogue(found)


def read_catalogue(path: Path) -> NullTranslations:
    """Return the words of a gettext file; what it leaves out or calls fuzzy stays in English.

    Raises
    ------
    StudyError
        There is no such file, or it is no gettext file.
    """
    try:
        with path.open("rb") as file:
            catalogue = read_po(file, abort_invalid=True)
    except OSError as error:
        raise StudyError(
            f"{path}, named in rating.catalogue, can't be read: {error.strerror}."
        ) from None
    except (PoFileError, ValueError) as error:
        raise StudyError(f"{path} is no gettext catalogue: {error}") from None
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return Translations(compiled)
