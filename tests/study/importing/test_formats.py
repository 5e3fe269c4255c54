"""Every format is recognised by itself and read into the same rows."""

import csv
import json
from pathlib import Path

import pandas as pd
import pytest

from study import InputError, Study, StudyError, import_file
from tests.study.importing.conftest import Write, response


def test_responses_as_csv_parquet_and_json_are_the_same(tmp_path: Path) -> None:
    rows = [response(1, "A", passages=["p, one", "p\ntwo"]), response(1, "B", references=[])]
    frame = pd.DataFrame(rows)
    frame.to_parquet(tmp_path / "r.parquet")
    frame.to_json(tmp_path / "r.json", orient="records")
    cells = frame.assign(
        passages=frame["passages"].map(json.dumps), references=frame["references"].map(json.dumps)
    )
    cells.to_csv(tmp_path / "r.csv", index=False)
    contents = []
    for name in ("r.csv", "r.parquet", "r.json"):
        study = Study.create(tmp_path / name.replace(".", "-"))
        assert import_file(study, tmp_path / name).importer == "responses"
        with study.read() as connection:
            contents.append(
                connection.exec_driver_sql(
                    "SELECT r.key, r.text, r.content_hash, r.context_hash, q.key, q.text, "
                    'q."references", o.system FROM response r JOIN query q ON q.id = r.query_id '
                    "JOIN output o ON o.response_id = r.id ORDER BY 1"
                ).all()
            )
        study.close()
    assert contents[0] == contents[1] == contents[2]


def test_numbered_passages_attributes_and_documents(study: Study, write: Write) -> None:
    text = (
        "question,answer,passage_1,passage_2,passage_10,attribute.domain,documents,mood\n"
        'Q?,A,one,,ten,law,"[""d1"", ""d2""]",good\n'
    )
    summary = import_file(study, write("r.csv", text))
    assert summary.left_out == {"cells of the unknown column 'mood'": 1}
    with study.read() as connection:
        query = connection.exec_driver_sql("SELECT attributes FROM query").scalar_one()
        places = connection.exec_driver_sql(
            "SELECT p.text, rp.document FROM response_passage rp JOIN passage p "
            "ON p.id = rp.passage_id ORDER BY rp.position"
        ).all()
    assert json.loads(query) == {"domain": "law"}
    assert [tuple(place) for place in places] == [("one", "d1"), ("ten", "d2")]


def test_scores_wide_by_construct(filled: Study, write: Write) -> None:
    text = "response_id,scorer,scorer_kind,QR,CC\nr1A,anna,human,80,\nr1B,anna,human,70,60\n"
    summary = import_file(filled, write("s.csv", text))
    assert summary.importer == "scores-wide"
    assert summary.rows == 2
    assert summary.added == {"scores": 4}
    assert filled.score_table()["missing_reason"].tolist().count("blank") == 1


def test_scores_wide_by_scorer_and_construct(filled: Study, write: Write) -> None:
    text = "query_id,system,anna:QR,llama:70b:QR\nq1,A,80,90\nq1,B,70,\n"
    kinds = {"anna": "human", "llama:70b": "judge"}
    summary = import_file(filled, write("s.csv", text), kinds=kinds)
    assert summary.added == {"scores": 4}
    table = filled.score_table().set_index(["response_id", "scorer"])
    assert table.loc[("r1A", "llama:70b"), "value"] == 90
    assert table.loc[("r1B", "llama:70b"), "scorer_kind"] == "judge"


def test_a_wide_table_needs_a_scorer(filled: Study, write: Write) -> None:
    path = write("s.csv", "response_id,QR\nr1A,80\n")
    with pytest.raises(InputError, match="--scorer NAME"):
        import_file(filled, path)
    summary = import_file(filled, path, scorer="anna", kinds={"anna": "human"})
    assert summary.added == {"scores": 1}


