"""How far a response matches the reference answers: strict, normalized, by common tokens."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from study.datasets import lexical

Match = Literal["EM", "EM-normalized", "F1"]

DEFAULT: tuple[Match, ...] = ("EM",)
"""What is stored with AC where nothing else is asked for."""


def exact_match(response: str, references: Iterable[str]) -> bool:
    """Tell whether a response equals any reference answer, but for white space at both ends.

    Muhamed 2025 (arXiv 2506.20128), section 2.3: EM(r, g) is 1 if r = g, else 0, as strict
    equality of strings. White space at both ends is taken off, as in the prompts.

    Examples
    --------
    >>> exact_match("Paris ", ["Paris"]), exact_match("paris", ["Paris"])
    (True, False)
    """
    text = response.strip()
    return bool(text) and any(text == reference.strip() for reference in references)


def normalized_match(response: str, references: Iterable[str]) -> bool:
    """Tell whether a response equals any reference answer after the normalization of SQuAD.

    Rajpurkar et al. 2016 (arXiv 1606.05250), section 6.1: lower case, without punctuation and the
    articles a, an, the, single-spaced. An empty response matches nothing, as in `exact_match`.

    Examples
    --------
    >>> normalized_match("The Seine.", ["seine"]), normalized_match("the Seine river", ["seine"])
    (True, False)
    """
    return bool(response.strip()) and lexical.exact_match(response, references) == 1


def token_f1(response: str, references: Iterable[str]) -> float:
    """Return the largest F1 of the tokens of a response and of a reference answer, in [0, 1].

    Tokens are the words left by the normalization of `normalized_match`, each as often as it
    occurs; without one in common it is 0 (Rajpurkar et al. 2016, section 6.1).

    Examples
    --------
    >>> token_f1("the Seine river", ["Seine", "river Seine in Paris"])
    0.6666666666666666
    """
    return lexical.token_f1(response, references)


MATCHES: Mapping[Match, Callable[[str, Sequence[str]], float]] = {
    "EM": exact_match,
    "EM-normalized": normalized_match,
    "F1": token_f1,
}
"""Name of each metric, and its share of the scale, from 0 to 1."""
