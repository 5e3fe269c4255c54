from pathlib import Path

import pytest

from judge.metrics.relevance_judgments import read_relevance
from study.errors import InputError

GRADES = {"q1": {"d1": 2, "d2": 0}, "q2": {"d1": 1}}


@pytest.mark.parametrize(
    "text",
    [
        "q1 0 d1 2\nq1 Q0 d2 0\n\nq2\t0\td1\t1\n",
        "query_id,document,grade\nq1,d1,2\nq1,d2,0\nq2,d1,1\n",
        "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td1\t1\n",
        '{"q1": {"d1": 2, "d2": 0}, "q2": ["d1"]}',
        "\ufeffquery_id,document,relevance\r\nq1,d1,2.0\r\nq1,d2,0\r\nq2,d1,1\r\n",
    ],
)
def test_layouts_of_relevance_judgments(tmp_path: Path, text: str) -> None:
    file = tmp_path / "qrels"
    file.write_text(text, encoding="utf-8")
    assert read_relevance(file) == GRADES


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q1 0 d1\n", "row 1: 'q1 0 d1' has 3 columns instead of 4"),
        ("q1 0 d1 1\nq1 0 d2 high\n", "row 2: the grade 'high' of 'd2' for the query 'q1'"),
        ("q1 0 d1 1\nq1 0 d1 2\n", "row 2: 'd1' has the grades 1 and 2"),
        ("query_id,document,grade\nq1,,1\n", "row 2: a query or document is blank"),
        ("query_id,document,grade\nq1,d1\n", "row 2: the grade ''"),
        ("query_id,document,grade\n", "has no relevance judgments"),
        ("", "has no relevance judgments"),
        ('{"q1": "d1"}', "'q1' has 'd1' in place of documents"),
        ('{"q1": {"d1": null}}', "the grade None of 'd1'"),
        ('{"q1": ', "is not JSON"),
        ('{"q1": {"d1": 1e999}}', "not an integer"),
    ],
)
def test_faults_name_row_value_and_remedy(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "qrels"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_relevance(file)
    assert message in str(error.value)
    assert str(error.value).startswith("qrels: 1 fault")
