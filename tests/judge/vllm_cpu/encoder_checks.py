"""What models on this machine compute, next to what packages compute of the same weights.

`python -m tests.judge.vllm_cpu.encoder_checks FOLDER` writes FOLDER/results.json, which
test_encoders.py tests. Runs in vLLM's environment, which has torch and transformers.
"""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bert_score as package
import torch
from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer

from judge.engines.encoders.local_encoder import LocalEncoder
from judge.engines.encoders.local_entailment import LocalEntailment
from judge.metrics.bert_score import bert_score
from judge.metrics.embedding import Embedding
from judge.metrics.nli import NLI
from judge.running.text_scores import measure_study
from judge.running.unprompted_metrics import MetricModels
from study import Study, StudyError
from tests.judge.small_studies import store
from tests.judge.vllm_cpu import tiny_bert

TEXTS = [
    "Paris is the capital of France.",
    "The Seine is a river in France. It was not long.",
    "It is.",
    "Short and long.",
    "the river",
]
LONG = "the river is long and " * 4


def vectors(encoder: LocalEncoder, texts: list[str]) -> list[list[float]]:
    """Return the vectors as lists, for JSON."""
    return [r.vector.tolist() for r in encoder.embed(texts) if isinstance(r, Embedding)]


def mean_pooled(folder: Path, texts: list[str]) -> list[list[float]]:
    """Return the mean of the vectors of each text's tokens, by transformers alone."""
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder)
    batches = [tokenizer(text, truncation=True, return_tensors="pt") for text in texts]
    with torch.inference_mode():
        return [model(**batch).last_hidden_state[0].mean(0).tolist() for batch in batches]


def compared_with_package(encoder: LocalEncoder, folder: Path) -> list[float]:
    """Return the differences from bert-score, a pair at a time."""
    differences: list[float] = []
    for layer in (1, 2):
        scorer = package.BERTScorer(str(folder), num_layers=layer, device="cpu", batch_size=1)
        for first in [*TEXTS, LONG]:
            second = TEXTS[(TEXTS.index(first) + 1) % len(TEXTS)] if first in TEXTS else TEXTS[0]
            parts = scorer.score([first], [second])
            values = bert_score(*(encoder.token_vectors(text, layer) for text in (first, second)))
            differences += [abs(a - float(b)) for a, b in zip(values, parts, strict=True)]
    return differences


def measured(folder: Path, model: Path) -> dict[str, Any]:
    """Measure a study twice, and again with other weights of the same name."""
    study = Study.create(folder / "study")
    for system, text in (("A", TEXTS[0]), ("B", LONG), ("C", ""), ("D", "nan"), ("E", TEXTS[0])):
        row = {"query_id": "q", "query": "Paris?", "references": TEXTS[:2]}
        store(study, {**row, "system": system, "response": text, "passages": TEXTS})
    names = ["embedding", "BERTScore-P", "BERTScore-R", "BERTScore@1"]

    def counts() -> Any:
        return measure_study(study, names, ["AC"], models=MetricModels(str(model)))

    result = {"first": counts(), "again": counts()}
    scores = study.score_table()
    result["rules"] = sorted(set(scores["rule"].dropna()))
    shutil.rmtree(model)
    tiny_bert.encoder(model, 2)
    result["other_weights"] = counts()
    study.close()
    return result


