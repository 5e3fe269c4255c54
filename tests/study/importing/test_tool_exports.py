"""Exports of other evaluation tools, written here in their documented formats."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from study import InputError, Study, import_file
from tests.study.importing.conftest import Write, rows_of

SETTINGS = """
[[constructs]]
key = "faithfulness"
name = "Faithfulness"
question = "Does the answer say only what the passages say?"
scale = {min = 0, max = 1}

[[constructs]]
key = "AC"
name = "Answer correctness"
question = "Is the answer right?"
scale = {min = 1, max = 5, step = 1}
"""
TO_FAITHFULNESS = {"faithfulness": "faithfulness"}


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    """Return a study with a construct from 0 to 1 and one from 1 to 5."""
    made = Study.create(tmp_path / "study", SETTINGS)
    yield made
    made.close()


def values(study: Study) -> dict[tuple[str, str], list[float | None]]:
    """Return the values of a study by system and scorer, in order, missing ones last."""
    table = study.score_table()
    result: dict[tuple[str, str], list[float | None]] = {}
    for row in table.itertuples():
        value = None if pd.isna(row.value) else float(row.value)
        result.setdefault((str(row.system), str(row.scorer)), []).append(value)
    return {key: sorted(of, key=lambda v: (v is None, v)) for key, of in result.items()}


def left_out(counts: dict[str, int], *words: str) -> int:
    """Return the number of what was left out whose description contains all words."""
    return sum(n for content, n in counts.items() if all(word in content for word in words))


# promptfoo


def promptfoo_result(index: int, **changes: Any) -> dict[str, Any]:
    """Return a result of promptfoo with an LLM's rubric and a person's grade."""
    result = {
        "id": f"result-{index}",
        "promptIdx": 0,
        "testIdx": index,
        "provider": {"id": "openai:small", "label": ""},
        "prompt": {"raw": f"Answer: Q{index}?", "label": "Answer: {{question}}"},
        "vars": {"question": f"Q{index}?", "context": ["One.", "Two."], "reference": "R.", "n": 1},
        "response": {"output": f"Answer {index}."},
        "score": 0.75,
        "success": True,
        "namedScores": {"faithfulness": 0.5},
        "latencyMs": 12,
        "gradingResult": {
            "pass": True,
            "score": 0.75,
            "reason": "-",
            "componentResults": [
                {"pass": True, "score": 0.5, "reason": "-",
                 "assertion": {"type": "llm-rubric", "metric": "faithfulness"}},
                {"pass": True, "score": 1, "reason": "-", "assertion": {"type": "human"}},
            ],
        },
    }  # fmt: skip
    return {**result, **changes}


def promptfoo(results: list[dict[str, Any]]) -> str:
    """Return a document of promptfoo."""
    inner = {"version": 3, "timestamp": "-", "prompts": [], "results": results, "stats": {}}
    return json.dumps({"evalId": "eval-1", "results": inner, "config": {}})


def test_promptfoo_keeps_scores_and_grades_of_people(study: Study, write: Write) -> None:
    path = write("r.json", promptfoo([promptfoo_result(1), promptfoo_result(2)]))
    summary = import_file(study, path, controls={"human": "faithfulness"})
    assert summary.importer == "promptfoo"
    assert summary.added == {
        "queries": 2, "responses": 2, "outputs": 2, "passages": 2, "scores": 4
    }  # fmt: skip
    assert values(study) == {
        ("openai:small", "promptfoo:faithfulness"): [0.5, 0.5],
        ("openai:small", "promptfoo:human"): [1, 1],
    }
    kinds = dict(study.score_table()[["scorer", "scorer_kind"]].itertuples(index=False))
    assert kinds == {"promptfoo:faithfulness": "judge", "promptfoo:human": "human"}
    assert left_out(summary.left_out, "variable 'n'") == 2
    assert left_out(summary.left_out, "'score' of promptfoo", "--control") == 2
    with study.read() as connection:
        query = connection.exec_driver_sql('SELECT text, "references" FROM query').first()
    assert query is not None
    assert (query[0], json.loads(query[1])) == ("Q1?", ["R."])


def test_promptfoo_providers_and_prompts_are_systems(study: Study, write: Write) -> None:
    results = [
        promptfoo_result(1, id=f"r{prompt}{provider}", promptIdx=index, provider=provider,
                         response={"output": f"{provider} {prompt}"})
        for index, (provider, prompt) in enumerate([("a", 1), ("a", 2), ("b", 1)])
    ]  # fmt: skip
    lines = [json.dumps(result) + "\n" for result in results]
    assert import_file(study, write("r.jsonl", "".join(lines))).importer == "promptfoo"
    assert set(values(study)) == {
        (system, "promptfoo:faithfulness") for system in ("a, prompt 1", "a, prompt 2", "b")
    }


def test_promptfoo_errors_are_no_answers_and_no_zeros(study: Study, write: Write) -> None:
    failed = promptfoo_result(1, response=None, error="timeout", score=0)
    no_grade = promptfoo_result(2, namedScores={})
    component = no_grade["gradingResult"]["componentResults"][0]
    component |= {"score": 0, "metadata": {"graderError": True}}
    summary = import_file(study, write("r.json", promptfoo([failed, no_grade])))
    assert left_out(summary.left_out, "error and no output") == 1
    assert summary.added["responses"] == 1
    table = study.score_table()
    assert table["value"].isna().tolist() == [True]
    assert table["missing_reason"].tolist() == ["grader error"]


def test_promptfoo_assertions_of_one_type_are_numbered(study: Study, write: Write) -> None:
    result = promptfoo_result(1, namedScores={})
    result["gradingResult"]["componentResults"] = [
        {"pass": score > 0, "score": score, "assertion": {"type": kind}}
        for kind, score in (("llm-rubric", 1), ("llm-rubric", 0), ("contains", 1), ("human", 0))
    ]
    controls = dict.fromkeys(("llm-rubric", "llm-rubric 2", "contains"), "faithfulness")
    path = write("r.json", promptfoo([result]))
    summary = import_file(study, path, controls={**controls, "human": ""})
    assert values(study) == {
        ("openai:small", "promptfoo:llm-rubric"): [1],
        ("openai:small", "promptfoo:llm-rubric 2"): [0],
        ("openai:small", "promptfoo:contains"): [1],
    }
    assert left_out(summary.left_out, "'human' of promptfoo") == 1


def test_scores_given_twice_are_refused_or_repeats(study: Study, write: Write) -> None:
    scores = [langfuse_score(1, "EVAL", 0.5), langfuse_score(1, "EVAL", 0.75)]
    path = write("t.json", json.dumps([trace(1, scores=scores)]))
    with pytest.raises(InputError, match="the same response"):
        import_file(study, path, system="A")
    import_file(study, path, system="A", conflicts_as_repeats=True)
    assert values(study) == {("A", "langfuse:faithfulness"): [0.5, 0.75]}


# DeepEval


def deepeval_case(index: int, **changes: Any) -> dict[str, Any]:
    """Return a test case of DeepEval."""
    case = {
        "name": f"test_case_{index}",
        "input": f"Q{index}?",
        "actualOutput": f"Answer {index}.",
        "expectedOutput": "R.",
        "retrievalContext": ["One."],
        "success": True,
        "metricsData": [
            {"name": "Faithfulness", "score": 0.8, "success": True, "evaluationModel": "gpt"},
            {"name": "Correctness [GEval]", "score": 0.25, "evaluationModel": "gpt"},
            {"name": "Bias", "score": 0.0, "evaluationModel": "gpt"},
        ],
    }
    return {**case, **changes}


def test_deepeval_test_run(study: Study, write: Write) -> None:
    failed = [{"name": "Faithfulness", "score": None, "error": "timeout", "evaluationModel": "g"}]
    cases = [
        deepeval_case(1),
        deepeval_case(2, metricsData=failed),
        deepeval_case(3, actualOutput=None),
        {"name": "chat", "turns": [], "metricsData": []},
    ]
    path = write("run.json", json.dumps({"testRunData": {"testCases": cases, "testPassed": 1}}))
    controls, ranges = {"Correctness [GEval]": "AC"}, {"Correctness [GEval]": (0.0, 1.0)}
    summary = import_file(study, path, system="A", controls=controls, ranges=ranges)
    assert summary.importer == "deepeval"
    assert values(study) == {
        ("A", "deepeval:Faithfulness"): [0.8, None],
        ("A", "deepeval:Correctness [GEval]"): [2.0],
    }
    assert left_out(summary.left_out, "'Bias' of deepeval") == 1
    assert left_out(summary.left_out, "without an actual output") == 1
    assert left_out(summary.left_out, "conversations") == 1


def test_deepeval_evaluation_result(study: Study, write: Write) -> None:
    result = {
        "name": "t", "input": "Q?", "actual_output": "A.", "retrieval_context": None,
        "metrics_data": [{"name": "Faithfulness", "score": 1, "evaluation_model": None}],
    }  # fmt: skip
    path = write("run.json", json.dumps({"test_results": [result], "confident_link": None}))
    assert import_file(study, path).importer == "deepeval"
    assert study.score_table()["scorer_kind"].tolist() == ["metric"]


def test_scores_from_0_to_1_are_refused_on_another_scale(study: Study, write: Write) -> None:
    path = write("run.json", json.dumps({"testCases": [deepeval_case(1)]}))
    before = rows_of(study)
    with pytest.raises(InputError, match="AC is rated from 1 to 5") as refused:
        import_file(study, path, controls={"Correctness [GEval]": "AC"})
    assert "--scale 'Correctness [GEval]=0:1'" in str(refused.value)
    assert rows_of(study) == before
    with pytest.raises(InputError, match=r"'Corectness'.*the file's metrics are: 'Faithfulness'"):
        import_file(study, path, controls={"Corectness": "AC"})
    with pytest.raises(InputError, match="'Bias' is mapped to 'XY', which is not a construct"):
        import_file(study, path, controls={"Bias": "XY"})


# Inspect


def inspect_log(samples: list[dict[str, Any]] | None) -> str:
    """Return a log of Inspect."""
    information = {"task": "rag", "model": "openai/small", "run_id": "run"}
    return json.dumps({"version": 2, "status": "success", "eval": information, "samples": samples})


def sample(index: int, epoch: int, scores: Any, **changes: Any) -> dict[str, Any]:
    """Return a sample of a log."""
    made = {
        "id": index,
        "epoch": epoch,
        "input": [{"role": "system", "content": "Be short."},
                  {"role": "user", "content": [{"type": "text", "text": f"Q{index}?"}]}],
        "target": "R.",
        "output": {"choices": [{"message": {"role": "assistant", "content": f"A{epoch}."}}]},
        "metadata": {"context": "One."},
        "scores": scores,
    }  # fmt: skip
    return {**made, **changes}


def test_inspect_epochs_grades_and_errors(study: Study, write: Write) -> None:
    def graded(value: Any) -> dict[str, Any]:
        return {"model_graded_qa": {"value": value, "explanation": "-"}}

    samples = [
        sample(1, 1, graded("C")),
        sample(1, 2, graded("I")),
        sample(2, 1, graded("N"), output={"completion": "Other."}),
        sample(3, 1, graded("P")),
        sample(4, 1, None, output={}, error={"message": "-"}),
        sample(5, 1, {"own": {"value": {"faithfulness": 0.5, "style": "good"}}}),
    ]
    controls = {"model_graded_qa": "faithfulness", "own/faithfulness": "faithfulness"}
    summary = import_file(study, write("log.json", inspect_log(samples)), controls=controls)
    assert summary.importer == "inspect-log"
    assert values(study) == {
        ("openai/small", "inspect:model_graded_qa"): [0.5, 1, None],
        ("openai/small, epoch 2", "inspect:model_graded_qa"): [0],
        ("openai/small", "inspect:own/faithfulness"): [0.5],
    }
    assert left_out(summary.left_out, "error and no output") == 1
    assert left_out(summary.left_out, "'own/style' of inspect") == 1
    with pytest.raises(InputError, match="inspect scores from 0 to 1, and AC is rated from 1"):
        import_file(
            study, write("l.json", inspect_log(samples)), controls={"model_graded_qa": "AC"}
        )
    with pytest.raises(InputError, match="inspect log convert --to json"):
        import_file(study, write("log.eval", b"PK\x03\x04" + bytes(20)))
    with pytest.raises(InputError, match="the log has no samples"):
        import_file(study, write("header.json", inspect_log(None)))


# Langfuse


def trace(index: int, **changes: Any) -> dict[str, Any]:
    """Return a trace of Langfuse."""
    made = {
        "id": f"trace-{index}",
        "timestamp": "2026-11-01T10:00:00Z",
        "name": "rag",
        "sessionId": None,
        "input": {"question": f"Q{index}?", "contexts": ["One."]},
        "output": {"answer": f"Answer {index}."},
    }
    return {**made, **changes}


def langfuse_score(index: int, source: str, value: Any, **changes: Any) -> dict[str, Any]:
    """Return a score of Langfuse."""
    made = {
        "id": f"score-{index}-{source}",
        "traceId": f"trace-{index}",
        "observationId": None,
        "source": source,
        "name": "faithfulness",
        "dataType": "NUMERIC",
        "value": value,
        "stringValue": None,
        "authorUserName": "anna" if source == "ANNOTATION" else None,
    }
    return {**made, **changes}


def test_langfuse_traces_then_scores(study: Study, write: Write) -> None:
    traces = [trace(1), trace(2), trace(2), trace(3, output=None)]
    summary = import_file(study, write("traces.json", json.dumps(traces)), system="A")
    assert summary.importer == "langfuse-traces"
    assert summary.added["responses"] == 2
    assert summary.rules["an identical row twice"] == 1
    assert left_out(summary.left_out, "traces without an output") == 1
    scores = [
        langfuse_score(1, "ANNOTATION", 1),
        langfuse_score(1, "EVAL", 0.75),
        langfuse_score(2, "ANNOTATION", None),
        langfuse_score(2, "API", 1, dataType="BOOLEAN", stringValue="True", name="Faithfulness"),
        langfuse_score(1, "EVAL", 0, dataType="CATEGORICAL", stringValue="odd"),
        langfuse_score(1, "EVAL", 0.1, observationId="span"),
        langfuse_score(1, "EVAL", 0.2, traceId=None),
        langfuse_score(1, "EVAL", 3, name="toxicity"),
    ]
    frame = pd.DataFrame(scores)
    frame.to_csv(write("scores.csv", ""), index=False)
    summary = import_file(study, study.folder.parent / "scores.csv")
    assert summary.importer == "langfuse-scores"
    assert values(study) == {
        ("A", "anna"): [1, None],
        ("A", "langfuse:faithfulness"): [0.75],
        ("A", "langfuse:Faithfulness"): [1],
    }
    for words in ("CATEGORICAL", "observations within a trace", "sessions", "'toxicity'"):
        assert left_out(summary.left_out, words) == 1


def test_langfuse_traces_with_their_scores(study: Study, write: Write) -> None:
    scores = [langfuse_score(1, "ANNOTATION", 1), langfuse_score(1, "EVAL", 0.5)]
    page = {"data": [trace(1, scores=scores, observations=[])], "meta": {"page": 1}}
    assert import_file(study, write("page.json", json.dumps(page))).added["scores"] == 2
    bad = json.dumps(trace(2, scores=[langfuse_score(2, "GUESS", 1)]))
    with pytest.raises(InputError, match="'GUESS' is not a source of scores"):
        import_file(study, write("trace.json", bad))
    with pytest.raises(InputError, match="trace-1"):
        import_file(study, write("again.json", json.dumps([trace(1, output="Other.")])))


# Phoenix

SPANS = [
    {
        "context.span_id": "root-1", "context.trace_id": "t1", "parent_id": None,
        "attributes.input.value": '{"query": "Q1?"}', "attributes.output.value": "Answer 1.",
        "attributes.retrieval.documents": None, "eval.faithfulness.score": 0.5,
    },
    {
        "context.span_id": "inner-1", "context.trace_id": "t1", "parent_id": "root-1",
        "attributes.input.value": "Q1?", "attributes.output.value": None,
        "attributes.retrieval.documents": [{"document.content": "One.", "document.id": "d1"}],
        "eval.faithfulness.score": None,
    },
    {
        "context.span_id": "root-2", "context.trace_id": "t2", "parent_id": None,
        "attributes.input.value": "Q2?", "attributes.output.value": "Answer 2.",
        "attributes.retrieval.documents": None, "eval.faithfulness.score": None,
    },
]  # fmt: skip


@pytest.mark.parametrize("form", ["parquet", "csv", "jsonl"])
def test_phoenix_spans_and_annotations(study: Study, tmp_path: Path, form: str) -> None:
    path, frame = tmp_path / f"spans.{form}", pd.DataFrame(SPANS)
    if form == "parquet":
        frame.to_parquet(path)
    elif form == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_json(path, orient="records", lines=True)
    summary = import_file(study, path, system="A")
    assert summary.importer == "phoenix-spans"
    assert summary.added == {
        "queries": 2, "responses": 2, "outputs": 2, "passages": 1, "scores": 1
    }  # fmt: skip
    assert left_out(summary.left_out, "other than its root") == 1
    annotations = pd.DataFrame(
        {
            "span_id": ["root-1", "root-2", "root-2", "root-2"],
            "annotation_name": ["faithfulness", "faithfulness", "Faithfulness", "faithfulness"],
            "annotator_kind": ["HUMAN", "HUMAN", "CODE", "LLM"],
            "result.score": [1.0, None, None, None],
            "result.label": ["good", None, "fail", "odd"],
            "identifier": ["anna", "anna", "", ""],
        }
    )
    annotations.set_index("span_id").to_csv(tmp_path / "annotations.csv")
    summary = import_file(study, tmp_path / "annotations.csv")
    assert summary.importer == "phoenix-annotations"
    assert values(study) == {
        ("A", "phoenix:faithfulness"): [0.5],
        ("A", "anna"): [1, None],
        ("A", "phoenix:Faithfulness"): [0],
    }
    assert left_out(summary.left_out, "with a label and no score") == 1


def test_phoenix_annotations_of_the_api(study: Study, write: Write) -> None:
    import_file(study, write("s.jsonl", SPANS), system="A")
    item = {"span_id": "root-1", "name": "faithfulness", "annotator_kind": "HUMAN",
            "result": {"score": 0, "label": None}, "user_id": "ben"}  # fmt: skip
    import_file(study, write("a.json", json.dumps({"data": [item], "next_cursor": None})))
    assert values(study)["A", "ben"] == [0]


# ragas


def test_ragas_keeps_its_scores(study: Study, write: Write) -> None:
    rows = [
        {"user_input": f"Q{n}?", "response": f"A{n}.", "retrieved_contexts": ["One."],
         "reference": "R.", "faithfulness": score, "context_recall": 1.0}
        for n, score in ((1, 0.5), (2, None))
    ]  # fmt: skip
    summary = import_file(study, write("r.jsonl", rows), system="A")
    assert summary.importer == "ragas"
    assert summary.left_out == {"cells of the unknown column 'context_recall'": 2}
    assert values(study) == {("A", "ragas:faithfulness"): [0.5, None]}
    text = pd.DataFrame(rows).to_csv(index=False)
    again = import_file(study, write("r.csv", text), system="A")
    assert again.already["scores"] == 2


@pytest.mark.parametrize(
    "content",
    [
        promptfoo([promptfoo_result(1)]),
        json.dumps({"testCases": [deepeval_case(1)]}),
        inspect_log([sample(1, 1, {})]),
        json.dumps([trace(1)]),
        json.dumps([langfuse_score(1, "EVAL", 1)]),
    ],
)
def test_cut_files_are_refused(study: Study, write: Write, content: str) -> None:
    before = rows_of(study)
    for length in (len(content) // 3, len(content) - 2):
        with pytest.raises(InputError, match="cut off"):
            import_file(study, write("cut.json", content[:length]))
    assert rows_of(study) == before
