"""Encoders and classifiers on this machine: the values of the packages, whatever the batch."""

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.judge.tiny_model.process import ROOT
from tests.judge.vllm_cpu.process import environment, vllm_python
from tests.study.datasets.conftest import published_files

pytestmark = pytest.mark.model


def ran(module: str, folder: Path) -> str:
    """Return what a module of this folder prints, run in vLLM's environment."""
    done = subprocess.run(
        [vllm_python(), "-m", f"tests.judge.vllm_cpu.{module}", str(folder)],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment(),
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what `tests.judge.vllm_cpu.encoder_checks` computed."""
    folder = tmp_path_factory.mktemp("encoders")
    ran("encoder_checks", folder)
    loaded: dict[str, Any] = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    return loaded


def test_vectors_are_those_of_mean_pooling_in_any_batch(results: dict[str, Any]) -> None:
    np.testing.assert_allclose(results["together"], results["alone"], rtol=0, atol=1e-6)
    np.testing.assert_allclose(results["alone"], results["mean_pooled"], rtol=0, atol=1e-6)


def test_pooling_and_window_are_read_from_the_files_of_sentence_transformers(
    results: dict[str, Any],
) -> None:
    for pooling in ("cls", "last"):
        pooled, of_tokens = results[pooling]
        np.testing.assert_allclose(pooled, of_tokens, rtol=0, atol=1e-6)
    # [CLS] and [SEP] are tokens; the window is 6.
    assert results["tokens"] == [[6, True], [6, True], [5, False], [6, False], [4, False]]


def test_bert_score_is_that_of_the_package_a_pair_at_a_time(results: dict[str, Any]) -> None:
    # Three values of six pairs in two layers, of which one text is cut.
    assert len(results["package"]) == 36
    assert max(results["package"]) < 1e-6


def test_a_study_is_measured_with_reasons_flags_and_another_key_for_other_weights(
    results: dict[str, Any],
) -> None:
    measured = results["measured"]
    names = {key.split("@")[0] for key in measured["first"]}
    assert names == {
        "similarity tiny",
        "context-relevance tiny",
        "BERTScore",
        "BERTScore-P",
        "BERTScore-R",
    }
    assert {key.split()[0] for key in measured["first"]} >= {"BERTScore@1", "BERTScore@2"}
    for key, counts in measured["first"].items():
        of_passages = key.startswith("context-relevance")
        reasons = {} if of_passages else {"empty_response": 1, "not_finite": 1}
        assert counts["missing"] == reasons, key
        assert counts["stored"] == counts["truncated"] == (4 if of_passages else 2)
        assert measured["again"][key]["stored"] == 0
        assert measured["again"][key]["existing"] == counts["stored"]
    # Other weights under the same name are measured anew, next to the former values.
    assert not set(measured["first"]) & set(measured["other_weights"])
    assert sum(counts["stored"] for counts in measured["other_weights"].values()) == 14
    for rule in measured["rules"]:
        assert " sha256:" in rule
        assert " window:12 transformers:" in rule
        assert rule.endswith(" truncated")


def test_folders_that_are_no_model_are_refused_with_the_remedy(results: dict[str, Any]) -> None:
    expected = [
        "no config.json",
        "can't be loaded",
        "has no weights for encoder.layer.2",
        "names Dense",
        "Hugging Face hub can't be asked",
    ]
    assert len(results["refusals"]) == len(expected)
    for message, words in zip(results["refusals"], expected, strict=True):
        assert words in message
        assert "--encoder" in message


@pytest.mark.parametrize("order", ["forward", "backward"])
def test_probabilities_are_read_by_the_names_of_labels_in_any_batch(
    results: dict[str, Any], order: str
) -> None:
    classified = results["nli"][order]
    together, alone = (np.array(classified[name], float) for name in ("together", "alone"))
    np.testing.assert_allclose(together, alone, rtol=0, atol=1e-6)
    np.testing.assert_allclose(together[:, :2], classified["package"], rtol=0, atol=1e-6)
    # Pairs beyond the window of 12 tokens are cut, the others are not.
    assert 0 < together[:, 2].sum() < len(together)
    assert len({tuple(row) for row in together.round(4).tolist()}) > 10


def test_models_whose_labels_do_not_name_entailment_are_refused(results: dict[str, Any]) -> None:
    unnamed, bare = results["nli"]["refusals"]
    assert "its labels are LABEL_0, LABEL_1, LABEL_2" in unnamed
    assert "has no weights for" in bare
    assert "trained for it" in bare


def test_responses_are_classified_by_sentence_and_passage(results: dict[str, Any]) -> None:
    nli = results["nli"]
    assert len(nli["measured"]) == 4
    for counts in nli["measured"].values():
        assert counts["stored"] == counts["truncated"] == 1
        assert counts["missing"] == {"response_without_words": 1}


def test_similarity_by_a_real_model_has_the_known_figures(tmp_path: Path) -> None:
    """Pearson and Spearman x 100, computed with sentence-transformers and 256 tokens.

    As there, an empty response has the vector of the empty text.
    """
    source = published_files("ragchecker_meta") / "human_labeled_data.json"
    labelled = json.loads(source.read_text(encoding="utf-8"))
    pairs = [
        [p["gt_answer"], *(p[of]["response"] for of in ("model1", "model2"))] for p in labelled
    ]
    (tmp_path / "pairs.json").write_text(json.dumps(pairs), encoding="utf-8")
    differences = json.loads(ran("minilm_similarity", tmp_path))
    for key, expected in (
        ("correctness", (37.87, 40.24)),
        ("completeness", (47.53, 52.68)),
        ("overall", (43.23, 50.18)),
    ):
        labels = [pair[f"{key}_label"] for pair in labelled]
        figures = (
            100 * float(stats.pearsonr(differences, labels).statistic),
            100 * float(stats.spearmanr(differences, labels).statistic),
        )
        assert figures == pytest.approx(expected, abs=0.05), key
