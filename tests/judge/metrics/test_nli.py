"""Metrics of entailment without a model: what becomes of a classifier's probabilities."""

from collections.abc import Sequence
from typing import Any

import pytest

from judge.metrics.nli import (
    NLI,
    Entailment,
    NliFaithfulness,
    NliFaithfulnessJoined,
    NliHallucination,
    NliHallucinationMax,
    entailment_labels,
    label_meanings,
)
from judge.running import unprompted_metrics
from judge.running.pages import places
from judge.running.text_scores import measure_study, store_text_metrics
from judge.running.unprompted_metrics import MetricModels
from study import Study, StudyError
from tests.judge.small_studies import fill, store


class Scripted:
    """A classifier that entails what the premise contains, and knows what is denied."""

    name = "scripted@1"
    identity = "made up"
    contradicts = True

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def classify(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        self.asked += pairs
        return [
            Entailment(
                float("nan") if "nan" in hypothesis else 0.9 if hypothesis in premise else 0.2,
                0.7 if f"Not so: {hypothesis}" in premise else 0.1,
                premise.startswith("Long"),
            )
            for premise, hypothesis in pairs
        ]


def one_query(study: Study, *passages: str, **responses: str) -> None:
    for system, text in responses.items():
        row = {"query_id": "q", "query": "?", "references": [], "response": text}
        store(study, {**row, "system": system, "passages": list(passages)})


def measured(study: Study, kind: type[Any], model: Scripted) -> dict[str, tuple[Any, ...]]:
    """Return value, reason and rule by system."""
    store_text_metrics(study, places(study), [kind(model)], keep_missing=True)
    table = study.score_table()
    table = table[table["scorer"] == f"{kind.name} scripted@1"].sort_values("system")
    columns = table[["value", "missing_reason", "rule"]].astype(object)
    rows = columns.where(columns.notna(), None).itertuples(index=False)
    return {str(system): tuple(row) for system, row in zip(table["system"], rows, strict=True)}


PASSAGES = ("It rains. It is cold.", "Not so: It is late.")


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        # Sentences: entailed, unknown, and one that is contained and denied.
        (NliFaithfulness, (0.9 + 0.2 + 0.9) / 3),
        (NliHallucination, (0.1 + 0.1 + 0.7) / 3),
        (NliHallucinationMax, 0.7),
        (NliFaithfulnessJoined, 0.2),
    ],
)
def test_sentences_count_by_their_most_telling_passage(
    study: Study, kind: type[Any], expected: float
) -> None:
    one_query(study, *PASSAGES, A="It is cold. Who knows?\n... It is late.")
    [(value, reason, rule)] = measured(study, kind, Scripted()).values()
    assert value == pytest.approx(100 * expected)
    assert (reason, rule) == (None, "nli-v1 made up")


def test_metrics_of_one_model_share_its_answers(study: Study) -> None:
    one_query(study, *PASSAGES, A="It rains. It snows.", B="It rains. It snows.")
    model = Scripted()
    metrics = [kind(model) for kind in NLI.values()]
    store_text_metrics(study, places(study), metrics)
    # Two sentences by two passages, and all of it once.
    assert len(model.asked) == len(set(model.asked)) == 5


def test_what_has_no_value_has_a_reason(study: Study) -> None:
    one_query(study, "Long.", "Short.", A="", B="...", C="It is nan. So.", D="It is.")
    one_query(study, E="It is.")
    values = measured(study, NliFaithfulness, Scripted())
    assert [values[system][1] for system in "ABCE"] == [
        "empty_response",
        "response_without_words",
        "not_finite",
        "no_passages",
    ]
    assert values["D"] == (pytest.approx(20), None, "nli-v1 made up truncated")
    assert all(values[system][0] is None for system in "ABCE")


def test_labels_are_found_by_name() -> None:
    assert entailment_labels({0: "ENTAILMENT", 1: "neutral", 2: "Contradiction"}, "m") == (0, 2)
    assert entailment_labels({0: "entailment", 1: "not_entailment"}, "m") == (0, None)
    assert entailment_labels({0: "hallucinated", 1: "consistent"}, "m") == (1, None)
    unnamed = {0: "LABEL_0", 1: "LABEL_1"}
    remedy = "--label-map LABEL_0=not_entailment,LABEL_1=entailment"
    with pytest.raises(StudyError, match=rf"--nli m: its labels are LABEL_0.*{remedy}"):
        entailment_labels(unnamed, "m")
    declared = label_meanings("LABEL_0=entailment, LABEL_1 = not_entailment")
    assert entailment_labels(unnamed, "m", declared) == (0, None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("LABEL_0", "'LABEL_0' does not state"),
        ("LABEL_0=true,LABEL_1=entailment", "a meaning of entailment, contradiction"),
        ("LABEL_0=entailment,LABEL_0=neutral", "each label once"),
        ("LABEL_0=entailment", "names LABEL_0, but the labels of m are LABEL_0, LABEL_1"),
        ("LABEL_0=entailment,LABEL_1=neutral", "one has to be entailment and one contradiction"),
    ],
)
def test_what_a_label_map_lacks_is_named(text: str, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        entailment_labels({0: "LABEL_0", 1: "LABEL_1"}, "m", label_meanings(text))


def test_a_model_of_two_labels_measures_what_they_say(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    class TwoLabels(Scripted):
        contradicts = False

    monkeypatch.setattr(unprompted_metrics, "LocalEntailment", lambda *_: TwoLabels())
    one_query(study, *PASSAGES, A="It is cold.")
    names = ["nli", "NLI-faithfulness-joined"]
    measured_by = measure_study(study, names, models=MetricModels(nli="m"))
    assert set(measured_by) == {
        "NLI-faithfulness scripted@1",
        "NLI-faithfulness-joined scripted@1",
    }
    with pytest.raises(StudyError, match="NLI-hallucination needs a label for contradiction"):
        measure_study(study, ["NLI-hallucination"], models=MetricModels(nli="m"))


@pytest.mark.parametrize(
    ("names", "models", "message"),
    [
        (["nli"], MetricModels(), "--nli FOLDER"),
        (["F1"], MetricModels(nli="m"), "by metrics of nli only"),
        (["nli"], MetricModels(nli=__file__), "is a file"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    study: Study, names: list[str], models: MetricModels, message: str
) -> None:
    fill(study, 1)
    with pytest.raises(StudyError, match=message):
        measure_study(study, names, models=models)
    assert study.score_table().empty
