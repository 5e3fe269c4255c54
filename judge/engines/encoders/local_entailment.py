"""A classifier of pairs of texts on this machine, for natural language inference."""

from collections.abc import Sequence
from functools import cached_property

from judge.engines.encoders.model_folder import model_folder
from judge.engines.encoders.transformer_model import TransformerModel, short_name
from judge.metrics.nli import Entailment, entailment_labels, label_meanings


class LocalEntailment:
    """Probabilities of entailment and contradiction.

    Parameters
    ----------
    name
        A folder, or a name on the Hugging Face hub.
    label_map
        What its labels mean, as `judge.metrics.nli.label_meanings` reads it; None: what they say.

    Raises
    ------
    StudyError
        It is not a classifier, can't be loaded, or its labels do not name the two.
    """

    def __init__(self, name: str, label_map: str | None = None) -> None:
        declared = None if label_map is None else label_meanings(label_map)
        folder = model_folder(name, "--nli")
        self._loaded = TransformerModel(folder, "--nli", "AutoModelForSequenceClassification")
        self._labels = entailment_labels(self._loaded.model.config.id2label, folder.name, declared)

    @cached_property
    def identity(self) -> str:
        """Checksum of the weights, window, versions of the libraries, labels."""
        return f"{self._loaded.described} {self._labels}"

    @property
    def contradicts(self) -> bool:
        """Whether one of its labels is contradiction."""
        return self._labels.contradiction is not None

    @cached_property
    def name(self) -> str:
        """Name of the folder and the beginning of the identity's hash."""
        return short_name(self._loaded.folder.name, self.identity)

    def classify(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        """Return the probabilities of each pair; NaN where the model returns it."""
        # Pairs of similar length are computed together.
        order = sorted(range(len(pairs)), key=lambda n: len(pairs[n][0]) + len(pairs[n][1]))
        premises, hypotheses = ([pairs[n][side] for n in order] for side in (0, 1))
        results: list[Entailment] = []
        for batch, cut in self._loaded.batches(premises, hypotheses):
            with self._loaded.torch.inference_mode():
                shares = self._loaded.model(**batch).logits.double().softmax(-1).tolist()
            results += [
                Entailment(
                    row[self._labels.entailment],
                    float("nan")
                    if self._labels.contradiction is None
                    else row[self._labels.contradiction],
                    truncated,
                )
                for row, truncated in zip(shares, cut, strict=True)
            ]
        return [result for _, result in sorted(zip(order, results, strict=True))]
