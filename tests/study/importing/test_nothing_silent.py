"""What a file says is taken, refused or counted; messages name the file's own columns."""

import json

import pytest

from study import InputError, Study, import_file, read_scores
from study.importing.readers.records import IN_ANOTHER_CASE
from tests.study.importing.conftest import Write, response
from tests.study.importing.test_bad_input import refused

SCORES = "response_id,construct,scorer,scorer_kind,value\n"
WIDE = "response_id,scorer,scorer_kind,QR,CC\n"


class TestContext:
    @pytest.mark.parametrize(
        ("changes", "fault"),
        [
            ({"passage_1": "two"}, "has passages in a list and in passage_1"),
            ({"documents": ["a", "b"]}, "2 documents, but 1 passage."),
            ({"documents": ["a"], "passages": []}, "1 document, but 0 passages."),
            ({"documents": [{"a": 1}]}, "column documents, item 1: {'a': 1} is not an id"),
            (
                {"documents": ["a"], "passages": [{"text": "t", "doc_id": "b"}]},
                "the passage names the document 'b', and the file's documents 'a'",
            ),
            ({"passages": [None]}, "column passages, item 1: null is not a text. Write a text"),
            ({"passages": [{"id": "a"}]}, "column passages, item 1: null is not a text"),
            ({"references": [3]}, "column references, item 1: 3 is not a text"),
        ],
    )
    def test_what_does_not_fit(
        self, study: Study, write: Write, changes: dict[str, object], fault: str
    ) -> None:
        message = refused(study, write("r.jsonl", [response(1, "A", **changes)]))
        assert "1 fault" in message
        assert fault in message

    def test_what_passages_have_beside_text_and_document(self, study: Study, write: Write) -> None:
        passages = [{"text": "t", "id": 3, "score": 0.5}, {"text": "u", "score": 0.4}]
        summary = import_file(study, write("r.jsonl", [response(1, "A", passages=passages)]))
        assert summary.left_out == {"the field 'score' of passages": 2}


RESULT = {"query_id": "q1", "query": "Q?", "response": "r"}


class TestDocuments:
    @pytest.mark.parametrize("metrics", ["QR=50", [1], 3])
    def test_metrics_that_are_no_object(self, study: Study, write: Write, metrics: object) -> None:
        document = {"results": [{**RESULT, "metrics": metrics}]}
        message = refused(study, write("r.json", json.dumps(document)), system="A")
        assert "row 1, column metrics" in message
        assert "is not a JSON object" in message

    def test_what_stands_beside_the_results(self, study: Study, write: Write) -> None:
        document = {"results": [RESULT], "metrics": {"overall": 3}, "run": "x"}
        summary = import_file(study, write("r.json", json.dumps(document)))
        assert summary.left_out == {
            "the document's 'metrics', in addition to 'results'": 1,
            "the document's 'run', in addition to 'results'": 1,
        }


class TestOptions:
    @pytest.mark.parametrize(
        ("options", "fault"),
        [
            (
                {"scorer": "ben"},
                "column scorer: the file states scorer 'anna'; the option is --scorer ben",
            ),
            ({"kinds": {"anna": "judge"}}, "column scorer_kind: the file states 'anna' is human"),
            ({"construct": "CC"}, "column construct: the file states construct 'QR'"),
        ],
    )
    def test_options_that_contradict_scores(
        self, filled: Study, write: Write, options: dict[str, object], fault: str
    ) -> None:
        path = write("s.csv", f"{SCORES}r1A,QR,anna,human,5\nr1B,QR,anna,human,6\n")
        message = refused(filled, path, **options)
        assert "1 fault" in message
        assert fault in message

    def test_a_system_that_contradicts_responses(self, study: Study, write: Write) -> None:
        message = refused(study, write("r.jsonl", [response(1, "A")]), system="B")
        assert "the file states system 'A'; the option is --system B" in message

    def test_a_scorer_beside_columns_that_name_theirs(self, filled: Study, write: Write) -> None:
        path = write("s.csv", "response_id,anna:QR\nr1A,80\n")
        message = refused(filled, path, scorer="ben", kinds={"anna": "human"})
        assert "the columns name their scorers; the option is --scorer ben" in message


