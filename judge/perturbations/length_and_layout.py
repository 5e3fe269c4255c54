"""Probes that keep the content of a response and change its length or layout.

Repeated or empty sentences add no content: a fair judge gives no higher score for them, and a lower
one on information density. A response cut to its first sentence may deserve less. Markdown that is
added or removed leaves every word in place: a fair judge gives the same score.
"""

import re

from judge.metrics.metric import Content
from judge.perturbations.perturbation import Change, Probe

FILLER = (
    "This is a question that many people have asked over time. There are several ways to look at "
    "it, and each has its place. It is worth taking a moment to consider it with care. Further "
    "reading can be found in many places."
)

# A full stop, question or exclamation mark (also full-width) ends a sentence before white space.
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*")
# At the beginning of a line: headings, quotes, bullets, numbers of a list.
_MARK = re.compile(r"^\s*(?:#{1,6}\s+|>\s+|[-*+•]\s+|\d{1,3}[.)]\s+)", re.M)
_EMPHASIS = re.compile(r"(\*\*|__|`)(?=\S)(.+?)(?<=\S)\1")
_FENCE = re.compile(r"^\s*```.*$", re.M)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, without the white space between them."""
    return [part for part in _SENTENCE_END.split(text.strip()) if part]


def plain(text: str) -> str:
    """Return a text as one paragraph without Markdown."""
    bare = _EMPHASIS.sub(r"\2", _MARK.sub("", _FENCE.sub("", text)))
    return " ".join(bare.split())


def has_markdown(text: str) -> bool:
    """Return whether a text has a list, heading, quote, emphasis or code of Markdown."""
    return any(pattern.search(text) for pattern in (_MARK, _EMPHASIS, _FENCE))


def _repeated(content: Content) -> Change | None:
    text = content.text.strip()
    return Change(response=f"{text} {text}") if text else None


def _filled(content: Content) -> Change | None:
    return Change(response=f"{content.text.rstrip()} {FILLER}")


def _first_sentence(content: Content) -> Change | None:
    parts = sentences(content.text)
    return Change(response=parts[0]) if len(parts) > 1 else None


def _bulleted(content: Content) -> Change | None:
    return _changed(content, "\n".join(f"- {part}" for part in sentences(plain(content.text))))


def _bold(content: Content) -> Change | None:
    first, *others = sentences(plain(content.text)) or [""]
    return _changed(content, " ".join([f"**{first}**", *others]) if first else "")


def _headed(content: Content) -> Change | None:
    text = plain(content.text)
    return _changed(content, f"# Answer\n\n{text}" if text else "")


def _plain(content: Content) -> Change | None:
    return _changed(content, plain(content.text))


def _changed(content: Content, text: str) -> Change | None:
    return Change(response=text) if text not in {"", content.text.strip()} else None


PROBES = (
    Probe("said-twice", "length", "rise", False, _repeated),
    Probe("filler", "length", "rise", False, _filled),
    Probe("first-sentence", "length", "rise", False, _first_sentence),
    Probe("bullets", "layout", "either", False, _bulleted),
    Probe("bold", "layout", "either", False, _bold),
    Probe("heading", "layout", "either", False, _headed),
    Probe("one-paragraph", "layout", "either", False, _plain),
)
