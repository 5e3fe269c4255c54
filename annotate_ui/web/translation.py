"""The words of pages and scripts: English in the code, translated by the study's catalogue."""

import json
import re
from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any

import polib
from flask import Flask, current_app
from markupsafe import Markup, escape

from study.errors import StudyError
from study.study import Study

TRANSLATIONS = Path(__file__).parent / "translations"
_STATIC = Path(__file__).parent / "static"
_IMPORT = re.compile(r'^import .* from "\./([a-z_]+\.js)";$', re.MULTILINE)


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
        path.read_bytes()
    except OSError as error:
        raise StudyError(
            f"{path}, named in rating.catalogue, can't be read: {error.strerror}."
        ) from None
    try:
        catalogue = polib.pofile(str(path))
        # A template's header names no encoding.
        catalogue.metadata["Content-Type"] = f"text/plain; charset={catalogue.encoding}"
        translations = GNUTranslations(BytesIO(catalogue.to_binary()))
    except (OSError, ValueError, LookupError) as error:
        raise StudyError(f"{path} is not a gettext catalogue: {error}") from None
    _check(catalogue, path)
    return translations


# What a page fills in; anything else after a percent sign fails when the page is shown.
_PLACE = re.compile(r"%\((\w+)\)s|%%")


def _check(catalogue: polib.POFile, path: Path) -> None:
    """Refuse translations that would fail when a page is shown."""
    for entry in catalogue.translated_entries():
        originals = [entry.msgid, entry.msgid_plural]
        names = {name for text in originals for name in _PLACE.findall(text)}
        for text in [entry.msgstr, *entry.msgstr_plural.values()]:
            unknown = sorted(set(_PLACE.findall(text)) - names - {""})
            if unknown:
                raise StudyError(
                    f"{path}: the translation {text!r} of {entry.msgid!r} names "
                    f"%({unknown[0]})s, which is not in the original. Keep the names in brackets "
                    "as they are."
                )
            if "%" in _PLACE.sub("", text):
                raise StudyError(
                    f"{path}: the translation {text!r} of {entry.msgid!r} contains "
                    "a single percent sign. Write %% for one, and %(name)s as in the original."
                )


# Gettext's rules look at the last two digits: 200 forms determine those of every count.
_COUNTS = 200
# What would end the block early, or start a comment in it.
_ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def install_words(app: Flask, words: NullTranslations, language: str = "en") -> None:
    """Give templates `_` and `ngettext`, and pages their language and direction.

    Parameters
    ----------
    words
        The catalogue; `NullTranslations()` leaves everything in English.
    language
        Their language, as in HTML.
    """
    app.config["WORDS"] = words
    app.config["WORDS_LANGUAGE"] = language
    app.jinja_env.add_extension("jinja2.ext.i18n")
    app.jinja_env.install_gettext_callables(  # type: ignore[attr-defined]
        lambda text: _escaped(_words().gettext(text), text),
        lambda singular, plural, count: _escaped(
            _words().ngettext(singular, plural, count), singular, plural
        ),
        newstyle=True,
    )
    app.context_processor(_interface)


def gettext(text: str, **values: Any) -> str:
    """Return a text in the language of the pages; `%(name)s` in it is filled from `values`."""
    translated = _words().gettext(text)
    return translated % values if values else translated


def ngettext(singular: str, plural: str, count: int, **values: Any) -> str:
    """Return the text for a count; `%(num)s` in it is the count."""
    return _words().ngettext(singular, plural, count) % {"num": count, **values}


def mark(text: str) -> str:
    """Return a text unchanged: it enters the catalogue, and `gettext` translates it later."""
    return text


def page_language() -> str:
    """Return the language of the pages' words."""
    language: str = current_app.config["WORDS_LANGUAGE"]
    return language


def direction(language: str) -> str:
    """Return the direction in which a language is written: "ltr" or "rtl"."""
    parts = language.lower().split("-")
    script = next((part for part in parts[1:] if len(part) == 4), None)
    if script is not None:
        return "rtl" if script in _RIGHT_TO_LEFT_SCRIPTS else "ltr"
    return "rtl" if parts[0] in _RIGHT_TO_LEFT else "ltr"


_RIGHT_TO_LEFT = frozenset(
    [
        "ar",
        "arc",
        "ckb",
        "dv",
        "fa",
        "he",
        "iw",
        "ji",
        "ks",
        "nqo",
        "ps",
        "sd",
        "syr",
        "ug",
        "ur",
        "yi",
    ]
)
_RIGHT_TO_LEFT_SCRIPTS = frozenset(
    ["adlm", "arab", "hebr", "mand", "nkoo", "rohg", "samr", "syrc", "thaa"]
)


def _interface() -> dict[str, Any]:
    language = page_language()
    return {
        "interface": {"language": language, "direction": direction(language)},
        "script_words": lambda *scripts: script_words(_words(), language, scripts),
    }


def _escaped(text: str, *originals: str) -> str:
    # Jinja takes what gettext returns for markup; a catalogue's text is not.
    return text if text in originals else str(escape(text))


def _words() -> NullTranslations:
    words: NullTranslations = current_app.config["WORDS"]
    return words


def script_words(words: NullTranslations, language: str, scripts: tuple[str, ...] = ()) -> Markup:
    """Return JSON with the words of scripts in a language, safe inside a script element.

    `scripts` are the files of a page in `static`; what they import and the controls are added.
    Without them the JSON contains the words of all.
    """
    # The English words are in the scripts.
    data: dict[str, Any] = {"language": language}
    if type(words) is not NullTranslations:
        data["plural"] = "".join(str(_form(words, count)) for count in range(_COUNTS))
        data["words"] = {
            message.msgid: _translated(words, message) for message in _script_messages(scripts)
        }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for sign, escaped in _ESCAPED.items():
        text = text.replace(sign, escaped)
    return Markup(text)  # noqa: S704 - every sign of markup is escaped above


@cache
def _script_messages(scripts: tuple[str, ...]) -> tuple[polib.POEntry, ...]:
    template = polib.pofile(str(TRANSLATIONS / "messages.pot"))
    loaded = frozenset().union(*map(_imports, scripts)) if scripts else None

    def is_needed(file: str) -> bool:
        path = PurePosixPath(file)
        if path.suffix != ".js":
            return False
        return loaded is None or path.parent.name != "static" or path.name in loaded

    return tuple(
        entry for entry in template if any(is_needed(file) for file, _ in entry.occurrences)
    )


@cache
def _imports(script: str) -> frozenset[str]:
    """Return a script and what it imports, directly or not. No script imports one of its own."""
    text = (_STATIC / script).read_text(encoding="utf-8")
    return frozenset([script]).union(*map(_imports, _IMPORT.findall(text)))


def _translated(words: NullTranslations, message: polib.POEntry) -> str | list[str]:
    singular, plural = message.msgid, message.msgid_plural
    if not plural:
        return words.gettext(singular)
    forms = {
        _form(words, count): words.ngettext(singular, plural, count) for count in range(_COUNTS)
    }
    return [forms.get(form, plural) for form in range(max(forms) + 1)]


def _form(words: NullTranslations, count: int) -> int:
    plural = getattr(words, "plural", None)
    return int(count != 1) if plural is None else int(plural(count))
