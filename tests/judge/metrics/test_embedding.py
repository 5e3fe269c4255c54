"""Metrics of vectors without a model: a scripted encoder, and an endpoint in this process."""

import json
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judge.engines.encoders.endpoint_encoder import EndpointEncoder
from judge.engines.encoders.model_folder import model_folder
from judge.engines.engine_settings import OpenAISettings
from judge.engines.openai import endpoint as endpoint_module
from judge.metrics.bert_score import TokenVectors, bert_score, bert_score_layer
from judge.metrics.embedding import ContextRelevance, Embedding, Similarity, cosine
from judge.metrics.metric import Metric, MissingValue
from judge.running import text_scores
from judge.running.pages import places
from judge.running.text_scores import measure_study, store_text_metrics
from judge.running.unprompted_metrics import MetricModels, model_metrics
from study import Study, StudyError
from tests.judge.small_studies import fill, store


class Scripted:
    """Vectors from a table, by the last word of a text."""

    name = "scripted@1"
    identity = "made up"

    def __init__(self, **vectors: Sequence[float]) -> None:
        self.vectors = vectors
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[Embedding | MissingValue]:
        self.asked += texts
        return [
            Embedding(np.array(self.vectors[text.split()[-1]], float), text.startswith("long"))
            for text in texts
        ]


def measured(study: Study, *metrics: Metric) -> dict[str, tuple[Any, ...]]:
    """Return value, reason and rule by system."""
    store_text_metrics(study, places(study), metrics, on=["AC"], keep_missing=True)
    table = study.score_table().sort_values("system")
    columns = table[["value", "missing_reason", "rule"]].astype(object)
    rows = columns.where(columns.notna(), None).itertuples(index=False)
    return {str(system): tuple(row) for system, row in zip(table["system"], rows, strict=True)}


def one_query(study: Study, references: Sequence[str], **responses: str) -> None:
    for system, text in responses.items():
        row = {"query_id": "q", "query": "north", "references": list(references)}
        store(study, {**row, "system": system, "response": text, "passages": ["north", "east"]})


def test_similarity_is_the_largest_cosine_and_what_is_missing_has_a_reason(study: Study) -> None:
    encoder = Scripted(north=[0, 2], east=[3, 0], south=[0, -1], zero=[0, 0])
    one_query(study, ["north", " "], A="east", B="south", C=" ", D="zero", E="long north")
    rule = "similarity-v1 made up"
    # From -1 to 1 onto the construct's 0 to 100.
    assert measured(study, Similarity(encoder)) == {
        "A": (50, None, rule),
        "B": (0, None, rule),
        "C": (None, "empty_response", None),
        "D": (None, "not_finite", None),
        "E": (100, None, f"{rule} truncated"),
    }
    assert sorted(encoder.asked) == ["east", "long north", "north", "south", "zero"]


def test_without_a_reference_there_is_no_similarity(study: Study) -> None:
    one_query(study, [" "], A="east")
    assert measured(study, Similarity(Scripted()))["A"] == (None, "no_reference", None)


def test_context_relevance_is_the_mean_over_the_passages(study: Study) -> None:
    one_query(study, [], A="east")
    value, *_ = measured(study, ContextRelevance(Scripted(north=[0, 2], east=[3, 0])))["A"]
    assert value == 75
    store(study, {"query_id": "q", "query": "north", "response": "x", "system": "B"})
    missing = measured(study, ContextRelevance(Scripted(north=[0, 2], east=[3, 0])))
    assert missing["B"] == (None, "no_passages", None)


def test_a_stored_value_on_the_retrieval_is_not_computed_again(study: Study) -> None:
    one_query(study, [], A="east")
    encoder = Scripted(north=[0, 2], east=[3, 0])
    for existing in (0, 1):
        encoder.asked.clear()
        [counts] = store_text_metrics(
            study, places(study), [ContextRelevance(encoder)], keep_missing=True
        ).values()
        assert (counts["existing"], bool(encoder.asked)) == (existing, not existing)


def test_an_encoder_that_changes_its_size_is_refused(study: Study) -> None:
    one_query(study, ["north"], A="east")
    encoder = Scripted(north=[0, 2], east=[3, 0, 0])
    with pytest.raises(StudyError, match=r"vectors of 2 and of 3 numbers|of 3 and of 2 numbers"):
        measured(study, Similarity(encoder))
    assert study.score_table().empty


