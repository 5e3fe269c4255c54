import numpy as np
import pandas as pd
import pytest

from analysis.core.errors import TableError
from analysis.core.tables import PreferenceTable, ScoreTable
from study.base.scales import Scale
from tests.analysis.scores import POINTS, rows, simulated, table


def faults(frame: pd.DataFrame, **scales: Scale) -> str:
    with pytest.raises(TableError) as caught:
        ScoreTable.from_frame(frame, scales)
    return str(caught.value)


def test_missing_columns_are_named_with_what_is_there_and_the_nearest() -> None:
    messages = faults(rows({}).rename(columns={"query_id": "queryid"}).drop(columns="value"))
    assert "'query_id' is missing" in messages
    assert "Did you mean 'queryid'?" in messages
    assert "'value' is missing" in messages
    assert "2 faults" in messages


def test_all_faults_are_listed_at_once() -> None:
    messages = faults(
        rows(
            {"value": 250.0},
            {"response_id": "r2", "scorer_kind": "persn"},
            {"response_id": "r3", "repeat": 0.5},
            {"response_id": None},
        ),
        QR=POINTS,
    )
    assert "ann on QR: 250 in row 0 is outside 0 to 100" in messages
    assert "'persn' in row 1 is not one of human, adjudicated, judge, metric" in messages
    assert "'repeat' is 0.5 in row 2" in messages
    assert "'response_id' is empty in row 3" in messages


@pytest.mark.parametrize("word", ["good", "85/100", "1,5"])
def test_a_word_in_a_number_column_is_a_fault(word: str) -> None:
    frame = rows({"value": "50"}, {"response_id": "r2", "value": word})
    assert f"contains '{word}' in row 1" in faults(frame)


def test_numbers_as_text_and_blanks_are_read() -> None:
    read = table(rows({"value": "50"}, {"response_id": "r2", "value": ""}))
    assert read.frame["value"].tolist()[0] == 50
    assert np.isnan(read.frame["value"].iloc[1])
    assert read.frame["missing_reason"].tolist()[1] == "not given"


def test_an_infinite_value_is_a_fault() -> None:
    assert "infinite in row 0" in faults(rows({"value": np.inf}))


def test_two_values_for_one_key_name_both_rows() -> None:
    messages = faults(rows({"value": 50}, {"value": 60}))
    assert "50 and 60 in rows 0 and 1" in messages


def test_missing_beside_a_value_for_one_key_is_a_fault() -> None:
    assert "50 and missing in rows 0 and 1" in faults(rows({"value": 50}, {"value": None}))


def test_one_response_of_two_systems_has_one_value() -> None:
    frame = rows({"system": "A"}, {"system": "B"})
    assert table(frame).frame["value"].tolist() == [50, 50]
    assert "50 and 40" in faults(rows({"system": "A"}, {"system": "B", "value": 40}))


def test_the_identical_row_twice_counts_once_and_is_said() -> None:
    read = table(rows({"system": "A"}, {"system": "A"}))
    assert len(read.frame) == 1
    told = "1 score in rows that repeat another one, with the same value; these count once"
    assert told in read.warnings


def test_a_response_has_one_query_and_a_scorer_one_kind() -> None:
    messages = faults(rows({}, {"query_id": "q2", "scorer": "bob"}, {"scorer_kind": "judge"}))
    assert "response 'r1' has query 'q1' and in row 1 query 'q2'" in messages
    assert "scorer 'ann' is human and in row 2 judge" in messages


def test_raters_of_a_construct_share_a_scale() -> None:
    frame = rows({}, {"scorer": "bob"})
    with pytest.raises(TableError, match="raters on QR have different scales"):
        ScoreTable.from_frame(frame, {"QR": POINTS}, {("bob", "QR"): Scale(0, 1000)})


def test_a_scorers_own_scale_overrides_the_constructs() -> None:
    frame = rows({}, {"scorer": "m", "scorer_kind": "metric", "value": 0.5})
    read = ScoreTable.from_frame(frame, {"QR": Scale(1, 100)}, {("m", "QR"): Scale(0, 1)})
    assert read.scale("QR", "m") == Scale(0, 1)
    assert read.scale("QR", "ann") == Scale(1, 100)
    assert read.scale("AC") is None


