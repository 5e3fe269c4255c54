"""The pages' own words: English in the code, translated where the study has a catalogue."""

from typing import Any

from babel.support import NullTranslations
from flask import Flask, current_app


def install_words(app: Flask, words: NullTranslations) -> None:
    """Give templates `_` and `ngettext` with the words of the study's language."""
    app.config["WORDS"] = words
    app.jinja_env.add_extension("jinja2.ext.i18n")
    app.jinja_env.install_gettext_callables(  # type: ignore[attr-defined]
        lambda text: _words().ugettext(text),
        lambda one, many, count: _words().ungettext(one, many, count),
        newstyle=True,
    )


def gettext(text: str, **values: Any) -> str:
    """Return a text in the language of the pages; `%(name)s` in it is filled from `values`."""
    found = _words().ugettext(text)
    return found % values if values else found


def ngettext(one: str, many: str, count: int, **values: Any) -> str:
    """Return the text for a count; `%(num)s` in it is the count."""
    return _words().ungettext(one, many, count) % {"num": count, **values}


def _words() -> NullTranslations:
    found: NullTranslations = current_app.config["WORDS"]
    return found
