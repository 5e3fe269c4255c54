"""Comparisons of texts that a metric asks for: answered by an encoder, and stored as answers."""

from collections.abc import Sequence

from judge.metrics.embedding import TRUNCATED, Encoder, Vectors
from judge.metrics.metric import Metric, MissingValue, Prompt
from judge.protocol.exchange import ENCODED, Answer
from judge.run_settings import JudgeSettings
from judge.running.answer_store import AnswerStore
from judge.running.metric_requests import PlannedPrompt
from judge.running.model_metrics import MetricModels, load_encoder
from study.errors import StudyError

# Comparisons that are stored together: a kill costs at most these.
_BATCH = 64


class Comparisons:
    """Answers the comparisons of one run, and stores the answers."""

    def __init__(self, encoder: Encoder, store: AnswerStore) -> None:
        self._vectors = Vectors(encoder)
        self._store = store

    def __call__(self, planned: Sequence[PlannedPrompt]) -> None:
        """Store the answers to planned prompts, all of which compare two texts.

        Raises
        ------
        StudyError
            The encoder can't be used any more; the answers before are stored.
        """
        for start in range(0, len(planned), _BATCH):
            some = planned[start : start + _BATCH]
            texts = (text for each in some for text in each.prompt.compared or ())
            self._vectors.prepare(texts)
            self._store.commit([(each.request(), self._answer(each.prompt)) for each in some])

    def _answer(self, prompt: Prompt) -> Answer:
        assert prompt.compared is not None  # noqa: S101  (the caller selects these)
        first, second = prompt.compared
        cosines = self._vectors.cosines(first, [second])
        if isinstance(cosines, MissingValue):
            return Answer(None, missing=cosines.reason, finish_reason=ENCODED)
        [value] = cosines.values
        text = f"{value!r} {TRUNCATED}" if cosines.truncated else repr(value)
        return Answer(text, finish_reason=ENCODED)


def encoder_for(metrics: Sequence[Metric], settings: JudgeSettings) -> Encoder | None:
    """Return the encoder of the settings, loaded, where one of the metrics compares texts.

    Raises
    ------
    StudyError
        It is needed and not named, or can't be used.
    """
    comparing = [metric.key for metric in metrics if metric.compares_texts]
    if comparing and settings.encoder is None:
        raise StudyError(
            f"{', '.join(comparing)} needs an encoder: name it with --encoder FOLDER, or with "
            "--encoder MODEL --encoder-url URL a model behind an endpoint; or leave it out of "
            "--metric."
        )
    if not comparing:
        return None
    return load_encoder(MetricModels(settings.encoder, settings.encoder_url))
