"""Whatever a file holds, it comes in by the rules or is refused in words, with nothing changed."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from study import InputError, Study, import_file
from tests.conftest import examples
from tests.study.importing.conftest import response, rows_of

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["r1A", "q1", "A", "QR", "anna", "human", "85", "1e999", "\x00", "\ud800"]),
    st.lists(st.text(max_size=3) | st.none() | st.integers(), max_size=2),
    st.dictionaries(st.sampled_from(["text", "doc_id", "x"]), st.text(max_size=3), max_size=2),
)
COLUMNS = {
    "responses": ("query_id", "query", "response", "response_id", "system", "passages"),
    "more": ("query", "response", "references", "attributes", "documents", "passages"),
    "scores": ("response_id", "construct", "scorer", "scorer_kind", "value", "repeat"),
    "wide": ("query_id", "system", "anna:QR", "scorer", "QR", "missing_reason"),
    "preferences": ("query_id", "response_a", "response_b", "construct", "scorer", "value"),
    "ragas": ("user_input", "response", "retrieved_contexts", "reference", "system", "QR"),
    "promptfoo": ("promptIdx", "testIdx", "vars", "provider", "response", "gradingResult"),
    "traces": ("id", "timestamp", "input", "output", "sessionId", "scores"),
    "trace scores": ("traceId", "source", "name", "dataType", "value", "stringValue"),
    "spans": (
        "context.span_id",
        "attributes.input.value",
        "attributes.output.value",
        "parent_id",
        "attributes.retrieval.documents",
        "eval.QR.score",
    ),
    "annotations": ("span_id", "annotator_kind", "annotation_name", "result.score", "result"),
}
RECORD = st.fixed_dictionaries(
    {"input": ODD, "actualOutput": ODD, "output": ODD, "id": ODD, "epoch": ODD, "target": ODD},
    optional={
        "metricsData": st.lists(st.dictionaries(st.sampled_from(["name", "score"]), ODD)) | ODD,
        "scores": st.dictionaries(st.sampled_from(["QR", "x"]), ODD) | ODD,
        "gradingResult": st.fixed_dictionaries({"componentResults": ODD}) | ODD,
        "vars": ODD,
    },
)
RELAXED = settings(
    max_examples=examples(80),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    folder = tmp_path_factory.mktemp("standing")
    study = Study.create(folder / "study")
    path = folder / "r.jsonl"
    path.write_text("\n".join(json.dumps(response(1, system)) for system in "AB"))
    import_file(study, path)
    yield study
    study.close()


def holds(study: Study, path: Path) -> None:
    """Import a file: it comes in, or an InputError leaves every table as it was."""
    before = rows_of(study)
    refusal = None
    try:
        import_file(study, path, kinds={"anna": "human"})
    except InputError as error:
        refusal = error
    if refusal is not None:
        assert refusal.faults
        assert rows_of(study) == before
        str(refusal).encode("utf-8", "backslashreplace")


@given(st.binary(max_size=60), st.sampled_from(["csv", "tsv", "jsonl", "json", "parquet", "x"]))
@RELAXED
def test_any_bytes(standing: Study, tmp_path: Path, content: bytes, suffix: str) -> None:
    path = tmp_path / f"any.{suffix}"
    path.write_bytes(content)
    holds(standing, path)


@pytest.mark.parametrize("form", COLUMNS)
@given(st.data())
@RELAXED
def test_any_json_values(form: str, standing: Study, tmp_path: Path, data: st.DataObject) -> None:
    row = st.fixed_dictionaries({}, optional=dict.fromkeys(COLUMNS[form], ODD))
    full = st.fixed_dictionaries(dict.fromkeys(COLUMNS[form], ODD))
    rows = [data.draw(full), *data.draw(st.lists(row, max_size=3))]
    path = tmp_path / "any.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    holds(standing, path)


@pytest.mark.parametrize("form", COLUMNS)
@given(st.data())
@RELAXED
def test_any_cells(form: str, standing: Study, tmp_path: Path, data: st.DataObject) -> None:
    cell = st.text(st.characters(exclude_categories=("Cs",)), max_size=6) | st.sampled_from(
        ["r1A", "q1", "A", "QR", "anna", "human", "85", "1e999", "[", "{", '["a"]', "nan", "-1"]
    )
    rows = data.draw(st.lists(st.lists(cell, min_size=1, max_size=7), max_size=4))
    stream = io.StringIO()
    csv.writer(stream, delimiter=data.draw(st.sampled_from(",;\t"))).writerows(
        [COLUMNS[form], *rows]
    )
    path = tmp_path / "any.csv"
    path.write_text(stream.getvalue(), encoding="utf-8", newline="")
    holds(standing, path)


@given(
    st.sampled_from(["results", "ccrs_results"]),
    st.recursive(ODD, lambda inner: st.lists(inner, max_size=2), max_leaves=4)
    | st.lists(st.fixed_dictionaries({"metrics": ODD, "query": ODD, "response": ODD}), max_size=2),
)
@RELAXED
def test_any_document(standing: Study, tmp_path: Path, key: str, value: object) -> None:
    path = tmp_path / "any.json"
    path.write_text(json.dumps({key: value}))
    holds(standing, path)
    path.write_text(json.dumps(value))
    holds(standing, path)


@given(st.lists(RECORD | ODD, min_size=1, max_size=2))
@RELAXED
def test_any_records_of_other_tools(standing: Study, tmp_path: Path, records: list[object]) -> None:
    path = tmp_path / "any.json"
    for document in (
        {"testCases": records},
        {"eval": {"task": "t", "model": "m"}, "samples": records},
        {"results": {"results": records}},
        {"data": records},
    ):
        path.write_text(json.dumps(document))
        holds(standing, path)