class TestWide:
    def test_a_reason_beside_values(self, filled: Study, write: Write) -> None:
        text = "response_id,scorer,scorer_kind,QR,missing_reason\nr1A,anna,human,5,skipped\n"
        message = refused(filled, write("s.csv", text))
        assert "row 2, column missing_reason: has the missing_reason 'skipped' and a" in message

    def test_a_line_without_a_construct(self, filled: Study, write: Write) -> None:
        row = {"response_id": "r1A", "scorer": "anna", "scorer_kind": "human"}
        message = refused(filled, write("s.jsonl", [{**row, "QR": 1}, {**row, "Qr": 2}]))
        assert "row 2: has no construct" in message

    def test_faults_name_the_column_of_the_file(self, filled: Study, write: Write) -> None:
        message = refused(filled, write("s.csv", f"{WIDE}r1A,anna,human,500,5\n"))
        assert "row 2, column QR: 500 is outside the scale 0 to 100 (QR by 'anna')" in message
        import_file(filled, write("s.csv", f"{WIDE}r1A,anna,human,50,5\n"))
        message = refused(filled, write("s.csv", f"{WIDE}r1A,anna,human,60,5\n"))
        assert "row 2, column QR: 60 for 'r1A' by 'anna' on QR" in message

    def test_faults_name_the_column_of_long_files_and_documents(
        self, filled: Study, write: Write
    ) -> None:
        text = "response_id,construct_key,rater,kind,rating\nr1A,QR,anna,human,500\n"
        message = refused(filled, write("s.csv", text + "r1B,XX,anna,judge,5\n"))
        for column in ("row 2, column rating", "row 3, column construct_key", "column kind"):
            assert column in message
        results = {"ccrs_results": [{"metrics": {"Question_Relevance": 500}}] * 3}
        message = refused(filled, write("c.json", json.dumps(results)), scorer="l", system="A")
        assert "column Question_Relevance: 500 is outside" in message

    def test_a_bare_table_names_its_columns_too(self, write: Write) -> None:
        text = "Query_ID,response_id,anna:QR\nq1,r1,fantastic\n"
        with pytest.raises(InputError, match="row 2, column anna:QR: 'fantastic' is neither"):
            read_scores(write("s.csv", text), kinds={"anna": "human"})


class TestTold:
    def test_a_missing_kind_once_a_scorer(self, filled: Study, write: Write) -> None:
        rows = "r1A,QR,anna,5\nr1B,QR,anna,5\nr2A,QR,ben,5\n"
        path = write("s.csv", f"response_id,construct,scorer,value\n{rows}")
        message = refused(filled, path)
        assert "2 faults" in message
        assert "row 2, column scorer: the kind of the scorer 'anna' is unknown" in message
        assert "row 4, column scorer: the kind of the scorer 'ben' is unknown" in message

    def test_columns_in_another_case(self, filled: Study, write: Write) -> None:
        text = "Query_Id,System,Construct,Rater,Scorer_Kind,Value\nq1,A,QR,anna,human,5\n"
        summary = import_file(filled, write("s.csv", text))
        assert summary.added == {"scores": 1}
        assert summary.rules == {IN_ANOTHER_CASE: 6}
        row = {"Query": "Z?", "Response": "x", "system": "S"}
        summary = import_file(filled, write("r.jsonl", [row, row]))
        assert summary.rules[IN_ANOTHER_CASE] == 2

    def test_blank_lines_are_counted_once(self, filled: Study, write: Write) -> None:
        path = write("s.csv", f"{SCORES}\n\nr1A,QR,anna,human,5\n")
        assert import_file(filled, path).rules == {"blank lines skipped": 2}

    def test_several_columns_nearly_right(self, filled: Study, write: Write) -> None:
        text = "qery_id,system,constructt,rater,kind,valu\nq1,A,QR,anna,human,5\n"
        message = refused(filled, write("s.csv", text))
        assert "3 faults" in message
        for name in ("qery_id", "constructt", "valu"):
            assert f"Did you mean '{name}'?" in message

    def test_rows_kept_aside_are_counted_once(self, filled: Study, write: Write) -> None:
        head = "query_id,response_a,response_b,construct,scorer,scorer_kind,value\n"
        path = write("p.csv", f"{head}q1,x,y,QR,anna,human,1\n")
        lines = import_file(filled, path, allow_unmatched=True).lines()
        assert lines[0] == "p.csv (preferences, 1 row): nothing added."
        assert "Left out: 1 row with 2 ids that are not in the study: x, y." in lines

    def test_one_value_throughout_on_all_constructs(self, filled: Study, write: Write) -> None:
        rows = "".join(
            f"{r},{c},anna,human,80\n" for r in ("r1A", "r1B") for c in ("QR", "CC", "ID")
        )
        summary = import_file(filled, write("s.csv", SCORES + rows))
        assert summary.warnings == ("'anna' gave 80 throughout on QR, CC, ID (6 values).",)

    def test_decimal_commas_among_decimal_points(self, filled: Study, write: Write) -> None:
        rows = f"{SCORES}r1A,QR,anna,human,8~5\nr1B,QR,anna,human,8.5\n"
        path = write("s.csv", rows.replace(",", ";").replace("~", ","))
        (warning,) = import_file(filled, path).warnings
        assert warning.startswith("the column 'value' has decimal commas and decimal points")
