"""Metrics without prompts by name, with the models or relevance judgments that they need."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from sqlalchemy import select

from judge.engines.encoders.local_encoder import LocalEncoder
from judge.engines.encoders.local_entailment import LocalEntailment
from judge.engines.encoders.transformer_model import short_name
from judge.engines.engine_settings import OpenAISettings
from judge.metrics.bert_score import BertScore, bert_score_layer
from judge.metrics.embedding import ContextRelevance, Encoder, Similarity
from judge.metrics.metric import Metric
from judge.metrics.nli import NLI
from judge.metrics.registry import SUITES, load_metric
from judge.metrics.relevance_judgments import Relevance, read_relevance
from judge.metrics.retrieval import Retrieval, retrieval_key
from judge.run_settings import DEFAULT_TEXT_METRICS, JudgeSettings
from study.errors import StudyError
from study.schema.tables import (
    judge_runs,
    queries,
    raters,
    response_passages,
    scores as score_table,
)
from study.study import Study

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


def unprompted_metrics(
    study: Study,
    names: Sequence[str],
    qrels: Path | None,
    grades: Mapping[str, float] | None,
    models: MetricModels,
) -> list[Metric]:
    """Return the metrics of these names or suites, parameters as in `measure_study`.

    Raises
    ------
    StudyError
        A name is unknown or its metric sends prompts, or what it needs is not named, not needed, or
        can't be used.
    """
    keys = dict.fromkeys(name for entry in names for name in SUITES.get(entry, (entry,)))
    rankings = {key: found for key in keys if (found := retrieval_key(key)) is not None}
    of_models = [key for key in keys if key in _OF_TEXTS or key in NLI or bert_score_layer(key)]
    metrics = text_metrics([key for key in keys if key not in rankings and key not in of_models])
    if rankings:
        metrics += retrieval_metrics(study, list(dict.fromkeys(rankings.values())), qrels, grades)
    elif qrels is not None:
        raise StudyError("--qrels is read by metrics of retrieval only; name one or leave it out.")
    return metrics + model_metrics(of_models, models, names)


def text_metrics(names: Sequence[str]) -> list[Metric]:
    """Return the metrics of these names, each once.

    Raises
    ------
    StudyError
        A name is unknown, or its metric sends prompts.
    """
    metrics = [load_metric(name) for name in dict.fromkeys(names)]
    prompting = [metric.key for metric in metrics if metric.steps]
    if prompting:
        raise StudyError(
            f"{', '.join(prompting)} asks a model; use `ccrs judge STUDY --metric` instead."
        )
    return metrics


def checked_text_metrics(
    study: Study, names: Sequence[str], constructs: Sequence[str]
) -> list[Metric]:
    """Return metrics without prompts; check that they are on the constructs and have free names.

    Raises
    ------
    StudyError
        A name is unknown, or its metric sends prompts; a metric other than the default measures
        none of the constructs; or a rater, a judge run or an imported scorer other than a metric
        has the name of a metric.
    """
    metrics = text_metrics(names)
    idle = [m for m in metrics if not set(m.constructs) & set(constructs)]
    if idle and tuple(metric.key for metric in metrics) != DEFAULT_TEXT_METRICS:
        raise StudyError(
            f"--text-metrics: {idle[0].key} measures {', '.join(idle[0].constructs)}, which is "
            f"not judged here ({', '.join(constructs)}); leave it out."
        )
    check_names(study, [metric for metric in metrics if metric not in idle])
    return metrics


def check_names(study: Study, metrics: Sequence[Metric]) -> None:
    """Check that no scorer other than a metric has the name of one of these.

    Raises
    ------
    StudyError
        One has.
    """
    statements = (
        select(raters.c.code),
        select(judge_runs.c.name),
        select(score_table.c.scorer).where(score_table.c.scorer_kind != "metric").distinct(),
    )
    with study.read() as connection:
        other_scorers = {n for query in statements for n in connection.execute(query).scalars()}
    for metric in metrics:
        if metric.key in other_scorers:
            raise StudyError(
                f"The study has a scorer named {metric.key!r} that is not a metric; leave "
                f"{metric.key} out, because its scores would be mixed with these."
            )


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
    if by_tokens and models.base_url is not None:
        raise StudyError(
            f"{by_tokens[0]} needs the vectors of tokens, which no endpoint returns. Measure it "
            f"with --encoder FOLDER alone, and {', '.join(_OF_TEXTS)} with --base-url."
        )
    encoder = load_encoder(models)
    of_texts: list[Metric] = [_OF_TEXTS[key](encoder) for key in keys if key in _OF_TEXTS]
    local = _bert_scores(by_tokens, encoder) if isinstance(encoder, LocalEncoder) else []
    return of_texts + local


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
        needs = "needs" if len(comparing) == 1 else "need"
        raise StudyError(
            f"{', '.join(comparing)} {needs} an encoder: name it with --encoder FOLDER, or with "
            "--encoder MODEL --encoder-url URL a model behind an endpoint; or leave it out of "
            "--metric."
        )
    if not comparing:
        return None
    return load_encoder(MetricModels(settings.encoder, settings.encoder_url))


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


def retrieval_metrics(
    study: Study,
    keys: Sequence[str],
    path: Path | None,
    grades: Mapping[str, float] | None = None,
) -> list[Retrieval]:
    """Return the metrics of these keys on the judgments of a file; `grades` are those of words.

    Raises
    ------
    InputError
        With all faults of the file.
    StudyError
        No file is given, or it names no query of the study.
    """
    if path is None:
        raise StudyError(f"{keys[0]} needs relevance judgments: name their file with --qrels FILE.")
    judged = read_relevance(path, grades)
    documents: dict[int, list[str | None]] = {}
    with study.read() as connection:
        named = connection.execute(select(queries.c.key, queries.c.id).order_by(queries.c.id))
        ids = {row.key: row.id for row in named}
        rows = connection.execute(
            select(response_passages.c.response_id, response_passages.c.document).order_by(
                response_passages.c.response_id, response_passages.c.position
            )
        )
        for response, document in rows:
            documents.setdefault(response, []).append(document)
    relevance = {ids[query]: grades for query, grades in judged.items() if query in ids}
    if not relevance:
        raise StudyError(
            f"{path} judges no query of the study; its queries are named like "
            f"{next(iter(judged))!r}, those of the study like {next(iter(ids), None)!r}."
        )
    identity = f"qrels sha256:{_digest(judged, ids)}"
    source = short_name(path.stem, identity)
    return [Retrieval(key, documents, relevance, source, identity) for key in keys]


def _digest(judged: Relevance, queries: Collection[str]) -> str:
    """Return the hash of the judgments on queries of the study, whatever their order and format."""
    used = {query: grades for query, grades in judged.items() if query in queries}
    return sha256(json.dumps(used, sort_keys=True).encode()).hexdigest()
