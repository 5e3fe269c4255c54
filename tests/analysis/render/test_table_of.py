"""Tables as declarations: rows of estimates, columns, and templates that can be filled."""

from functools import cache

import pytest

from analysis import Analysis, Options, analyse
from analysis.core.context import Context
from analysis.core.estimates import Estimate, EstimateList
from analysis.pipeline.sections import SECTIONS, headings
from analysis.render.table_of import (
    COMMON,
    TableOf,
    TableRow,
    coefficient,
    each,
    each_scorer,
    formatted,
    in_points,
    in_words,
    param,
    spread,
)
from tests.analysis.scores import simulated, table

DECLARED = [part for section in SECTIONS for part in section.tables if isinstance(part, TableOf)]


@cache
def whole() -> Analysis:
    return analyse(table(simulated(queries=6)), options=Options(resamples=100))


def with_estimates(*estimates: Estimate) -> Analysis:
    """An analysis of these estimates alone, with the headings of a report."""
    context = Context(table(simulated(queries=2)), None, Options())
    return Analysis("t", context, EstimateList(estimates), headings=headings())


def test_a_row_for_each_estimate_with_the_others_of_its_construct_and_scorer() -> None:
    declared = TableOf(
        "agreement",
        "Agreement",
        "{pearson} and {bias} against {reference_words}, at {level:.0%}.",
        each_scorer("pearson", scope=("within_query", "pooled")),
        ("construct", "scorer", "scope", "pearson", in_points("bias", target="these_raters"),
         formatted("share_at_max", ".1%", "{share_at_max} of all", scope="pooled"), "responses"),
        heads=3,
    )  # fmt: skip
    (made,) = declared(whole())
    words = headings()
    assert made.caption == (
        f"{words['pearson']} and {words['bias']} against the mean of a response's raters, at 95%."
    )
    assert made.columns == (
        "Construct", "Scorer", "Scope", words["pearson"], words["bias"],
        f"{words['share_at_max']} of all", "Responses",
    )  # fmt: skip
    within, pooled = made.rows
    assert [cell.text for cell in within[:3]] == ["QR", "judge", "within a query"]
    assert [cell.text for cell in pooled[:3]] == ["QR", "judge", "pooled"]
    assert pooled[3].interval
    frame = simulated(queries=6)
    judged, rated = (frame[frame["scorer_kind"] == kind]["value"] for kind in ("judge", "human"))
    assert pooled[4].text == f"{judged.mean() - rated.mean():.1f}"
    assert pooled[-1].text == "18"
    assert set(made.data["statistic"]) == {"pearson", "bias", "share_at_max"}


def test_rows_are_chosen_and_sorted_and_an_undefined_figure_has_its_reason() -> None:
    places = [
        Estimate("judge_rank", ("QR",), ("a",), value=2, params={"group": 1}),
        Estimate("judge_rank", ("QR",), ("b",), value=1, params={"group": None}),
        Estimate("judge_rank", ("QR",), ("c",), reason="too few queries"),
        Estimate("judge_rank", ("QR",), ("d",), value=3),
    ]
    declared = TableOf(
        "ranks",
        "Ranks",
        "",
        each("judge_rank", keep=lambda e: e.value != 3, sort=lambda e: -e.value),
        ("scorer", formatted("judge_rank", ".0f"), param("group", "Group")),
        heads=1,
        note=lambda analysis, rows: f"{len(rows)} of {len(analysis.estimates)}.",
        detail=lambda row: row.scorer == "b",
    )
    (made,) = declared(with_estimates(*places))
    texts = [[cell.text for cell in row] for row in made.rows]
    assert texts == [["a", "2", "1"], ["b", "1", ""], ["c", "—", ""]]
    assert made.footnotes == (("a", "too few queries"),)
    assert made.caption == "3 of 4."
    assert made.detail_rows == {1}


