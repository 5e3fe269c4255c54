"""The words of pages and scripts: English in the code, translated by the study's catalogue."""

import json
import re
from collections.abc import Iterable
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir, extract_from_file
from babel.messages.mofile import write_mo
from babel.messages.pofile import PoFileError, read_po
from babel.support import NullTranslations, Translations
from flask import Flask, current_app
from markupsafe import Markup, escape

from annotate_ui.web.controls.control import control_scripts
from study.errors import StudyError
from study.study import Study

TRANSLATIONS = Path(__file__).parent / "translations"


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


_STATIC = Path(__file__).parent / "static"
# Gettext's rules look at the last two digits: 200 forms determine those of every count.
_COUNTS = 200
# What would end the block early, or start a comment in it.
_ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}

Message = str | tuple[str, ...]


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
        lambda text: _escaped(_words().ugettext(text), text),
        lambda singular, plural, count: _escaped(
            _words().ungettext(singular, plural, count), singular, plural
        ),
        newstyle=True,
    )
    app.context_processor(_interface)


def gettext(text: str, **values: Any) -> str:
    """Return a text in the language of the pages; `%(name)s` in it is filled from `values`."""
    translated = _words().ugettext(text)
    return translated % values if values else translated


def ngettext(singular: str, plural: str, count: int, **values: Any) -> str:
    """Return the text for a count; `%(num)s` in it is the count."""
    return _words().ungettext(singular, plural, count) % {"num": count, **values}


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
        "script_words": lambda: script_words(_words(), language),
    }


def _escaped(text: str, *originals: str) -> str:
    # Jinja takes what gettext returns for markup; a catalogue's text is not.
    return text if text in originals else str(escape(text))


def _words() -> NullTranslations:
    words: NullTranslations = current_app.config["WORDS"]
    return words


def script_words(words: NullTranslations, language: str) -> Markup:
    """Return JSON with the scripts' words in a language, safe inside a script element."""
    # The English words are in the scripts.
    data: dict[str, Any] = {"language": language}
    if type(words) is not NullTranslations:
        data["plural"] = "".join(str(_form(words, count)) for count in range(_COUNTS))
        data["words"] = {
            _key(message): _translated(words, message) for message in _script_messages()
        }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for sign, escaped in _ESCAPED.items():
        text = text.replace(sign, escaped)
    return Markup(text)  # noqa: S704 - every sign of markup is escaped above


@cache
def _script_messages() -> tuple[Message, ...]:
    messages = [row[2] for row in extract_from_dir(str(_STATIC), [("**.js", "javascript")])]
    for script in control_scripts():
        messages += [row[1] for row in extract_from_file("javascript", str(script))]
    return tuple(dict.fromkeys(messages))


def _key(message: Message) -> str:
    return message if isinstance(message, str) else message[0]


def _translated(words: NullTranslations, message: Message) -> str | list[str]:
    if isinstance(message, str):
        return words.ugettext(message)
    singular, plural = message[:2]
    forms = {
        _form(words, count): words.ungettext(singular, plural, count) for count in range(_COUNTS)
    }
    return [forms.get(form, plural) for form in range(max(forms) + 1)]


def _form(words: NullTranslations, count: int) -> int:
    plural = getattr(words, "plural", None)
    return int(count != 1) if plural is None else int(plural(count))
