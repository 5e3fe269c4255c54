"""Files and cells that are cut off, damaged or ambiguous: refused in words, never guessed at."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from study import Study, import_file
from tests.study.importing.conftest import Write
from tests.study.importing.test_bad_input import refused

SCORES = "response_id,construct,scorer,scorer_kind,value\n"
RESPONSES = "query_id,query,response,system,passages\n"
SCORE = {"response_id": "r1A", "construct": "QR", "scorer": "anna", "scorer_kind": "human"}


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


class TestCells:
    @pytest.mark.parametrize("wrong", [{}, {"vlaue": 80}])
    def test_a_line_without_a_value(
        self, filled: Study, write: Write, wrong: dict[str, int]
    ) -> None:
        rows = [{**SCORE, "value": 1}, {**SCORE, "response_id": "r1B", **wrong}]
        message = refused(filled, write("s.jsonl", rows))
        assert "row 2: the column 'value' (or score, rating, label, grade) is missing" in message
        assert not wrong or "Did you mean 'vlaue'" in message

    def test_a_line_without_a_value_that_says_why(self, filled: Study, write: Write) -> None:
        import_file(filled, write("s.jsonl", [{**SCORE, "missing_reason": "skipped"}]))
        assert filled.score_table()["missing_reason"].tolist() == ["skipped"]

    def test_a_comparison_without_a_value(self, filled: Study, write: Write) -> None:
        sides = {"query_id": "q1", "response_a": "r1A", "response_b": "r1B"}
        rows = [{**SCORE, **sides, "value": 1}, {**SCORE, **sides, "repeat": 1}]
        message = refused(filled, write("p.jsonl", rows))
        assert "row 2: the column 'value' (or preference) is missing" in message

    @pytest.mark.parametrize(
        ("cell", "problem"),
        [
            (str(np.array(["a", "b"])), "no comma between them, as NumPy prints an array"),
            (str(np.array(["a " * 40, "b"])), "no comma between them"),
            (repr(np.array(["a", "b"], dtype=object)), "begins as a list"),
            ('["a", "b', "begins as a list and can't be read as one"),
            ("['a', 'b", "begins as a list"),
            ('[{"text": "a"}, {"te', "begins as a list"),
            ('[ "a" "b" ]x', "begins as a list"),
            ("[" * 100_000, "nested too deeply"),
            ('[{"text": "a", "text": "b"}]', "the name 'text' twice"),
            ("[1]", "column passages, item 1: 1 is not a text. Write a text"),
        ],
    )
    def test_a_list_that_is_none(self, study: Study, write: Write, cell: str, problem: str) -> None:
        message = refused(study, write("r.csv", f"{RESPONSES}q1,Q?,r,A,{quoted(cell)}\n"))
        assert "row 2, column passages" in message
        assert problem in message
        assert len(message) < 400

    @pytest.mark.parametrize("cell", ["[1] cited", "[sic] a text", "[", "[]x"])
    def test_a_text_that_begins_with_a_bracket(self, study: Study, write: Write, cell: str) -> None:
        import_file(study, write("r.csv", f"{RESPONSES}q1,Q?,r,A,{quoted(cell)}\n"))
        with study.read() as connection:
            texts = connection.exec_driver_sql("SELECT text FROM passage").scalars().all()
        assert texts == [cell]

    @pytest.mark.parametrize(
        ("attributes", "problem"),
        [
            ('{"a": "\\ud800"}', "at 'a': contains half of a surrogate pair"),
            ('{"\\ud800": 1}', "contains half of a surrogate pair"),
            ('{"a": {"b": ["\\u0000"]}}', "at 'a.b': contains a NUL character"),
            ('{"a": NaN}', "at 'a': nan is not a finite number. Write null"),
            ('{"a": 1e999}', "at 'a': inf is not a finite number"),
            (f'{{"a": {"[" * 40}{"]" * 40}}}', "is nested more than 20 levels deep"),
            (f'{{"a": 1{"0" * 400}}}', "at 'a': contains a number of 1329 bits"),
            ('{"a": 1, "a": 2}', "the name 'a' twice"),
        ],
    )
    def test_attributes_that_a_database_can_not_hold(
        self, study: Study, write: Write, attributes: str, problem: str
    ) -> None:
        line = f'{{"query_id": "q", "query": "Q?", "response": "r", "attributes": {attributes}}}\n'
        assert problem in refused(study, write("r.jsonl", line))

    @pytest.mark.parametrize("cell", ["x" * 300_000, 10**400, ["y" * 5000] * 3])
    @pytest.mark.parametrize("column", ["value", "repeat", "scorer_kind"])
    def test_a_huge_cell_is_quoted_in_short(
        self, filled: Study, write: Write, column: str, cell: object
    ) -> None:
        row = {**SCORE, "value": 1, column: cell}
        assert len(refused(filled, write("s.jsonl", [row]))) < 400

    @pytest.mark.parametrize("name", ["s.tsv", "s.csv"])
    def test_a_comma_before_three_digits(self, filled: Study, write: Write, name: str) -> None:
        sign = "\t" if name == "s.tsv" else ";"
        text = f"{SCORES}r1A,QR,anna,human,1.5\nr1B,QR,anna,human,1~000\n".replace(",", sign)
        message = refused(filled, write(name, text.replace("~", ",")))
        assert "row 3, column value: '1,000' may be 1000 or 1.000" in message
        import_file(filled, write(name, text.replace("1~000", "0,875")))
        assert filled.score_table()["value"].tolist() == [1.5, 0.875]


class TestFiles:
    def test_a_header_and_blank_lines(self, filled: Study, write: Write) -> None:
        assert "a header and no rows" in refused(filled, write("s.csv", f"{SCORES}\n\n"))

    def test_the_only_line_cut_off(self, study: Study, write: Write) -> None:
        message = refused(study, write("r.jsonl", '{"query": "a", "resp'))
        assert "row 1: the file ends in the middle of this line" in message

    def test_a_name_twice_in_an_object(self, filled: Study, write: Write) -> None:
        line = json.dumps({**SCORE, "value": 1}).replace("}", ', "value": 2}')
        assert "row 1: the JSON has the name 'value' twice" in refused(
            filled, write("s.jsonl", line)
        )
        assert "the JSON has the name 'value' twice" in refused(
            filled, write("s.json", f"[{line}]")
        )

    @pytest.mark.parametrize("name", ["s.jsonl", "s.json"])
    def test_a_number_of_thousands_of_digits(self, filled: Study, write: Write, name: str) -> None:
        line = json.dumps({**SCORE, "value": 7}).replace("7", "7" * 5000)
        content = f"[{line}]" if name == "s.json" else line
        message = refused(filled, write(name, content))
        assert "a number with thousands of digits" in message

    def test_parquet_with_damaged_pages(self, filled: Study, tmp_path: Path) -> None:
        path = tmp_path / "s.parquet"
        rows = [{**SCORE, "repeat": n, "value": n % 100, "stratum": f"s{n}"} for n in range(3000)]
        pd.DataFrame(rows).to_parquet(path)
        content = bytearray(path.read_bytes())
        content[100 : len(content) // 2] = b"\xff" * (len(content) // 2 - 100)
        path.write_bytes(content)
        assert "the Parquet file can't be read after row 0" in refused(filled, path)

    def test_parquet_with_text_that_is_not_utf_8(self, study: Study, tmp_path: Path) -> None:
        ends = np.array([0, 2], dtype="<i4").tobytes()
        buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"\xff\xfe")]
        query = pa.Array.from_buffers(pa.string(), 1, buffers)
        pq.write_table(pa.table({"query": query, "response": ["x"]}), tmp_path / "r.parquet")
        message = refused(study, tmp_path / "r.parquet")
        assert "a text in the rows after 0 is not UTF-8" in message

    def test_latin_1_with_old_line_ends(self, filled: Study, write: Write) -> None:
        text = f"{SCORES}r1A,QR,anna,human,5\nr1B,QR,Zoë,human,5\n".replace("\n", "\r")
        message = refused(filled, write("s.csv", text.encode("latin-1")))
        assert "line 3 is not UTF-8 (bytes eb 2c 68 75 at byte 10 of the line" in message
        assert "near 'r1B,QR,Zoë,human,5'" in message

    @pytest.mark.parametrize("first", ["sep=;\r\n", '"sep=;"\r\n', "\ufeffSEP=;\n"])
    def test_a_first_line_that_states_the_delimiter(
        self, filled: Study, write: Write, first: str
    ) -> None:
        rows = f"{SCORES}r1A,QR,anna,human,80\n".replace(",", ";")
        summary = import_file(filled, write("s.csv", first + rows))
        assert summary.added == {"scores": 1}
        assert any("a first line that states the delimiter" in rule for rule in summary.rules)
