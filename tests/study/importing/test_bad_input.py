"""The three lists of bad input met in the wild: refused, accepted by a stated rule, warned of."""

import json

import pytest

from study import InputError, Study, import_file
from tests.study.importing.conftest import Write, response, rows_of

HEAD = "response_id,construct,scorer,scorer_kind,repeat,value\n"


def refused(study: Study, path: object, **options: object) -> str:
    """Import a file that must be refused with nothing changed; return the message."""
    before = rows_of(study)
    with pytest.raises(InputError) as caught:
        import_file(study, path, **options)
    assert rows_of(study) == before
    assert all(fault.remedy for fault in caught.value.faults)
    return str(caught.value)


class TestRefused:
    @pytest.mark.parametrize("cell", ["abc", "85/10", "８５", "1_0", "0x10"])
    def test_a_word_or_85_of_100_in_a_number_column(
        self, filled: Study, write: Write, cell: str
    ) -> None:
        path = write("s.csv", f"{HEAD}r1A,QR,anna,human,0,80\nr1B,QR,anna,human,0,{cell}\n")
        message = refused(filled, path)
        assert f"s.csv: 1 fault; nothing was written.\n  row 3, column value: '{cell}'" in message
        remedy = "the scale ends at 10" if cell == "85/10" else "Write a bare number, such as 85"
        assert remedy in message

    def test_a_known_word_among_numbers(self, filled: Study, write: Write) -> None:
        path = write("s.csv", f"{HEAD}r1A,QR,anna,human,0,80\nr1B,QR,anna,human,0,good\n")
        assert "row 3, column value: 'good' is among numbers (row 2)" in refused(filled, path)

    @pytest.mark.parametrize("cell", ["85/100", "85 %"])
    def test_a_part_of_the_scale_is_read(self, filled: Study, write: Write, cell: str) -> None:
        path = write("s.csv", f"{HEAD}r1A,QR,anna,human,0,80\nr1B,QR,anna,human,0,{cell}\n")
        assert import_file(filled, path).added == {"scores": 2}

    @pytest.mark.parametrize("value", ["250", "-1", "1e3", "100.0001"])
    def test_a_value_outside_the_declared_scale(
        self, filled: Study, write: Write, value: str
    ) -> None:
        message = refused(filled, write("s.csv", f"{HEAD}r1A,QR,anna,human,0,{value}\n"))
        assert "row 2, column value" in message
        assert "is outside the scale 0 to 100" in message
        assert '[scorers."anna"]' in message

    @pytest.mark.parametrize("value", ["inf", "-Infinity", "1e400"])
    def test_an_infinite_value(self, filled: Study, write: Write, value: str) -> None:
        message = refused(filled, write("s.csv", f"{HEAD}r1A,QR,anna,human,0,{value}\n"))
        assert f"row 2, column value: {value} is not a finite number" in message

    def test_two_values_for_one_key(self, filled: Study, write: Write) -> None:
        rows = "r1A,QR,anna,human,0,80\nr1B,QR,anna,human,0,7\nr1A,QR,anna,human,0,81\n"
        message = refused(filled, write("s.csv", HEAD + rows))
        assert "row 4, column value: 81 for 'r1A' by 'anna' on QR, repeat 0, but row 2" in message
        assert "has 80" in message

    def test_a_value_that_differs_from_the_stored_one(self, filled: Study, write: Write) -> None:
        import_file(filled, write("a.csv", f"{HEAD}r1A,QR,anna,human,0,80\n"))
        message = refused(filled, write("b.csv", f"{HEAD}r1A,QR,anna,human,0,81\n"))
        assert "row 2, column value: 81" in message
        assert "the study has 80" in message

    @pytest.mark.parametrize("content", ["", "\n\n", "\ufeff", "  \n"])
    def test_an_empty_file(self, filled: Study, write: Write, content: str) -> None:
        assert "the file is empty" in refused(filled, write("s.csv", content))

    def test_a_header_only(self, filled: Study, write: Write) -> None:
        assert "a header and no rows" in refused(filled, write("s.csv", HEAD))

    def test_a_required_column_missing(self, filled: Study, write: Write) -> None:
        path = write("s.csv", "response_id,construct,scorer,scorer_kind,vlaue\nr1A,QR,a,human,1\n")
        message = refused(filled, path)
        assert "the column 'value' (or score, rating, label, grade) is missing" in message
        assert "There are: response_id, construct, scorer, scorer_kind, vlaue" in message
        assert "Did you mean 'vlaue'?" in message

    def test_a_required_key_missing_in_some_lines(self, study: Study, write: Write) -> None:
        short = response(2, "A")
        del short["response"]
        message = refused(study, write("r.jsonl", [response(1, "A"), short]))
        assert "row 2: the column 'response' (or response_text, answer, " in message

    def test_a_json_document_truncated_in_the_middle(self, study: Study, write: Write) -> None:
        whole = json.dumps({"results": [response(1, "A")]}, indent=1)
        message = refused(study, write("r.json", whole[: len(whole) // 2]))
        assert "the JSON ends in the middle, at line" in message
        assert "cut off" in message

    def test_json_lines_truncated_in_the_middle(self, study: Study, write: Write) -> None:
        line = json.dumps(response(1, "A")) + "\n"
        message = refused(study, write("r.jsonl", line + line[:40]))
        assert "row 2: the file ends in the middle of this line, at character 40" in message

    def test_bytes_that_are_not_utf_8(self, filled: Study, write: Write) -> None:
        text = HEAD + "r1A,QR,anna,human,0,1\nr1B,QR,Zoë,human,0,1\nr2A,QR,Zoë,human,0,1\n"
        message = refused(filled, write("s.csv", text.encode("latin-1")))
        assert "s.csv: 1 fault" in message
        assert "2 lines are not UTF-8 (the first is line 3: bytes eb" in message
        assert "near 'r1B,QR,Zoë,human,0,1'" in message
        assert "probably Windows-1252" in message
        assert "In Excel: Save As, CSV UTF-8".lower() in message.lower()

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
    def test_utf_16_is_named(self, filled: Study, write: Write, encoding: str) -> None:
        message = refused(filled, write("s.csv", HEAD.encode(encoding)))
        assert encoding[:6].upper() in message

    def test_ids_that_do_not_join_are_said_both_ways(self, filled: Study, write: Write) -> None:
        message = refused(filled, write("s.csv", f"{HEAD}r1A,QR,a,human,0,1\nr9A,QR,a,human,0,1\n"))
        assert "row 3, column response_id: 'r9A' is not in the study. Did you mean" in message
        assert "5 of the study's 6 responses are not named by this file: r1B, r2A" in message
        assert "--allow-unmatched" in message

    def test_unmatched_ids_may_be_kept_aside_and_counted(self, filled: Study, write: Write) -> None:
        path = write("s.csv", f"{HEAD}r1A,QR,a,human,0,1\nr9A,QR,a,human,0,1\n")
        summary = import_file(filled, path, allow_unmatched=True)
        assert summary.added == {"scores": 1}
        assert summary.unmatched == {"r9A": [3]}
        assert any(
            "Left out: 1 row with 1 id " in line and "r9A" in line for line in summary.lines()
        )

    def test_what_was_kept_aside_comes_in_when_its_response_is_there(
        self, filled: Study, write: Write
    ) -> None:
        path = write("s.csv", f"{HEAD}r1A,QR,a,human,0,1\nr9A,QR,a,human,0,1\n")
        import_file(filled, path, allow_unmatched=True)
        again = import_file(filled, path, allow_unmatched=True)
        assert not again.changed
        import_file(filled, write("more.jsonl", [response(9, "A")]))
        summary = import_file(filled, path, allow_unmatched=True)
        assert summary.added == {"scores": 1}
        assert summary.already == {"scores": 1}

    def test_every_faulty_row_is_listed_however_many(self, filled: Study, write: Write) -> None:
        rows = "".join(f'r1A,QR,anna,human,{n},"5,5"\n' for n in range(120))
        with pytest.raises(InputError) as caught:
            import_file(filled, write("s.csv", f"{HEAD}{rows}r1B,QR,anna,human,0,500\n"))
        assert [fault.row for fault in caught.value.faults] == list(range(2, 123))
        assert "and 115 more like these, in rows 7-121" in str(caught.value)
        assert "row 122, column value: 500" in str(caught.value)

    def test_many_decimal_commas_are_faults_of_one_kind(self, filled: Study, write: Write) -> None:
        rows = "".join(f'r1A,QR,anna,human,{n},"{n % 90},5"\n' for n in range(120))
        message = refused(filled, write("s.csv", f"{HEAD}{rows}"))
        assert "row 6, column value: '4,5' is not a number. Write 4.5" in message
        assert "and 115 more like these, in rows 7-121" in message
        assert len(message.splitlines()) == 7

    def test_an_unknown_construct(self, filled: Study, write: Write) -> None:
        message = refused(filled, write("s.csv", f"{HEAD}r1A,Qr,anna,human,0,80\n"))
        assert "row 2, column construct: the study has no construct 'Qr'" in message
        assert "Did you mean 'QR'? It has: QR, CC, ID, AC, IR" in message

    def test_a_scorer_of_two_kinds(self, filled: Study, write: Write) -> None:
        rows = "r1A,QR,anna,human,0,80\nr1B,QR,anna,judge,0,80\n"
        message = refused(filled, write("s.csv", HEAD + rows))
        assert (
            "row 3, column scorer_kind: scorer 'anna' is judge here and human in row 2" in message
        )

    def test_a_scorer_without_a_kind(self, filled: Study, write: Write) -> None:
        path = write("s.csv", "response_id,construct,scorer,value\nr1A,QR,anna,3\n")
        assert "--kind anna=human" in refused(filled, path)
        assert import_file(filled, path, kinds={"anna": "human"}).added == {"scores": 1}

    def test_a_column_that_stands_twice(self, filled: Study, write: Write) -> None:
        path = write("s.csv", "response_id,construct,scorer,value,value\nr1A,QR,anna,3,4\n")
        assert "'value' occurs 2 times, at places 4, 5" in refused(filled, path)

    @pytest.mark.parametrize("row", ["r1A,QR,anna,human,0", "r1A,QR,anna,human,0,1,2"])
    def test_rows_with_fewer_or_more_cells_than_the_header(
        self, filled: Study, write: Write, row: str
    ) -> None:
        message = refused(filled, write("s.csv", f"{HEAD}r1B,QR,anna,human,0,1\n{row}\n"))
        assert "row 3: " in message
        assert "but the header names 6 columns" in message

    def test_a_quote_that_is_never_closed(self, study: Study, write: Write) -> None:
        path = write("r.csv", 'query,response\n"a","b"\n"c,d\ne,f\n')
        assert "row 3: a double quote is opened here and never closed" in refused(study, path)

    def test_a_response_changed_under_the_same_id(self, filled: Study, write: Write) -> None:
        message = refused(filled, write("r.jsonl", [response(1, "A", response="New.")]))
        assert "row 1, column response_id: response 'r1A' is stored with another content" in message
        assert "--revise" in message

    def test_a_second_response_of_a_system(self, filled: Study, write: Write) -> None:
        changed = response(1, "A", response="New.", response_id="r1A-new")
        message = refused(filled, write("r.jsonl", [changed]))
        assert (
            "row 1, column system: system 'A' already gave query 'q1' another response" in message
        )

    @pytest.mark.parametrize("field", ["query", "references"])
    def test_a_query_id_with_another_text_or_references(
        self, filled: Study, write: Write, field: str
    ) -> None:
        value = "Another?" if field == "query" else ["Another."]
        message = refused(filled, write("r.jsonl", [response(1, "C", **{field: value})]))
        assert f"row 1, column {field}: query 'q1' already has another value" in message

    def test_all_faults_of_a_file_come_at_once(self, filled: Study, write: Write) -> None:
        rows = "r1A,QR,anna,human,0,bad\nr9A,QR,anna,human,0,1\nr1A,QQ,anna,human,0,1\n"
        message = refused(filled, write("s.csv", f"{HEAD}{rows}r1B,QR,anna,human,x,500\n"))
        for row, column in ((2, "value"), (3, "response_id"), (4, "construct"), (5, "repeat")):
            assert f"row {row}, column {column}" in message


class TestAcceptedByAStatedRule:
    @pytest.mark.parametrize("cell", ["", " ", "NaN", "nan", "NA", "null", "None"])
    def test_blanks_and_nan(self, filled: Study, write: Write, cell: str) -> None:
        path = write("s.csv", f"{HEAD}r1A,QR,anna,human,0,80\nr1B,QR,anna,human,0,{cell}\n")
        summary = import_file(filled, path)
        assert summary.added == {"scores": 2}
        assert sum(n for rule, n in summary.rules.items() if "read as missing" in rule) == 1
        table = filled.score_table().set_index("response_id")
        assert table.loc["r1B", "missing_reason"] == "blank"
        assert table.loc["r1B", "value"] != table.loc["r1B", "value"]

    def test_a_missing_value_keeps_the_reason_it_comes_with(
        self, filled: Study, write: Write
    ) -> None:
        path = write(
            "s.csv",
            "response_id,construct,scorer,scorer_kind,value,missing_reason\n"
            "r1A,QR,anna,human,,skipped\n",
        )
        import_file(filled, path)
        assert filled.score_table()["missing_reason"].tolist() == ["skipped"]

    def test_a_byte_order_mark(self, filled: Study, write: Write) -> None:
        path = write("s.csv", f"\ufeff{HEAD}r1A,QR,anna,human,0,80\n")
        assert any("byte order mark" in rule for rule in import_file(filled, path).rules)

    def test_a_byte_order_mark_before_json(self, study: Study, write: Write) -> None:
        path = write("r.jsonl", "\ufeff" + json.dumps(response(1, "A")) + "\n")
        assert any("byte order mark" in rule for rule in import_file(study, path).rules)

    def test_numbers_as_text(self, filled: Study, write: Write) -> None:
        row = {"response_id": "r1A", "construct": "QR", "scorer": "m", "scorer_kind": "metric"}
        summary = import_file(filled, write("s.jsonl", [{**row, "value": " 85.5 "}]))
        assert summary.rules["numbers written as text"] == 1
        assert filled.score_table()["value"].tolist() == [85.5]

    def test_semicolons_and_decimal_commas(self, filled: Study, write: Write) -> None:
        head = HEAD.replace(",", ";")
        summary = import_file(filled, write("s.csv", f"{head}r1A;QR;anna;human;0;80,5\n"))
        assert summary.rules["semicolons as delimiter"] == 1
        assert summary.rules["decimal commas read as decimal points"] == 1
        assert filled.score_table()["value"].tolist() == [80.5]

    def test_a_decimal_comma_between_commas_is_refused(self, filled: Study, write: Write) -> None:
        message = refused(filled, write("s.csv", f'{HEAD}r1A,QR,anna,human,0,"80,5"\n'))
        assert "Write 80.5 if a decimal number is meant" in message

    def test_tabs_as_delimiter(self, filled: Study, write: Write) -> None:
        head = HEAD.replace(",", "\t")
        path = write("s.tsv", f"{head}r1A\tQR\tanna\thuman\t0\t80\n")
        assert import_file(filled, path).added == {"scores": 1}

    def test_tabs_and_newlines_inside_quoted_text(self, study: Study, write: Write) -> None:
        text = 'query_id,query,system,response\nq1,"What\tis\nthis?",A,"a\r\nb"\nq2,Why?,A,c,d\n'
        message = refused(study, write("r.csv", text))
        assert "row 3: 5 cells" in message
        assert "a line break inside quotes starts no new row" in message
        import_file(study, write("r.csv", text.replace(",c,d", ",c")))
        with study.read() as connection:
            stored = connection.exec_driver_sql("SELECT text FROM response ORDER BY id").scalars()
            assert list(stored) == ["a\r\nb", "c"]

    def test_equal_content_under_two_ids(self, study: Study, write: Write) -> None:
        same = response(1, "B", response="Answer 1 of A.")
        summary = import_file(study, write("r.jsonl", [response(1, "A"), same]))
        assert summary.added["responses"] == 1
        assert summary.added["outputs"] == 2
        assert summary.added["further ids"] == 1
        scores = f"{HEAD}r1B,QR,anna,human,0,80\n"
        import_file(study, write("s.csv", scores))
        table = study.score_table()
        assert table["response_id"].tolist() == ["r1A", "r1A"]
        assert table["system"].tolist() == ["A", "B"]

    def test_an_empty_response(self, study: Study, write: Write) -> None:
        summary = import_file(study, write("r.jsonl", [response(1, "A", response="")]))
        assert summary.rules["empty responses (the system gave no answer)"] == 1
        assert summary.added["responses"] == 1

    def test_the_identical_row_twice(self, filled: Study, write: Write) -> None:
        row = "r1A,QR,anna,human,0,80\n"
        summary = import_file(filled, write("s.csv", HEAD + row + row))
        assert summary.added == {"scores": 1}
        assert summary.rules["an identical row twice"] == 1

    def test_the_identical_response_twice(self, study: Study, write: Write) -> None:
        summary = import_file(study, write("r.jsonl", [response(1, "A")] * 3))
        assert summary.added["responses"] == 1
        assert summary.rules["an identical row twice"] == 2


class TestWarned:
    def test_values_that_all_lie_in_0_to_1_on_a_scale_of_100(
        self, filled: Study, write: Write
    ) -> None:
        rows = "r1A,QR,anna,human,0,0.8\nr1B,QR,anna,human,0,1\nr2A,QR,ben,human,0,80\n"
        summary = import_file(filled, write("s.csv", HEAD + rows))
        (warning,) = summary.warnings
        assert "all 2 values of 'anna' on QR are from 0 to 1, on a scale of 0 to 100" in warning
        assert '[scorers."anna"] scale = { min = 0, max = 1 }' in warning

    def test_a_rater_who_gave_one_value_throughout(self, filled: Study, write: Write) -> None:
        ids = ("r1A", "r1B", "r2A", "r2B", "r3A")
        rows = "".join(f"{i},QR,anna,human,0,80\n{i},QR,ben,human,0,{i[1]}0\n" for i in ids)
        summary = import_file(filled, write("s.csv", HEAD + rows))
        assert summary.warnings == ("'anna' gave 80 throughout on QR (5 values).",)

    def test_a_context_missing_where_a_construct_needs_it(self, study: Study, write: Write) -> None:
        summary = import_file(study, write("r.jsonl", [response(1, "A", passages=[])]))
        assert summary.warnings == ("1 new response has no passages; CC, ID, AC, IR need them.",)

    def test_a_reference_missing_where_a_construct_needs_it(
        self, study: Study, write: Write
    ) -> None:
        summary = import_file(study, write("r.jsonl", [response(1, "A", references=[])]))
        assert summary.warnings == ("1 new response has no reference answers; AC, IR need them.",)