def test_rows_are_limited_by_group_and_as_a_whole() -> None:
    biases = [
        Estimate("bias", ("QR",), (scorer,), (system,), f"system:{system}", value=value)
        for scorer, system, value in (
            ("b", "s1", 1), ("a", "s1", 2), ("b", "s2", 3), ("a", "s2", 4), ("a", "s3", 3),
        )
    ]  # fmt: skip
    declared = TableOf(
        "biases",
        "Biases",
        "All.",
        each("bias", per=lambda e: e.scorers, sort=lambda e: -e.value, most=2),
        ("scorer", "system", formatted("bias", ".0f")),
        most=3,
        cut=" The first {most} of {all}; {rest} more.",
    )
    (made,) = declared(with_estimates(*biases))
    texts = ["".join(cell.text for cell in row) for row in made.rows]
    assert texts == ["bs23", "bs11", "as24"]
    assert made.caption == "All. The first 3 of 4; 1 more."
    (whole_table,) = declared(with_estimates(*biases[:3]))
    assert whole_table.caption == "All."


def test_the_estimates_of_a_pair_are_not_those_of_another_pair() -> None:
    pairs = [
        Estimate("judge_agreement", ("QR",), scorers, value=value, params={"measure": measure})
        for scorers, values in ((("a", "b"), (0.25, 0.5)), (("a", "c"), (0.75, 1.0)))
        for measure, value in zip(("share_equal", "ccc"), values, strict=True)
    ]
    declared = TableOf(
        "pairs",
        "Pairs",
        "",
        each("judge_agreement", "scorers", measure="share_equal"),
        (in_words("Pair", "{e.scorers[0]} and {e.scorers[1]}"),
         coefficient("judge_agreement", "{ccc}", measure="ccc")),
        heads=1,
    )  # fmt: skip
    (made,) = declared(with_estimates(*pairs))
    assert [[cell.text for cell in row] for row in made.rows] == [
        ["a and b", ".50"],
        ["a and c", "1.00"],
    ]


def test_a_column_is_spread_across_names_and_rows_of_the_same_heads_are_one_line() -> None:
    shifts = [
        Estimate("probe_shift", (construct,), (scorer,), value=value, params={"probe": "again"})
        for construct, scorer, value in (
            ("CC", "b", 1), ("QR", "b", 2), ("CC", "a", 3), ("{AC}", "a", 4),
        )
    ]  # fmt: skip
    declared = TableOf(
        "shifts",
        "Shifts",
        "",
        each("probe_shift"),
        ("scorer",
         spread(formatted("probe_shift", ".0f"), sort=lambda row: -len(row.construct.strip("C"))),
         param("probe", "Probe")),
        heads=1,
        detail=lambda row: row.estimate.value < 3,
    )  # fmt: skip
    (made,) = declared(with_estimates(*shifts))
    assert made.columns == ("Scorer", "{AC}", "QR", "CC", "Probe")
    texts = [[cell.text for cell in row] for row in made.rows]
    assert texts == [["b", "", "2", "1", "again"], ["a", "4", "", "3", "again"]]
    assert made.detail_rows == {0}
    assert made.data["value"].tolist() == [2, 1, 4, 3]


def test_a_numbered_table_for_each_part_without_those_that_are_too_long() -> None:
    biases = [
        Estimate("bias", ("QR",), (scorer,), (system,), value=1.0)
        for scorer, systems in (("{a}", ("s1",)), ("b", ("s1", "s2")), ("c", ("s3",)))
        for system in systems
    ]
    declared = TableOf(
        "biases",
        "Bias of {part}",
        "",
        each("bias"),
        ("system", formatted("bias", ".0f")),
        heads=1,
        note=lambda _analysis, rows: f"{len(rows)} in all.",
        most=1,
        per=lambda _analysis: ("{a}", "b", "c"),
        part=lambda row: row.scorer,
    )
    made = list(declared(with_estimates(*biases)))
    assert [table.key for table in made] == ["biases-1", "biases-3"]
    assert [table.title for table in made] == ["Bias of {a}", "Bias of c"]
    assert [table.caption for table in made] == ["1 in all.", "1 in all."]
    assert made[1].rows[0][0].text == "s3"


def test_a_column_of_an_estimate_needs_a_row_that_has_one() -> None:
    row = TableRow(with_estimates(), {"construct": "QR"})
    with pytest.raises(ValueError, match="needs the estimate of its row"):
        _ = row.estimate


@pytest.mark.parametrize("declared", DECLARED, ids=lambda declared: declared.key)
def test_the_templates_of_every_declared_table_can_be_filled(declared: TableOf) -> None:
    list(declared(with_estimates()))
    plain = {column for column in declared.columns if isinstance(column, str)}
    assert plain <= headings().keys() | COMMON.keys()
