import pandas as pd
import pytest

from analysis import Analysis, Options, Scale, analyse
from analysis.render.section import chapter
from analysis.topics.agreement.figures import bland_altman
from analysis.topics.agreement.section import SECTION, reading
from tests.analysis.scores import simulated, table


def analysed(
    frame: pd.DataFrame | None = None, scale: Scale | None = None, **options: float
) -> Analysis:
    whole = simulated(queries=40, systems=4) if frame is None else frame
    chosen = Options(resamples=200, **options)
    return analyse(table(whole, scale or Scale(0, 100)), options=chosen)


def tables(analysis: Analysis) -> set[str]:
    part = chapter(SECTION, analysis)
    return {t.key for t in part.tables} if part else set()


def test_the_section_says_what_agreement_means_for_pairs_values_and_systems() -> None:
    sentences = list(reading(analysed(non_inferiority_margin=0.1, bias_margin=20.0)))
    assert sentences[0].startswith("Of two responses to a query, judge prefers the one that people")
    assert "% [" in sentences[0]
    assert sentences[1].startswith("On a single response judge differs from people by -")
    assert sentences[2].startswith("Pairs of systems that judge and people decide alike: ")
    assert " of 6 on QR" in sentences[2]
    assert "alternative annotator test" in sentences[3]
    assert sentences[4].startswith(
        "That judge is not worse than one of these raters by more than .10 within a query "
    )
    assert sentences[5] == "Margin of 20 points: the bias is within it on QR."


def test_every_part_has_a_table() -> None:
    tables_by_key = tables(analysed(non_inferiority_margin=0.1, bias_margin=20.0))
    assert tables_by_key >= {
        "agreement-in-value",
        "pairwise-accuracy",
        "decisions",
        "alternative-annotator",
        "corrected-for-error",
        "non-inferiority",
        "equivalence",
    }
    assert "kappas" not in tables_by_key


def test_what_does_not_apply_is_not_shown() -> None:
    frame = simulated(queries=8, systems=1, raters=1)
    tables_by_key = tables(analysed(frame))
    assert "decisions" not in tables_by_key
    assert "alternative-annotator" not in tables_by_key
    assert "non-inferiority" not in tables_by_key
    assert "corrected-for-error" not in tables_by_key
    assert not list(reading(analysed(simulated(raters=0))))


def test_kappas_are_tabulated_on_few_levels() -> None:
    frame = simulated(queries=20)
    frame["value"] = (frame["value"] / 25).round() + 1
    part = chapter(SECTION, analysed(frame, Scale(1, 5, 1)))
    assert part is not None
    kappas = next(t for t in part.tables if t.key == "kappas")
    assert [row[2].text for row in kappas.rows] == ["with a rater", "raters among each other"]


def test_a_pair_that_only_the_judge_tells_apart_is_listed() -> None:
    frame = simulated(queries=60, systems=3)
    judged = (frame["scorer"] == "judge") & (frame["system"] == "s1")
    frame.loc[judged, "value"] = (frame.loc[judged, "value"] - 25).clip(0, 100)
    part = chapter(SECTION, analysed(frame))
    assert part is not None
    apart = next(t for t in part.tables if t.key == "decisions-different")
    assert [row[2].text for row in apart.rows] == ["s0 − s1", "s1 − s2"]
    assert {row[5].text for row in apart.rows} == {"the judge only"}


def test_limits_are_drawn_for_each_construct_on_a_common_scale() -> None:
    figure = next(bland_altman(analysed(simulated(constructs=("QR", "CC")))))
    assert len(figure.drawings) == 2
    assert "bias" in figure.drawings[0].svg
    # Every color follows the page.
    assert "#0102" not in figure.drawings[0].svg
    undeclared = analyse(table(simulated(), None), options=Options(resamples=100))
    assert not list(bland_altman(undeclared))


@pytest.mark.parametrize("value", [50.0, 100.0])
def test_constant_scores_are_drawn_and_said_without_a_fault(value: float) -> None:
    frame = simulated(queries=6).assign(value=value)
    analysis = analysed(frame)
    assert chapter(SECTION, analysis) is not None
    assert list(reading(analysis))
