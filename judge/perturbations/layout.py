"""The same words in another layout: Markdown where there was none, or none where there was some.

Every word stays in its place, so a fair judge moves neither up nor down.
"""

import re

from judge.metrics.metric import Content
from judge.perturbations.perturbation import Change, Probe
from judge.perturbations.segmentation import sentences

# At the beginning of a line: headings, quotes, bullets, numbers of a list.
_MARK = re.compile(r"^\s*(?:#{1,6}\s+|>\s+|[-*+•]\s+|\d{1,3}[.)]\s+)", re.M)
_EMPHASIS = re.compile(r"(\*\*|__|`)(?=\S)(.+?)(?<=\S)\1")
_FENCE = re.compile(r"^\s*```.*$", re.M)


def _bulleted(content: Content) -> Change | None:
    own = sentences(plain(content.text))
    if not own:
        return None
    changed = "\n".join(f"- {sentence}" for sentence in own)
    return _differing(content, changed)


def _bold(content: Content) -> Change | None:
    own = sentences(plain(content.text))
    if not own:
        return None
    first, *rest = own
    return _differing(content, " ".join([f"**{first}**", *rest]))


def _headed(content: Content) -> Change | None:
    own = plain(content.text)
    return _differing(content, f"# Answer\n\n{own}") if own else None


def _plain(content: Content) -> Change | None:
    own = plain(content.text)
    return _differing(content, own) if own else None


def plain(text: str) -> str:
    """Return a text as one paragraph without Markdown."""
    bare = _EMPHASIS.sub(r"\2", _MARK.sub("", _FENCE.sub("", text)))
    return " ".join(bare.split())


def has_markdown(text: str) -> bool:
    """Tell whether a text has a list, heading, quote, emphasis or code of Markdown."""
    return any(pattern.search(text) for pattern in (_MARK, _EMPHASIS, _FENCE))


def _differing(content: Content, changed: str) -> Change | None:
    return None if changed == content.text.strip() else Change(response=changed)


PROBES = (
    Probe("bullets", "layout", "either", False, _bulleted),
    Probe("bold", "layout", "either", False, _bold),
    Probe("heading", "layout", "either", False, _headed),
    Probe("one-paragraph", "layout", "either", False, _plain),
)
