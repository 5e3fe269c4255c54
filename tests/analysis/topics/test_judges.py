"""Several judges in one table: different judges are no runs of one."""

import numpy as np
import pandas as pd
import pytest

from analysis import Options, Scale, ScoreTable, analyse
from analysis.core.analysis import Analysis
from analysis.render.section import Chapter, chapter
from analysis.topics.judges.section import SECTION
from analysis.topics.stability.section import SECTION as STABILITY

pytestmark = pytest.mark.usefixtures("without_drawing")

NOISE = {"gpt": 4.0, "llama": 8.0, "qwen": 16.0}
MADE = {
    "gpt": {"model": "m", "prompts": "p", "seed": "1"},
    "llama": {"model": "n", "prompts": "q", "seed": "1"},
    "qwen": {"model": "n", "prompts": "q", "top": "5", "seed": "1"},
}


def frame(queries: int = 25, judges: dict[str, float] = NOISE, seed: int = 0) -> pd.DataFrame:
    """Three responses a query, two raters, and judges with their noise."""
    rng = np.random.default_rng(seed)
    n = 3 * queries
    truth = rng.normal(60, 12, n)
    base = pd.DataFrame(
        {
            "response_id": [f"r{i}" for i in range(n)],
            "query_id": [f"q{i // 3}" for i in range(n)],
            "system": [f"s{i % 3}" for i in range(n)],
            "construct": "QR",
        }
    )
    return pd.concat(
        [
            base.assign(
                scorer=name,
                scorer_kind="judge" if name in judges else "human",
                value=np.clip(np.round(truth + rng.normal(0, noise, n)), 0, 100),
            )
            for name, noise in (judges | {"ann": 6.0, "bob": 6.0}).items()
        ],
        ignore_index=True,
    )


def analysed(rows: pd.DataFrame, scale: Scale | None = None, **options: object) -> Analysis:
    table = ScoreTable.from_frame(rows, {"QR": scale or Scale(0, 100)})
    return analyse(table, options=Options(resamples=100, **options))


def section(analysis: Analysis) -> Chapter:
    made = chapter(SECTION, analysis)
    assert made is not None
    return made


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return analysed(frame())


def test_three_models_have_no_stability(analysis: Analysis) -> None:
    assert chapter(STABILITY, analysis) is None
    for name in ("run_agreement", "run_variance_share", "variance_between_runs", "flip_rate"):
        assert not analysis.estimates.select(name)


def test_many_submissions_are_many_judges() -> None:
    judges = {f"submission-{i}": 4.0 + i for i in range(8)}
    analysis = analysed(frame(queries=10, judges=judges))
    assert chapter(STABILITY, analysis) is None
    assert len(analysis.estimates.select("judge_agreement", measure="pearson")) == 28
    assert len(section(analysis).tables[0].rows) == 8


def test_each_judge_has_a_row_beside_the_others(analysis: Analysis) -> None:
    table = section(analysis).tables[0]
    assert table.key == "judges"
    assert [row[1].text for row in table.rows] == list(NOISE)
    within = [float(row[table.columns.index("r within a query")].text) for row in table.rows]
    assert within == sorted(within, reverse=True)


def test_each_two_judges_are_compared(analysis: Analysis) -> None:
    pairs = analysis.estimates.select("judge_agreement", measure="pearson")
    assert [e.scorers for e in pairs] == [("gpt", "llama"), ("gpt", "qwen"), ("llama", "qwen")]
    assert all(e.has_interval for e in pairs)
    (sentence,) = section(analysis).reading
    assert sentence.startswith(
        "QR: two of 3 judges agree with each other by a correlation within queries of ."
    )
    assert [figure.key for figure in section(analysis).figures] == ["judges"]


def test_runs_of_one_judge_are_one_judge() -> None:
    rows = frame()
    runs = {"gpt": MADE["gpt"], "llama": MADE["gpt"] | {"seed": "2"}}
    analysis = analysed(rows[rows["scorer"] != "qwen"], runs=runs)
    assert chapter(SECTION, analysis) is None
    assert analysis.estimates.select("run_agreement")


def test_judges_on_two_scales_are_compared_in_order_only() -> None:
    rows = frame()
    rows.loc[rows["scorer"] == "gpt", "value"] /= 100
    own_scale = {("gpt", "QR"): Scale(0, 1)}
    table = ScoreTable.from_frame(rows, {"QR": Scale(0, 100)}, own_scale)
    analysis = analyse(table, options=Options(resamples=100))
    measures = {
        e.params["measure"]
        for e in analysis.estimates.select("judge_agreement")
        if "gpt" in e.scorers
    }
    assert measures == {"pearson"}


def test_what_differs_between_judges_is_named_and_confounding_said() -> None:
    analysis = analysed(frame(), runs=MADE)
    by = {str(e.params["differ"]): e for e in analysis.estimates.select("variance_between_judges")}
    assert set(by) == {"top", "model + prompts", "model + prompts + top"}
    assert by["top"].value == pytest.approx((8**2 + 16**2) / 2, rel=0.5)
    sentences = " ".join(section(analysis).reading)
    assert "Between judges model and prompts differ only together" in sentences
    assert "top" not in sentences
    assert "between-judges" in [table.key for table in section(analysis).tables]


def confounded(*made: dict[str, str]) -> list[str]:
    analysis = analysed(frame(queries=6), runs=dict(zip(NOISE, made, strict=True)))
    return [line for line in SECTION.reading(analysis) if "confounded" in line]


def test_what_differs_only_where_another_does_is_not_said_to_go_both_ways() -> None:
    plain = {"prompts": "p", "logprobs": "no", "top": "0"}
    other = plain | {"prompts": "q"}
    assert confounded(plain, other, other | {"prompts": "r", "logprobs": "yes"}) == [
        "Between judges logprobs differs only where prompts does: its effect is confounded."
    ]
    assert confounded(plain, other, other | {"prompts": "r", "logprobs": "yes", "top": "5"}) == [
        "Between judges logprobs and top differ only together, and only where prompts does: "
        "their effects are confounded."
    ]


def test_judges_on_a_nominal_scale_are_compared_by_category() -> None:
    rows = frame()
    rows["value"] = np.clip(np.round(rows["value"] / 25), 0, 4)
    analysis = analysed(rows, Scale(0, 4, 1, "nominal"))
    measures = {e.params["measure"] for e in analysis.estimates.select("judge_agreement")}
    assert measures == {"share_equal", "kappa"}
    assert "Kappa minus a rater's" in section(analysis).tables[0].columns
