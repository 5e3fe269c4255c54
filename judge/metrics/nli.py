"""Faithfulness and hallucination by a model of natural language inference (NLI).

Such a model says of two texts, a premise and a hypothesis, how probable it is that the premise
entails or contradicts the hypothesis. Here the premises are passages, the hypotheses the sentences
of a response.
"""

from abc import abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from judge.metrics.embedding import NOT_FINITE, with_flag
from judge.metrics.metric import Metric, MetricInput, MissingValue, Steps
from judge.metrics.unicode_words import unicode_words
from study.base.scales import Scale
from study.errors import StudyError
from study.sentences import sentences
from study.types import Sees


class Entailment(NamedTuple):
    """What a model says of a premise and a hypothesis."""

    entailment: float
    """Probability that the premise entails the hypothesis."""
    contradiction: float
    """NaN where the model has no label for it."""
    truncated: bool = False
    """Whether the two were cut at the model's window."""


class EntailmentModel(Hashable, Protocol):
    """A classifier of pairs of texts."""

    @property
    def name(self) -> str:
        """The model with the beginning of the hash of its identity: part of a metric's key."""

    @property
    def identity(self) -> str:
        """What decides the probabilities: weights, window, labels, libraries."""

    @property
    def contradicts(self) -> bool:
        """Whether one of its labels is contradiction."""

    def classify(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        """Return the probabilities of each pair of a premise and a hypothesis."""


Meaning = Literal["entailment", "contradiction", "neutral", "not_entailment"]
MEANINGS: tuple[Meaning, ...] = get_args(Meaning)
"""What an output of a classifier may say; the last one in a model of two labels only."""

_BEGINNINGS: dict[str, Meaning] = {
    "entail": "entailment",
    "contradict": "contradiction",
    "neutral": "neutral",
    "not_entail": "not_entailment",
    "not-entail": "not_entailment",
    "not entail": "not_entailment",
    "non_entail": "not_entailment",
    "non-entail": "not_entailment",
    "consistent": "entailment",
    "supported": "entailment",
    "faithful": "entailment",
    "hallucinat": "not_entailment",
    "inconsistent": "not_entailment",
    "unsupported": "not_entailment",
    "unfaithful": "not_entailment",
}
"""How names of labels begin that state what they mean, in lower case."""


class EntailmentLabels(NamedTuple):
    """Which outputs of a classifier are meant."""

    entailment: int
    contradiction: int | None
    """None: the model has two labels, entailment and what is not."""

    def __str__(self) -> str:
        return f"entailment:{self.entailment} contradiction:{self.contradiction}"


def entailment_labels(
    labels: Mapping[int, str], model: str, declared: Mapping[str, Meaning] | None = None
) -> EntailmentLabels:
    """Return the outputs that mean entailment and contradiction; models order them freely.

    Parameters
    ----------
    labels
        Name of each output, `id2label` of the model.
    model
        Its name, for messages.
    declared
        What labels mean, by name; None: as their names say.

    Raises
    ------
    StudyError
        A declared label is unknown or left out, or it is not stated of exactly one label that it is
        entailment and of one that it is contradiction, or of two labels, what is not entailment.
    """
    names = ", ".join(labels.values())
    example = ",".join(
        f"{label}={meaning}"
        for label, meaning in zip(
            labels.values(),
            ("not_entailment", "entailment") if len(labels) == 2 else MEANINGS,
            strict=False,
        )
    )
    remedy = (
        f"State by the model's documentation what each means, such as --label-map {example}, or "
        "name another model."
    )
    if declared is not None and set(declared) != set(labels.values()):
        raise StudyError(
            f"--label-map names {', '.join(declared) or 'nothing'}, but the labels of {model} are "
            f"{names}. {remedy}"
        )
    means = {
        n: _meaning(label) if declared is None else declared[label] for n, label in labels.items()
    }
    found = list(means.values())
    opposite: list[Meaning | None] = (
        ["contradiction"] if len(labels) > 2 else ["contradiction", "not_entailment"]
    )
    if found.count("entailment") != 1 or sum(map(found.count, opposite)) != 1:
        raise StudyError(
            f"--nli {model}: its labels are {names}, and one has to be entailment and one "
            f"contradiction, or of two, one entailment and one what is not. {remedy}"
        )
    numbers = {meaning: n for n, meaning in means.items()}
    return EntailmentLabels(numbers["entailment"], numbers.get("contradiction"))


def label_meanings(text: str) -> dict[str, Meaning]:
    """Return what labels mean, from a text such as `LABEL_0=not_entailment,LABEL_1=entailment`.

    Raises
    ------
    StudyError
        A part of the text is something else, or names a label again.
    """
    declared: dict[str, Meaning] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        label, _, word = (each.strip() for each in part.rpartition("="))
        meaning = next((known for known in MEANINGS if known == word.lower()), None)
        if not label or meaning is None or label in declared:
            raise StudyError(
                f"--label-map: {part!r} does not state what one label means; write "
                f"LABEL=MEANING, with a meaning of {', '.join(MEANINGS)}, each label once."
            )
        declared[label] = meaning
    return declared


def _meaning(label: str) -> Meaning | None:
    lower = label.lower()
    return next((m for name, m in _BEGINNINGS.items() if lower.startswith(name)), None)


class SupportTable(NamedTuple):
    """The probabilities of the sentences of a response, by passage."""

    entailment: NDArray[np.float64]
    """Of shape (sentences, passages)."""
    contradiction: NDArray[np.float64]
    truncated: bool


def faithfulness(table: SupportTable) -> float:
    """Return the mean over sentences of the largest probability that a passage entails it."""
    return float(table.entailment.max(axis=1).mean())


def hallucination(table: SupportTable) -> float:
    """Return the mean over sentences of the largest probability that a passage contradicts it."""
    return float(table.contradiction.max(axis=1).mean())


def largest_hallucination(table: SupportTable) -> float:
    """Return the largest probability that a passage contradicts a sentence."""
    return float(table.contradiction.max())


class _Nli(Metric):
    """A probability by a model, which is part of the key."""

    name: str
    constructs = ("CC",)
    fields: tuple[Sees, ...] = ("response", "context")
    scale = Scale(min=0, max=1)
    steps = 0
    key_names_model = True
    needs_contradiction = False
    """Whether it needs a label for contradiction."""

    def __init__(self, model: EntailmentModel) -> None:
        self.key = f"{self.name} {model.name}"
        self.version = f"nli-v1 {model.identity}"
        self._tables = _tables(model)

    def score(self, response: MetricInput) -> Steps:
        """Classify what the metric compares."""
        yield from ()
        if not response.response:
            return MissingValue("empty_response")
        if not unicode_words(response.response):
            return MissingValue("response_without_words")
        passages = tuple(text.strip() for text in response.passages)
        table = self._tables(*self.compared(passages, response.response))
        value = self.aggregate(table)
        if not np.isfinite(value):
            return MissingValue(NOT_FINITE)
        return with_flag(value, table.truncated)

    def compared(
        self, passages: tuple[str, ...], response: str
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the premises and the hypotheses: passages, and sentences with words."""
        return passages, tuple(text for text in sentences(response) if unicode_words(text))

    @abstractmethod
    def aggregate(self, table: SupportTable) -> float:
        """Return the value; NaN if any of the probabilities that decide it is NaN."""


class NliFaithfulness(_Nli):
    """`faithfulness`."""

    name = "NLI-faithfulness"

    def aggregate(self, table: SupportTable) -> float:
        """Return the mean over the sentences."""
        return faithfulness(table)


class NliHallucination(_Nli):
    """`hallucination`: a high value is a bad sign."""

    name = "NLI-hallucination"
    low_is_good = True
    needs_contradiction = True

    def aggregate(self, table: SupportTable) -> float:
        """Return the mean over the sentences."""
        return hallucination(table)


class NliHallucinationMax(_Nli):
    """`largest_hallucination`: a high value is a bad sign."""

    name = "NLI-hallucination-max"
    low_is_good = True
    needs_contradiction = True

    def aggregate(self, table: SupportTable) -> float:
        """Return the largest over the sentences."""
        return largest_hallucination(table)


class NliFaithfulnessJoined(_Nli):
    """Probability that all passages as one text entail the whole response.

    Both are cut at the model's window together, which few passages fit into.
    """

    name = "NLI-faithfulness-joined"

    def compared(
        self, passages: tuple[str, ...], response: str
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return one premise and one hypothesis."""
        return ("\n\n".join(passages),), (response,)

    def aggregate(self, table: SupportTable) -> float:
        """Return the only probability."""
        return faithfulness(table)


NLI = {
    metric.name: metric
    for metric in (NliFaithfulness, NliHallucination, NliHallucinationMax, NliFaithfulnessJoined)
}

_Texts = tuple[str, ...]


@lru_cache(maxsize=4)
def _tables(model: EntailmentModel) -> Callable[[_Texts, _Texts], SupportTable]:
    """Return a function whose results the metrics of a model share."""

    @lru_cache(maxsize=256)
    def table(premises: _Texts, hypotheses: _Texts) -> SupportTable:
        pairs = [(premise, hypothesis) for hypothesis in hypotheses for premise in premises]
        results = model.classify(pairs)
        shape = (len(hypotheses), len(premises))
        return SupportTable(
            np.array([result.entailment for result in results]).reshape(shape),
            np.array([result.contradiction for result in results]).reshape(shape),
            any(result.truncated for result in results),
        )

    return table