def test_an_interrupted_call_embeds_only_what_has_no_value(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    class KilledError(Exception):
        pass

    def killed(done: int, total: int) -> None:
        assert (done, total) == (4, 12)
        raise KilledError

    fill(study)
    vectors = {word: [1.0, 2.0] for word in ("A.", "two.", "C.", "1.", "2.", "3.")}
    encoder = Scripted(**vectors)
    monkeypatch.setattr(text_scores, "_SLOW_PAGE", 1)
    with pytest.raises(KilledError):
        store_text_metrics(study, places(study), [Similarity(encoder)], advance=killed)
    first, encoder.asked = set(encoder.asked), []
    counts = store_text_metrics(study, places(study), [Similarity(encoder)])
    assert counts["similarity scripted@1"] == {
        "stored": 8,
        "existing": 4,
        "differing": 0,
        "truncated": 0,
        "missing": {},
    }
    assert not first & set(encoder.asked)
    assert len(encoder.asked) == len(set(encoder.asked))


def test_cosine_of_a_vector_without_direction_is_nan() -> None:
    assert np.isnan(cosine(np.zeros(2), np.ones(2)))
    assert np.isnan(cosine(np.array([np.inf, 1]), np.ones(2)))


def test_bert_score_by_hand() -> None:
    # Marks at the ends may be matched, but are not in the mean.
    response = TokenVectors(np.array([[1, 0], [0, 3], [1, 0]]), np.array([False, True, False]))
    reference = TokenVectors(np.array([[-1, 0], [2, 2], [1, 0]]), np.array([False, True, True]))
    precision, recall, f1 = bert_score(response, reference)
    assert precision == pytest.approx(2**-0.5)
    assert recall == pytest.approx((2**-0.5 + 1) / 2)
    assert f1 == pytest.approx(2 * precision * recall / (precision + recall))


def test_a_layer_is_part_of_the_name() -> None:
    assert bert_score_layer("BERTScore-P@5") == ("BERTScore-P", 5)
    assert bert_score_layer("BERTScore") == ("BERTScore", None)
    assert bert_score_layer("BERTScore@") is bert_score_layer("ROUGE-L@5") is None


@pytest.mark.parametrize(
    ("names", "models", "message"),
    [
        (["similarity"], MetricModels(), r"--encoder FOLDER"),
        (["BERTScore"], MetricModels("m", "http://localhost:1/v1"), "vectors of tokens"),
        (["F1"], MetricModels("m"), "by metrics of embedding only"),
        (["similarity"], MetricModels("m", "localhost"), "base_url: write it as"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    study: Study, names: list[str], models: MetricModels, message: str
) -> None:
    fill(study, 1)
    with pytest.raises(StudyError, match=message):
        measure_study(study, names, ["AC"], models=models)


def test_without_the_libraries_the_extra_is_named(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.json").write_text("{}")
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(StudyError, match=r"ccrs-study\[encoders\]"):
        model_metrics(["similarity"], MetricModels(str(tmp_path)))
    with pytest.raises(StudyError, match=r"config\.json"):
        model_metrics(["similarity"], MetricModels(str(tmp_path.parent)))


class _Served(ThreadingHTTPServer):
    """An endpoint for embeddings: the vector of a text is its length and its number of words."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.down = 0
        self.model = "e5"
        self.changes: dict[str, Any] = {}
        """Entries of each vector that are replaced."""


class _Handler(BaseHTTPRequestHandler):
    server: _Served

    def do_POST(self) -> None:
        """Answer 503 as often as wanted, 400 to long texts, otherwise vectors, the last first."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        served = self.server
        served.requests.append(body)
        served.keys.append(self.headers.get("Authorization"))
        status, reply = 200, {}
        if served.down:
            served.down -= 1
            status, reply = 503, {"error": {"message": "busy"}}
        elif any(len(text) > 50 for text in body["input"]):
            status, reply = 400, {"error": {"message": "input is too long"}}
        else:
            vectors = [
                {"index": n, "embedding": [None] if text == "nan" else [len(text), 1]}
                for n, text in enumerate(body["input"])
            ]
            for entry in vectors:
                entry.update(served.changes)
            reply = {"model": served.model, "data": vectors[::-1]}
        text = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Served]:
    monkeypatch.setattr(endpoint_module, "FIRST_WAIT", 0.0)
    with _Served() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_an_endpoint_is_asked_again_and_its_answers_stay_in_order(
    served: _Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEY", "secret")
    url = f"http://127.0.0.1:{served.server_port}/v1"
    encoder = EndpointEncoder("org/e5", OpenAISettings(base_url=url, api_key_env="KEY"))
    assert encoder.identity == f"{url} served:e5 size:2"
    assert encoder.name.startswith("e5@")
    served.down = 2
    results = encoder.embed(["a", "bb b", "nan", "x" * 60])
    assert results[2:] == [MissingValue("not_finite"), MissingValue("too_long")]
    vectors = [r.vector.tolist() for r in results if isinstance(r, Embedding)]
    assert vectors == [[1, 1], [4, 1]]
    assert set(served.keys) == {"Bearer secret"}
    served.model = "other"
    with pytest.raises(StudyError, match=r"answers with the model other.*e5"):
        encoder.embed(["a"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"index": 0}, "numbered the vectors of 2 texts as"),
        ({"index": None}, "numbered the vectors of 2 texts as"),
        ({"index": "x"}, "numbered the vectors of 2 texts as"),
        ({"embedding": ["a", "b"]}, "entries that are not numbers"),
        ({"embedding": []}, "an entry without a vector"),
    ],
)
def test_vectors_that_cannot_be_told_apart_are_refused(
    served: _Served, changes: dict[str, Any], message: str
) -> None:
    url = f"http://127.0.0.1:{served.server_port}/v1"
    encoder = EndpointEncoder("org/e5", OpenAISettings(base_url=url))
    served.changes = changes
    with pytest.raises(StudyError, match=message):
        encoder.embed(["a", "b"])


def test_a_model_folder_has_the_name_that_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "snapshots" / "c5f3"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}", encoding="utf-8")
    (tmp_path / "minilm").symlink_to(folder)
    assert model_folder(str(tmp_path / "minilm"), "--encoder").name == "minilm"
    assert model_folder(f"{tmp_path}/minilm/", "--encoder").name == "minilm"
    monkeypatch.chdir(folder)
    assert model_folder(".", "--encoder").name == "c5f3"
