import json
import math

import pytest

from analysis.core.estimates import FIELDS, Estimate, EstimateList, to_frame


def test_the_record_has_exactly_the_documented_fields() -> None:
    assert tuple(Estimate("mean", value=1.0).as_json()) == FIELDS


def test_nan_becomes_null_with_its_reason() -> None:
    record = Estimate("icc", reason="one rater only", params={"k": math.nan}).as_json()
    assert record["value"] is None
    assert record["params"] == {"k": None}
    assert record["reason"] == "one rater only"
    json.dumps(record, allow_nan=False)


def test_an_undefined_figure_without_a_reason_is_refused() -> None:
    with pytest.raises(ValueError, match="neither value nor reason"):
        Estimate("icc")


def test_records_are_found_by_what_they_say() -> None:
    a = Estimate("pearson", ("QR",), ("judge", "ann"), scope="pooled", value=0.5)
    b = Estimate("pearson", ("QR",), ("judge",), scope="within_query", value=0.4)
    c = Estimate("icc", ("QR",), value=0.3, params={"form": "A,1"})
    estimates = EstimateList((a, b, c))
    assert estimates.select("pearson", scorer="judge") == [a, b]
    assert estimates.first("pearson", scope="within_query") is b
    assert estimates.first("icc", form="A,1") is c
    assert estimates.first("icc", form="A,k") is None
    assert estimates.select(construct="QR") == [a, b, c]
    assert len(estimates) == 3


def test_a_frame_has_a_row_a_record() -> None:
    frame = to_frame([Estimate("icc", ("QR",), ("a", "b"), value=0.3, params={"form": "A,1"})])
    assert frame.loc[0, "scorers"] == "a + b"
    assert frame.loc[0, "params.form"] == "A,1"
    # Columns in which no estimate has anything are left out, apart from the leading ones.
    assert "systems" not in frame
    assert list(to_frame([]).columns) == [
        *("statistic", "constructs", "scorers", "scope", "value", "ci_low", "ci_high", "reason")
    ]