def test_a_value_with_a_missing_reason_is_a_fault() -> None:
    assert "a value and a missing_reason" in faults(rows({"missing_reason": "skipped"}))


def test_inclusion_probabilities_lie_above_0_and_at_most_at_1() -> None:
    assert "inclusion_prob is 0 in row 0" in faults(rows({"inclusion_prob": 0.0}))


def test_columns_without_a_use_are_named() -> None:
    assert "columns not used: mood" in table(rows({"mood": "fine"})).warnings


def test_repeats_without_a_first_score_are_named() -> None:
    frame = rows(
        {"repeat": 0},
        {"repeat": 1},
        {"response_id": "r2", "repeat": 1, "value": 40},
        {"response_id": "r3", "repeat": 1},
        {"response_id": "r3", "repeat": 2},
        {"scorer": "bob", "repeat": 0, "value": None},
        {"scorer": "bob", "repeat": 1},
    )
    assert table(frame).warnings == (
        "ann on QR has repeats but no repeat 0 of 2 responses, so these do not enter; number "
        "repeats from 0",
    )


def test_values_left_out_before_are_carried_into_the_warnings() -> None:
    frame = rows({})
    frame.attrs["left_out"] = {"given to an earlier version of a construct": 4}
    read = table(frame)
    assert "4 values left out: given to an earlier version of a construct" in read.warnings


def test_values_of_another_scale_and_constant_raters_are_suspected() -> None:
    shares = [{"response_id": f"r{i}", "value": i / 10} for i in range(6)]
    same = [{"response_id": f"r{i}", "scorer": "bob", "value": 70} for i in range(6)]
    text = " ".join(table(rows(*shares, *same)).warnings)
    assert "ann on QR: all values are between 0 and 1 on a scale of 0 to 100" in text
    assert "bob on QR gave 70 throughout" in text


def test_constructs_follow_the_order_of_their_scales() -> None:
    frame = simulated(constructs=("QR", "AC"))
    read = ScoreTable.from_frame(frame, {"AC": POINTS, "QR": POINTS})
    assert read.constructs == ("AC", "QR")
    assert read.scorers("QR", "human") == ("rater-1", "rater-2", "rater-3")
    assert read.systems == ("s0", "s1", "s2")


def test_ids_may_be_numbers() -> None:
    read = table(rows({"response_id": 1}, {"response_id": 2.0}))
    assert read.frame["response_id"].tolist() == ["1", "2"]


def test_the_digest_does_not_depend_on_the_order_of_rows_and_sees_a_change() -> None:
    frame = simulated()
    turned = frame.sample(frac=1, random_state=1)
    assert table(frame).digest() == table(turned).digest()
    frame.loc[3, "value"] += 1
    assert table(frame).digest() != table(turned).digest()


def test_an_empty_table_is_a_table() -> None:
    assert table(rows({}).iloc[:0]).constructs == ()


PAIR = {
    "query_id": "q1",
    "response_a": "a",
    "response_b": "b",
    "construct": "overall",
    "scorer": "ann",
    "scorer_kind": "human",
    "value": 1,
}


def preferences(*records: dict[str, object]) -> pd.DataFrame:
    return pd.DataFrame([PAIR | record for record in records])


def test_preferences_are_checked_as_scores_are() -> None:
    with pytest.raises(TableError) as caught:
        PreferenceTable.from_frame(
            preferences({"value": 3}, {"scorer_kind": "judge", "response_b": "c"}, {}),
            Scale(-2, 2),
        )
    text = str(caught.value)
    assert "preference: 3 in row 0 is outside -2 to 2" in text
    assert "scorer 'ann' is human and in row 1 judge" in text
    assert "3 and 1 in rows 0 and 2" in text


def test_two_systems_with_one_response_are_compared_as_it_is() -> None:
    assert len(PreferenceTable.from_frame(preferences({"response_b": "a", "value": 0})).frame) == 1


def test_preferences_keep_their_scale_and_drop_identical_rows_aloud() -> None:
    read = PreferenceTable.from_frame(preferences({}, {}), Scale(-2, 2))
    assert read.scales == {"overall": Scale(-2, 2)}
    assert len(read.frame) == 1
    assert read.warnings == ("1 preferences repeat another with the same value",)
