"""The same content, longer or shorter.

Words said twice and words that say nothing add nothing: a fair judge gives no more for them, and
on information density less. A response cut to its first sentence may honestly be worse.
"""

from judge.metrics.metric import Content
from judge.perturbations.perturbation import Change, Probe
from judge.perturbations.segmentation import sentences

FILLER = (
    "This is a question that many people have asked over time. There are several ways to look at "
    "it, and each has its place. It is worth taking a moment to consider it with care. Further "
    "reading can be found in many places."
)


def _repeated(content: Content) -> Change | None:
    own = content.text.strip()
    return Change(response=f"{own} {own}") if own else None


def _filled(content: Content) -> Change | None:
    return Change(response=f"{content.text.rstrip()} {FILLER}")


def _first_sentence(content: Content) -> Change | None:
    found = sentences(content.text)
    return Change(response=found[0]) if len(found) > 1 else None


PROBES = (
    Probe("said-twice", "length", "rise", False, _repeated),
    Probe("filler", "length", "rise", False, _filled),
    Probe("first-sentence", "length", "rise", False, _first_sentence),
)