def test_preferences(filled: Study, write: Write) -> None:
    text = (
        "query_id,response_a,response_b,construct,scorer,scorer_kind,value\n"
        "q1,r1A,r1B,QR,anna,human,-1\nq2,r2A,r2B,QR,anna,human,\n"
    )
    assert import_file(filled, write("p.csv", text)).added == {"preferences": 2}


SAMPLES = [
    {
        "user_input": f"Question {n}?",
        "retrieved_contexts": [f"One {n}.", f"Two's {n}."],
        "retrieved_context_ids": [f"d{n}", "d0"],
        "reference": f"Truth {n}.",
        "response": f"Answer {n}.",
    }
    for n in range(3)
]


@pytest.mark.parametrize("form", ["jsonl", "json", "csv", "parquet"])
def test_ragas_samples(study: Study, tmp_path: Path, form: str) -> None:
    path = tmp_path / f"samples.{form}"
    frame = pd.DataFrame(SAMPLES)
    if form == "parquet":
        frame.to_parquet(path)
    elif form == "csv":
        # As pandas writes lists: in Python's own notation.
        frame.to_csv(path, index=False, quoting=csv.QUOTE_MINIMAL)
    else:
        frame.to_json(path, orient="records", lines=form == "jsonl")
    summary = import_file(study, path, system="A")
    assert summary.importer == "ragas"
    assert summary.added == {"queries": 3, "responses": 3, "outputs": 3, "passages": 6}
    with study.read() as connection:
        documents = connection.exec_driver_sql("SELECT document FROM response_passage").scalars()
        assert sorted(documents) == ["d0", "d0", "d0", "d0", "d1", "d2"]


RESULT = {
    "query_id": 41,
    "query": "Q?",
    "gt_answer": "Truth.",
    "response": "Answer.",
    "retrieved_context": [{"doc_id": "d1", "text": "One."}, {"doc_id": 7, "text": "Two."}],
    "metrics": {"precision": 80.0, "QR": 75},
}


def test_ragchecker_results(study: Study, write: Write) -> None:
    path = write("r.json", json.dumps({"results": [RESULT], "metrics": {}}))
    summary = import_file(study, path, system="A")
    assert summary.importer == "ragchecker"
    assert summary.added["responses"] == 1
    assert summary.added["scores"] == 1
    assert any("precision" in what for what in summary.left_out)
    assert summary.rules["ids written as numbers taken as text"] == 2
    table = study.score_table()
    assert table[["scorer", "scorer_kind", "value"]].to_numpy().tolist() == [
        ["ragchecker", "metric", 75]
    ]


def test_ragchecker_metrics_without_a_system_are_left_out_and_counted(
    study: Study, write: Write
) -> None:
    summary = import_file(study, write("r.json", json.dumps({"results": [RESULT]})))
    assert summary.left_out == {"RAGChecker's metrics, since --system is not given": 2}


def ccrs_results(*scores: int | None) -> str:
    names = ("Contextual_Coherence", "Question_Relevance", "Information_Density")
    names += ("Answer_Correctness", "Information_Recall")
    return json.dumps({"ccrs_results": [{"metrics": dict.fromkeys(names, s)} for s in scores]})


def test_ccrs_results_are_joined_by_the_order_of_the_queries(filled: Study, write: Write) -> None:
    path = write("ccrs_A.json", ccrs_results(10, None, 30))
    summary = import_file(filled, path, system="A", scorer="llama")
    assert summary.importer == "ccrs-results"
    assert summary.added == {"scores": 15}
    table = filled.score_table()
    judged = table[(table["scorer"] == "llama") & (table["construct"] == "QR")]
    assert judged["response_id"].tolist() == ["r1A", "r2A", "r3A"]
    assert judged["value"].tolist()[::2] == [10, 30]
    assert set(judged["scorer_kind"]) == {"judge"}


