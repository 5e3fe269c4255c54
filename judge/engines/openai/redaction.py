"""Removing secrets from what a server sends, also where they are escaped or encoded."""

import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import replace
from html.entities import html5
from typing import Any

from judge.protocol.chat_completion import Trouble
from judge.protocol.exchange import Answer

REPLACEMENT = "[key]"

# Shorter ones are placeholders for servers without keys. They occur in answers by chance.
_SHORTEST = 8
# An escape within an escape, such as %2573 in a JSON string, has this many levels at most.
_LEVELS = 4
_ESCAPE = re.compile(
    r"%([0-9A-Fa-f]{2})|\\u00([0-9A-Fa-f]{2})|\\x([0-9A-Fa-f]{2})|&#0*([0-9]{1,3});?|"
    r"&#[xX]0*([0-9A-Fa-f]{2});?|&([A-Za-z]{2,8};)|\\([/\\\"'])"
)


class Redaction:
    """Replaces secrets by `[key]`: as they are, in base64 or hexadecimal, and with any escapes.

    Escapes are those of URLs, JSON and HTML, also of single characters and one within another. The
    beginning of a secret at the end of a text, which a server cut there, is replaced as well.
    """

    def __init__(self) -> None:
        self._needles: list[str] = []

    def add(self, secret: str) -> None:
        """Remove this secret, of printable ASCII characters, from now on.

        One of fewer than eight characters is ignored: it is a placeholder, and may be a part of
        an answer.
        """
        if len(secret) >= _SHORTEST and secret not in self._needles:
            self._needles += [form for form in _forms(secret) if form not in self._needles]

    def body(self, content: bytes) -> bytes:
        """Return the body of a reply without secrets, otherwise unchanged."""
        # Latin-1 has a character for each byte.
        return self.text(content.decode("latin-1")).encode("latin-1") if self._needles else content

    def text(self, text: str) -> str:
        """Return a text without secrets, otherwise unchanged."""
        if not self._needles:
            return text
        spans = sorted(self._spans(text))
        pieces, end = [], 0
        for start, stop in spans:
            if start >= end:
                pieces += [text[end:start], REPLACEMENT]
            end = max(end, stop)
        return "".join([*pieces, text[end:]]) if spans else text

    def result(self, result: Answer | Trouble) -> Answer | Trouble:
        """Return what a reply means without secrets in any of its texts."""
        answer_texts = ("text", "reasoning", "finish_reason", "served_model", "fingerprint")
        names = (*answer_texts, "detail", "parameter")
        changed: dict[str, Any] = {
            name: clean
            for name in names
            if isinstance(value := getattr(result, name, None), str)
            and (clean := self.text(value)) != value
        }
        return replace(result, **changed) if changed else result

    def _spans(self, text: str) -> set[tuple[int, int]]:
        """Return where secrets begin and end in a text."""
        spans = set()
        decoded = text
        positions: Sequence[int] = range(len(text) + 1)
        for _ in range(_LEVELS):
            for start, stop in self._found(decoded):
                spans.add((positions[start], positions[stop]))
            shorter, of_shorter = _unescaped(decoded)
            if shorter == decoded:
                break
            decoded, positions = shorter, [positions[position] for position in of_shorter]
        return spans

    def _found(self, text: str) -> list[tuple[int, int]]:
        found = []
        for needle in self._needles:
            start = text.find(needle)
            while start >= 0:
                found.append((start, start + len(needle)))
                start = text.find(needle, start + len(needle))
            start = text.rfind(needle[:_SHORTEST])
            if start >= 0 and needle.startswith(text[start:]):
                found.append((start, len(text)))
        return found


def _forms(secret: str) -> list[str]:
    """Return a secret, and its parts in a longer text in base64 or hexadecimal."""
    raw = secret.encode()
    forms = [secret, raw.hex(), raw.hex().upper()]
    for before in range(3):
        # A character has six bits. Those that share bits with other bytes are left out.
        encoded = b64encode(bytes(before) + raw).decode()
        stable = encoded[-(-before * 8 // 6) : (before + len(raw)) * 8 // 6]
        forms += [stable, stable.translate(str.maketrans("+/", "-_"))]
    return list(dict.fromkeys(forms))


def _unescaped(text: str) -> tuple[str, list[int]]:
    """Return a text with one level of escapes decoded, and where its characters and end were."""
    pieces: list[str] = []
    positions: list[int] = []
    end = 0
    for match in _ESCAPE.finditer(text):
        character = _character(match)
        if character is None:
            continue
        positions += [*range(end, match.start()), match.start()]
        pieces += [text[end : match.start()], character]
        end = match.end()
    positions += range(end, len(text) + 1)
    return "".join([*pieces, text[end:]]), positions


def _character(match: re.Match[str]) -> str | None:
    """Return the character that an escape stands for; None if it is not an ASCII character."""
    url, unicode, hexadecimal, number, html_hexadecimal, name, itself = match.groups()
    if itself is not None:
        return str(itself)
    if name is not None:
        character = html5.get(name, "")
        return character if len(character) == 1 else None
    code = (
        int(number)
        if number is not None
        else int(url or unicode or hexadecimal or html_hexadecimal, 16)
    )
    return chr(code) if code < 128 else None