def classified(folder: Path) -> dict[str, Any]:
    """Return probabilities of pairs, together, alone and by transformers, for two label orders."""
    labels = ["contradiction", "neutral", "ENTAILMENT"]
    results: dict[str, Any] = {}
    for name, order in (("forward", labels), ("backward", labels[::-1])):
        model = folder / name
        tiny_bert.classifier(model, order)
        loaded = LocalEntailment(str(model))
        pairs = [(premise, hypothesis) for premise in [*TEXTS, LONG] for hypothesis in TEXTS]
        results[name] = {
            "together": loaded.classify(pairs),
            "alone": [loaded.classify([pair])[0] for pair in pairs],
            "package": probabilities(model, pairs, order),
        }
    unnamed, bare = folder / "unnamed", folder / "bare-encoder"
    tiny_bert.classifier(unnamed, ["LABEL_0", "LABEL_1", "LABEL_2"])
    tiny_bert.encoder(bare, 1)
    results["refusals"] = refused(*(lambda p=p: LocalEntailment(str(p)) for p in (unnamed, bare)))
    with Study.create(folder / "classified") as study:
        for system, text in (("A", TEXTS[1]), ("B", "...")):
            row = {"query_id": "q", "query": "Paris?", "references": [], "system": system}
            store(study, {**row, "response": text, "passages": TEXTS[:3]})
        models = MetricModels(nli=str(folder / "forward"))
        results["measured"] = measure_study(study, list(NLI), models=models)
    return results


def probabilities(
    folder: Path, pairs: list[tuple[str, str]], labels: list[str]
) -> list[list[float]]:
    """Return the probabilities of entailment and contradiction, by transformers alone."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder)
    batches = [tokenizer(*p, truncation="longest_first", return_tensors="pt") for p in pairs]
    with torch.inference_mode():
        rows = [model(**batch).logits[0].softmax(-1).tolist() for batch in batches]
    names = ("ENTAILMENT", "contradiction")
    return [[shares[labels.index(name)] for name in names] for shares in rows]


def refused(*attempts: Callable[[], object]) -> list[str]:
    """Return the messages of what must be refused."""
    messages = []
    for attempt in attempts:
        try:
            attempt()
        except StudyError as error:
            messages.append(str(error))
    return messages


def refusals(folder: Path, model: Path) -> list[str]:
    """Return what is said of folders that can't be used."""
    empty, bare, no_weights, dense = (folder / n for n in ("empty", "bare", "no-weights", "dense"))
    empty.mkdir()
    shutil.copytree(model, bare)
    (bare / "model.safetensors").unlink()
    shutil.copytree(model, no_weights)
    config = json.loads((no_weights / "config.json").read_text())
    (no_weights / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 3}))
    shutil.copytree(model, dense)
    (dense / "modules.json").write_text(json.dumps([{"type": "x.models.Dense", "path": "2"}]))
    folders = [*map(str, (empty, bare, no_weights, dense)), "no-such-model"]
    return refused(*(lambda name=name: LocalEncoder(name) for name in folders))


def pooled(model: Path, folder: Path, **pooling: Any) -> LocalEncoder:
    """Return the model with the files of sentence-transformers, and a window of 6 tokens."""
    shutil.copytree(model, folder)
    modules = [{"type": "s.Transformer", "path": ""}, {"type": "s.Pooling", "path": "pool"}]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "pool").mkdir()
    (folder / "pool/config.json").write_text(json.dumps(pooling))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 6}))
    return LocalEncoder(str(folder))


def main(folder: Path) -> None:
    """Write all results."""
    model = folder / "tiny"
    tiny_bert.encoder(model, 1)
    encoder = LocalEncoder(str(model))
    cls = pooled(model, folder / "cls", pooling_mode_cls_token=True)
    last = pooled(model, folder / "last", pooling_mode="lasttoken")
    tokens = [cls.token_vectors(text, 2) for text in TEXTS]
    many = TEXTS * 4
    results = {
        "together": vectors(encoder, many),
        "alone": [vectors(encoder, [text])[0] for text in many],
        "mean_pooled": mean_pooled(model, many),
        "cls": [vectors(cls, TEXTS), [each.vectors[0].tolist() for each in tokens]],
        "last": [vectors(last, TEXTS), [each.vectors[-1].tolist() for each in tokens]],
        "tokens": [[len(each.vectors), each.truncated] for each in tokens],
        "package": compared_with_package(encoder, model),
        "refusals": refusals(folder, model),
        "measured": measured(folder, model),
        "nli": classified(folder),
    }
    (folder / "results.json").write_text(json.dumps(results), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
