"""The pages' own words: English in the code, translated where the study has a catalogue."""

from typing import Any

from babel.support import NullTranslations
from flask import Flask, current_app
from markupsafe import escape

from annotate_ui.web.i18n.script_messages import script_words


def install_words(app: Flask, words: NullTranslations, language: str = "en") -> None:
    """Give templates `_` and `ngettext`, and pages their language and direction.

    Parameters
    ----------
    words
        The catalogue; `NullTranslations()` leaves everything in English.
    language
        What the words are in, as in HTML.
    """
    app.config["WORDS"] = words
    app.config["WORDS_LANGUAGE"] = language
    app.jinja_env.add_extension("jinja2.ext.i18n")
    app.jinja_env.install_gettext_callables(  # type: ignore[attr-defined]
        lambda text: _shown(_words().ugettext(text), text),
        lambda one, many, count: _shown(_words().ungettext(one, many, count), one, many),
        newstyle=True,
    )
    app.context_processor(_interface)


def gettext(text: str, **values: Any) -> str:
    """Return a text in the language of the pages; `%(name)s` in it is filled from `values`."""
    found = _words().ugettext(text)
    return found % values if values else found


def ngettext(one: str, many: str, count: int, **values: Any) -> str:
    """Return the text for a count; `%(num)s` in it is the count."""
    return _words().ungettext(one, many, count) % {"num": count, **values}


def mark(text: str) -> str:
    """Return a text as it is: it is in the catalogue, and `gettext` translates it where shown."""
    return text


def page_language() -> str:
    """Return the language of the pages' words."""
    language: str = current_app.config["WORDS_LANGUAGE"]
    return language


def direction(language: str) -> str:
    """Return how a language is written: "ltr" or "rtl"."""
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


def _shown(found: str, *originals: str) -> str:
    # Jinja takes what these return for markup; a catalogue's words are none.
    return found if found in originals else str(escape(found))


def _words() -> NullTranslations:
    found: NullTranslations = current_app.config["WORDS"]
    return found
