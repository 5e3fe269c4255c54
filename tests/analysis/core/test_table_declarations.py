import pytest

from analysis.core.errors import AnalysisError
from analysis.core.table_declarations import check_kinds, check_scales, read_kinds, read_scales
from study.base.scales import Scale

PRESENT = [("ann", "QR"), ("gpt", "QR"), ("a:b", "AC")]


def test_scales_are_read_for_all_for_one_and_for_one_scorer() -> None:
    by_construct, by_scorer = read_scales(["0:100", "AC=0:1", "a:b:AC=0:10"])
    assert by_construct.of(["QR", "AC"]) == {"QR": Scale(0, 100), "AC": Scale(0, 1)}
    assert by_scorer == {("a:b", "AC"): Scale(0, 10)}
    check_scales(by_construct, by_scorer, PRESENT)


def test_without_a_general_scale_other_constructs_have_none() -> None:
    by_construct, _ = read_scales(["AC=0:1"])
    assert by_construct.of(["QR", "AC"]) == {"AC": Scale(0, 1)}
    assert by_construct.get("QR") is None
    assert dict(by_construct) == {"AC": Scale(0, 1)}
    assert len(by_construct) == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("QX=0:1", "no construct 'QX'; it has QR, AC. Did you mean 'QR'"),
        ("ann:IR=0:1", "no construct 'IR'"),
        ("gtp:QR=0:1", "--scale gtp:QR=...: the table has no scorer on QR 'gtp'; it has ann, gpt"),
        ("ann:AC=0:1", "no scorer on AC 'ann'; it has a:b"),
    ],
)
def test_scales_of_what_is_not_there_are_refused(text: str, says: str) -> None:
    with pytest.raises(AnalysisError) as caught:
        check_scales(*read_scales([text]), PRESENT)
    assert says in str(caught.value)


def test_kinds_are_read_and_checked() -> None:
    assert read_kinds(["a=b=human"]) == {"a=b": "human"}
    check_kinds({"ann": "human"}, ["ann", "gpt"])
    with pytest.raises(AnalysisError, match="write SCORER=KIND"):
        read_kinds(["ann"])
    with pytest.raises(AnalysisError, match=r"'judgee' is not one of .* Did you mean 'judge'"):
        read_kinds(["gpt=judgee"])
    with pytest.raises(AnalysisError, match=r"no scorer 'anna'; it has ann. Did you mean 'ann'"):
        check_kinds({"anna": "human"}, ["ann"])