def test_the_composed_ac_of_ccrs_is_kept_apart_by_a_stated_choice(
    filled: Study, write: Write
) -> None:
    path = write("ccrs_A.json", ccrs_results(10, 20, 30))
    summary = import_file(filled, path, system="A", scorer="llama")
    table = filled.score_table()
    assert set(table.loc[table["construct"] == "AC", "scorer"]) == {"llama (composed AC)"}
    assert set(table.loc[table["construct"] == "AC", "scorer_kind"]) == {"metric"}
    assert any("composes of the judge's score and the exact match" in r for r in summary.rules)


@pytest.mark.parametrize(
    ("options", "count", "message"),
    [
        ({"system": "A"}, 3, "--scorer NAME"),
        ({"scorer": "llama"}, 3, "--system NAME"),
        ({"scorer": "llama", "system": "A"}, 2, "2 results, but the study has 3 queries"),
        ({"scorer": "llama", "system": "C"}, 3, "system C' is not in the study"),
    ],
)
def test_ccrs_results_that_do_not_fit(
    filled: Study, write: Write, options: dict[str, str], count: int, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        import_file(filled, write("r.json", ccrs_results(*range(count))), **options)


def test_one_content_judged_twice_in_ccrs_files(study: Study, write: Write) -> None:
    same = [response(1, "A"), response(1, "B", response="Answer 1 of A.")]
    import_file(study, write("r.jsonl", same))
    import_file(study, write("a.json", ccrs_results(10)), system="A", scorer="llama")
    path = write("b.json", ccrs_results(20))
    with pytest.raises(InputError, match="--conflicts-as-repeats"):
        import_file(study, path, system="B", scorer="llama")
    summary = import_file(study, path, system="B", scorer="llama", conflicts_as_repeats=True)
    assert summary.added == {"scores": 5}
    assert set(study.score_table()["repeat"]) == {0, 1}


def test_a_file_that_no_format_fits(study: Study, write: Write) -> None:
    with pytest.raises(InputError) as caught:
        import_file(study, write("x.csv", "a,b\n1,2\n"))
    message = str(caught.value)
    assert "The file has: a, b" in message
    for name in ("responses", "scores", "scores-wide", "preferences", "ragas", "ragchecker"):
        assert f"\n    {name}: " in message


def test_a_format_may_be_named(study: Study, write: Write) -> None:
    path = write("x.jsonl", [{"question": "Q?", "answer": "A"}])
    assert import_file(study, path, importer="responses").added["responses"] == 1
    with pytest.raises(InputError, match="'user_input'"):
        import_file(study, path, importer="ragas")
    with pytest.raises(StudyError, match="Did you mean 'ragas'"):
        import_file(study, path, importer="ragaz")


def test_a_file_that_is_not_there(study: Study, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        import_file(study, tmp_path / "none.csv")
    with pytest.raises(InputError, match="is a folder"):
        import_file(study, tmp_path)


def test_an_excel_workbook_is_named(study: Study, write: Write) -> None:
    with pytest.raises(InputError, match="an Excel workbook"):
        import_file(study, write("x.csv", b"PK\x03\x04rest"))


def test_a_parquet_file_cut_off(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    pd.DataFrame([response(1, "A")]).to_parquet(path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(InputError, match="the Parquet file can't be read"):
        import_file(study, path)


def test_a_metric_that_the_first_sample_lacks_is_read(study: Study, write: Write) -> None:
    first = [{"user_input": f"Q{n}", "response": f"R{n}"} for n in range(2)]
    samples = [*first, {"user_input": "Q2", "response": "R2", "faithfulness": 0.5}]
    path = write("r.jsonl", samples)
    named, ranges = {"faithfulness": "CC"}, {"faithfulness": (0.0, 1.0)}
    import_file(study, path, system="A", controls=named, ranges=ranges)
    assert study.score_table()["value"].tolist() == [50]


def test_progress_is_told(study: Study, write: Write) -> None:
    calls: list[tuple[int, int]] = []
    rows = [response(n, "A") for n in range(1200)]
    path = write("r.jsonl", rows)
    import_file(study, path, progress=lambda done, total: calls.append((done, total)))
    assert [total for _, total in calls] == [path.stat().st_size] * 2
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)
