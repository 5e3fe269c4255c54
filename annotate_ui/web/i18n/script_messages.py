"""The words of the pages' scripts, as a data block that a page carries for them."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from babel.messages.extract import extract_from_dir, extract_from_file
from babel.support import NullTranslations
from markupsafe import Markup

from annotate_ui.web.controls.control import control_scripts

_STATIC = Path(__file__).parents[1] / "static"
# Gettext's rules look at the last two digits: 200 forms tell those of every count.
_COUNTS = 200
# What would end the block early, or start a comment in it.
_ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def script_words(words: NullTranslations, language: str) -> Markup:
    """Return JSON with the scripts' words in a language, safe inside a script element."""
    # English stands in the scripts themselves.
    told: dict[str, Any] = {"language": language}
    if type(words) is not NullTranslations:
        told["plural"] = "".join(str(_form(words, count)) for count in range(_COUNTS))
        told["words"] = {
            _key(message): _translated(words, message) for message in _script_messages()
        }
    text = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    for sign, escaped in _ESCAPED.items():
        text = text.replace(sign, escaped)
    return Markup(text)  # noqa: S704 - every sign of markup is escaped above


Message = str | tuple[str, ...]


@cache
def _script_messages() -> tuple[Message, ...]:
    found = [one[2] for one in extract_from_dir(str(_STATIC), [("**.js", "javascript")])]
    for script in control_scripts():
        found += [one[1] for one in extract_from_file("javascript", str(script))]
    return tuple(dict.fromkeys(found))


def _key(message: Message) -> str:
    return message if isinstance(message, str) else message[0]


def _translated(words: NullTranslations, message: Message) -> str | list[str]:
    if isinstance(message, str):
        return words.ugettext(message)
    one, many = message[:2]
    forms = {_form(words, count): words.ungettext(one, many, count) for count in range(_COUNTS)}
    return [forms.get(form, many) for form in range(max(forms) + 1)]


def _form(words: NullTranslations, count: int) -> int:
    plural = getattr(words, "plural", None)
    return int(count != 1) if plural is None else int(plural(count))
