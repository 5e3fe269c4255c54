"""Agreement of a response with the reference answers: exact, normalized, by common tokens."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence

from judge.metrics.metric import Metric, MetricInput, MetricValue, Steps
from study.base.scales import Scale
from study.datasets import lexical
from study.types import Sees


def exact_match(response: str, references: Iterable[str]) -> bool:
    """Return whether a response equals any reference answer, white space at the ends ignored.

    Muhamed 2025 (arXiv 2506.20128), section 2.3: EM(r, g) is 1 if r = g, else 0, as strict
    equality of strings. White space at both ends is removed, as in the prompts.

    Examples
    --------
    >>> exact_match("Paris ", ["Paris"]), exact_match("paris", ["Paris"])
    (True, False)
    """
    text = response.strip()
    return bool(text) and any(text == reference.strip() for reference in references)


def normalized_match(response: str, references: Iterable[str]) -> bool:
    """Return whether a response equals any reference answer after the normalization of SQuAD.

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


class _Match(Metric):
    """A share from 0 to 1, computed from the texts alone."""

    constructs = ("AC",)
    fields: tuple[Sees, ...] = ("response", "reference")
    scale = Scale(min=0, max=1)
    steps = 0

    def score(self, response: MetricInput) -> Steps:
        """Compare the response with all reference answers."""
        yield from ()
        return MetricValue(self.share(response.response, response.references))

    @abstractmethod
    def share(self, response: str, references: Sequence[str]) -> float:
        """Return the agreement, from 0 to 1."""


class ExactMatch(_Match):
    """`exact_match`."""

    key = "EM"

    def share(self, response: str, references: Sequence[str]) -> float:
        """Return 1 where the response equals a reference answer, else 0."""
        return float(exact_match(response, references))


class NormalizedMatch(_Match):
    """`normalized_match`."""

    key = "EM-normalized"

    def share(self, response: str, references: Sequence[str]) -> float:
        """Return 1 where the response equals a reference answer once normalized, else 0."""
        return float(normalized_match(response, references))


class TokenF1(_Match):
    """`token_f1`."""

    key = "F1"

    def share(self, response: str, references: Sequence[str]) -> float:
        """Return the largest F1 of common tokens."""
        return token_f1(response, references)
