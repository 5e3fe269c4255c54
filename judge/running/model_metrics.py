"""Metrics that use a model without prompts: an encoder of texts, a classifier of pairs."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from judge.engines.encoders.local_encoder import LocalEncoder
from judge.engines.encoders.local_entailment import LocalEntailment
from judge.engines.engine_settings import OpenAISettings
from judge.metrics.bert_score import BertScore, bert_score_layer
from judge.metrics.embedding import ContextRelevance, Encoder, Similarity
from judge.metrics.metric import Metric
from judge.metrics.nli import NLI
from judge.run_settings import JudgeSettings
from study.errors import StudyError

_OF_TEXTS = {metric.name: metric for metric in (Similarity, ContextRelevance)}


@dataclass(frozen=True)
class MetricModels:
    """Which models the metrics use."""

    encoder: str | None = None
    """A folder, a name on the Hugging Face hub, or with `base_url` a model of that endpoint."""
    base_url: str | None = None
    api_key_env: str = "OPENAI_API_KEY"
    api_key_command: str | None = None
    nli: str | None = None
    """A folder or a name on the Hugging Face hub."""
    label_map: str | None = None
    """What the labels of `nli` mean, as `judge.metrics.nli.label_meanings` reads it."""


def is_model_metric(key: str) -> bool:
    """Return whether the metric of this name uses a model."""
    return key in _OF_TEXTS or key in NLI or bert_score_layer(key) is not None


def model_metrics(
    keys: Sequence[str], models: MetricModels, named: Collection[str] = ()
) -> list[Metric]:
    """Return the metrics of these names; their models are loaded here.

    `named` are those that were named one by one: the others, which a suite named, are left out
    where the model can't measure them.

    Raises
    ------
    StudyError
        A model is not named, not needed, can't be used, or has no such layer.
    """
    pair_metrics = [key for key in keys if key in NLI]
    return [
        *_embedding_metrics([key for key in keys if key not in NLI], models),
        *_nli_metrics(pair_metrics, models, named),
    ]


def _nli_metrics(keys: Sequence[str], models: MetricModels, named: Collection[str]) -> list[Metric]:
    model = models.nli
    if not keys and model:
        raise StudyError("--nli is read by metrics of nli only; name one or leave it out.")
    if not keys:
        return []
    if model is None:
        raise StudyError(
            f"{keys[0]} needs a model of natural language inference: name it with --nli FOLDER."
        )
    loaded = LocalEntailment(model, models.label_map)
    kept = [key for key in keys if loaded.contradicts or not NLI[key].needs_contradiction]
    if refused := [key for key in keys if key in named and key not in kept]:
        raise StudyError(
            f"{refused[0]} needs a label for contradiction, which {loaded.name} lacks: it has two "
            "labels. Leave it out, or name a model with entailment, neutral and contradiction."
        )
    return [NLI[key](loaded) for key in kept]


def _embedding_metrics(keys: Sequence[str], models: MetricModels) -> list[Metric]:
    if not keys:
        if models.encoder or models.base_url:
            raise StudyError(
                "--encoder and --base-url are read by metrics of embedding only; name one or leave "
                "them out."
            )
        return []
    if models.encoder is None:
        raise StudyError(
            f"{keys[0]} needs an encoder: name it with --encoder FOLDER, or with --encoder MODEL "
            "--base-url URL a model behind an endpoint."
        )
    by_tokens = [key for key in keys if bert_score_layer(key)]
    if models.base_url is None:
        local = LocalEncoder(models.encoder)
        return [*_text_metrics(keys, local), *_bert_scores(by_tokens, local)]
    if by_tokens:
        raise StudyError(
            f"{by_tokens[0]} needs the vectors of tokens, which no endpoint returns. Measure it "
            f"with --encoder FOLDER alone, and {', '.join(_OF_TEXTS)} with --base-url."
        )
    return _text_metrics(keys, load_encoder(models))


def load_encoder(models: MetricModels) -> Encoder:
    """Return the encoder of texts that is named, loaded or behind its endpoint.

    Raises
    ------
    StudyError
        It can't be used.
    """
    assert models.encoder is not None  # noqa: S101  (the callers name the option)
    if models.base_url is None:
        return LocalEncoder(models.encoder)
    settings = OpenAISettings.checked(
        base_url=models.base_url,
        api_key_env=models.api_key_env,
        api_key_command=models.api_key_command,
    )
    from judge.engines.encoders.endpoint_encoder import EndpointEncoder

    return EndpointEncoder(models.encoder, settings)


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


def _text_metrics(keys: Iterable[str], encoder: Encoder) -> list[Metric]:
    return [_OF_TEXTS[key](encoder) for key in keys if key in _OF_TEXTS]


def _bert_scores(keys: Iterable[str], encoder: LocalEncoder) -> list[Metric]:
    metrics: dict[str, Metric] = {}
    for key in keys:
        name, layer = bert_score_layer(key) or (key, None)
        layer = encoder.layers if layer is None else layer
        if layer > encoder.layers:
            raise StudyError(
                f"{key}: {encoder.name} has {encoder.layers} layers; name one from 0 to "
                f"{encoder.layers}."
            )
        metric = BertScore(name, encoder, layer)
        metrics[metric.key] = metric
    return list(metrics.values())
