"""Removing secrets from what a server sends, also where they are escaped or encoded."""

import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html.entities import html5
from typing import Any

from judge.protocol.chat_completion import Trouble
from judge.protocol.exchange import REJECTED, Answer

REPLACEMENT = "[key]"

# Shorter ones are placeholders for servers without keys. They occur in answers by chance.
_SHORTEST = 8
# Parts of this length are removed anywhere, except of encodings in base64 and hexadecimal.
_PART, _PIECE = 10, 5
# How servers quote a key in an error, often with asterisks: it may be the key of somebody else.
_KEY_FORM = re.compile(r"\b(?:(?:sk|pk|gsk|xai|pplx|hf)[-_]|AIza)[A-Za-z0-9_*-]{10,}")
# An escape within an escape, such as %2573 in a JSON string, has this many levels at most.
_LEVELS = 4
_ESCAPE = re.compile(
    r"%([0-9A-Fa-f]{2})|\\u00([0-9A-Fa-f]{2})|\\x([0-9A-Fa-f]{2})|&#0*([0-9]{1,3});?|"
    r"&#[xX]0*([0-9A-Fa-f]{2});?|&([A-Za-z]{2,8};)|\\([/\\\"'])"
)


class Redaction:
    """Replaces secrets by `[key]`: as they are, in base64 or hexadecimal, and with any escapes.

    Escapes are those of URLs, JSON and HTML, also of single characters and one within another.
    Parts of a secret are replaced as well: of ten characters, and at the end of a text, which a
    server may have cut there, of eight. Words that a secret contains are kept.
    """

    def __init__(self) -> None:
        self._needles: list[str] = []
        self._pieces: list[tuple[str, str, int]] = []
        """Piece of a secret, the secret, and the position; each part has a whole piece."""

    def add(self, secret: str) -> None:
        """Remove this secret, of printable ASCII characters, from now on.

        One of fewer than eight characters is ignored: it is a placeholder, and may be a part of
        an answer.
        """
        if len(secret) >= _SHORTEST and secret not in self._needles:
            self._needles += [form for form in _forms(secret) if form not in self._needles]
            # A part of ten characters contains one of these pieces of five.
            self._pieces += [
                (secret[start : start + _PIECE], secret, start)
                for start in range(0, len(secret) - _PIECE + 1, _PART - _PIECE + 1)
            ]

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
        if isinstance(result, Trouble):
            changed["detail"] = _KEY_FORM.sub(REPLACEMENT, changed.get("detail", result.detail))
        elif result.missing == REJECTED and result.text is not None:
            changed["text"] = _KEY_FORM.sub(REPLACEMENT, changed.get("text", result.text))
        return replace(result, **changed) if changed else result

    def _spans(self, text: str) -> set[tuple[int, int]]:
        """Return where secrets begin and end in a text."""
        spans = set()
        decoded = text
        positions: Sequence[int] = range(len(text) + 1)
        for _ in range(_LEVELS):
            for start, stop in self._found(decoded):
                spans.add((positions[start], positions[stop]))
            shorter, kept_positions = _unescaped(decoded)
            if shorter == decoded:
                break
            decoded, positions = shorter, [positions[position] for position in kept_positions]
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
        return [*found, *self._parts(text)]

    def _parts(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where parts of secrets begin and end in a text."""
        for piece, secret, position in self._pieces:
            at = text.find(piece)
            while at >= 0:
                begin, end = at, at + _PIECE
                first, after = position, position + _PIECE
                while begin and first and text[begin - 1] == secret[first - 1]:
                    begin, first = begin - 1, first - 1
                while end < len(text) and after < len(secret) and text[end] == secret[after]:
                    end, after = end + 1, after + 1
                if end - begin >= _PART and not _is_word(text[begin:end]):
                    yield begin, end
                at = text.find(piece, at + 1)


def _is_word(part: str) -> bool:
    """Return whether a part of a secret may be plain language: no digits, and one case."""
    return not any(map(str.isdigit, part)) and part in {part.lower(), part.upper()}


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
