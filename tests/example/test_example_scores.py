"""The simulated scores: rebuilt byte for byte, and with the faults that the README declares."""

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "data" / "example"
README = (EXAMPLE / "README.md").read_text(encoding="utf-8")
CONSTRUCTS = ["CC", "QR", "ID", "AC", "IR"]
RATERS = [f"simulated-rater-{number}" for number in range(1, 6)]
CARELESS = "simulated-rater-5"
JUDGE = "simulated-judge"


@pytest.fixture(scope="module")
def simulation() -> ModuleType:
    # By its path, as the script is run: the package that holds it need not be installed.
    spec = importlib.util.spec_from_file_location("example_simulate", EXAMPLE / "simulate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def scores() -> pd.DataFrame:
    table = pd.read_csv(EXAMPLE / "scores.csv", dtype=str, keep_default_na=False)
    return table.assign(
        value=pd.to_numeric(table["value"]),
        query_id=table["response_id"].str.rsplit("-", n=1).str[0],
    )


def _wide(scores: pd.DataFrame, construct: str) -> pd.DataFrame:
    """Responses by scorers."""
    rows = scores[scores["construct"] == construct]
    # pivot_table would average two values of one key; pivot refuses them.
    return rows.pivot(index="response_id", columns="scorer", values="value")  # noqa: PD010


def _within_query(wide: pd.DataFrame) -> tuple[dict[str, float], float]:
    """Pearson r within queries with the mean of the other raters: of each rater, of the judge."""
    raters, judge = {}, []
    for rater in RATERS:
        others = wide[[name for name in RATERS if name != rater]].mean(axis=1)
        trio = pd.DataFrame({"rater": wide[rater], "judge": wide[JUDGE], "others": others}).dropna()
        query = trio.index.str.rsplit("-", n=1).str[0]
        centered = trio - trio.groupby(query).transform("mean")
        raters[rater] = centered["rater"].corr(centered["others"])
        judge.append(centered["judge"].corr(centered["others"]))
    return raters, sum(judge) / len(judge)


def _declared() -> dict[str, list[float]]:
    """The README's table: planted shift, bias, percent at 100, rater's r, judge's r."""
    rows = re.findall(r"^\| (CC|QR|ID|AC|IR) \| (.+) \|$", README, flags=re.MULTILINE)
    return {key: [float(cell.rstrip("%")) for cell in cells.split(" | ")] for key, cells in rows}


def test_the_file_is_rebuilt_byte_for_byte(simulation: ModuleType, tmp_path: Path) -> None:
    simulation.write_scores(simulation.simulate(), tmp_path / "scores.csv")
    assert (tmp_path / "scores.csv").read_bytes() == (EXAMPLE / "scores.csv").read_bytes()


def test_scores_with_another_seed_are_another_draw(simulation: ModuleType) -> None:
    assert simulation.simulate(seed=1) == simulation.simulate(seed=1)
    assert simulation.simulate(seed=1) != simulation.simulate()


def test_columns_ids_and_keys(scores: pd.DataFrame) -> None:
    assert list(scores.columns)[:8] == [
        "response_id",
        "construct",
        "scorer",
        "scorer_kind",
        "repeat",
        "value",
        "missing_reason",
        "source",
    ]
    lines = (EXAMPLE / "responses.jsonl").read_text(encoding="utf-8").splitlines()
    assert set(scores["response_id"]) == {json.loads(line)["response_id"] for line in lines}
    assert not scores.duplicated(["response_id", "construct", "scorer", "repeat"]).any()
    # 116 responses: 5 raters and the judge on 5 constructs, EM on AC.
    assert len(scores) == 116 * (6 * 5 + 1)


def test_scorers_say_what_they_are(scores: pd.DataFrame) -> None:
    kinds = set(zip(scores["scorer"], scores["scorer_kind"], scores["source"], strict=True))
    expected = {(rater, "human", "simulated") for rater in RATERS}
    assert kinds == expected | {(JUDGE, "judge", "simulated"), ("EM", "metric", "computed")}


def test_values_are_whole_points_or_missing_with_a_reason(scores: pd.DataFrame) -> None:
    present = scores["value"].dropna()
    assert present.between(0, 100).all()
    assert (present == present.round()).all()
    assert ((scores["missing_reason"] == "") == scores["value"].notna()).all()


def test_missing_ratings(scores: pd.DataFrame) -> None:
    human = scores[scores["scorer_kind"] == "human"]
    reasons = human["missing_reason"].value_counts()
    assert reasons["not_assigned"] == 520
    assert reasons["skipped"] == 57
    assert human["value"].isna().sum() == 577
    assert human["value"].isna().mean() == pytest.approx(0.20, abs=0.005)
    assert human.groupby(["response_id", "construct"])["value"].count().min() == 3
    assert "577 of the 2,900 ratings are missing** (19.9%): 520 `not_assigned`" in README
    assert "57 `skipped`" in README


def test_missing_judge_scores(scores: pd.DataFrame) -> None:
    lost = scores[(scores["scorer"] == JUDGE) & scores["value"].isna()]
    assert set(
        zip(lost["response_id"], lost["construct"], lost["missing_reason"], strict=True)
    ) == {
        ("lib-06-a", "ID", "unparsed"),
        ("plot-09-d", "IR", "unparsed"),
        ("plot-12-d", "CC", "refused"),
    }


def test_the_empty_response_is_scored_zero(scores: pd.DataFrame) -> None:
    rows = scores[scores["response_id"] == "lib-14-c"]
    assert (rows["value"].dropna() == 0).all()
    assert rows.loc[rows["scorer"] == JUDGE, "value"].tolist() == [0.0] * 5


def test_em_is_strict_equality_with_a_reference(scores: pd.DataFrame) -> None:
    lines = (EXAMPLE / "responses.jsonl").read_text(encoding="utf-8").splitlines()
    answers = [json.loads(line) for line in lines]
    matching = {
        answer["response_id"] for answer in answers if answer["response"] in answer["references"]
    }
    em = scores[scores["scorer"] == "EM"]
    assert set(em["construct"]) == {"AC"}
    assert set(em["value"]) == {0.0, 100.0}
    assert set(em.loc[em["value"] == 100, "response_id"]) == matching
    assert len(matching) == 15
    assert sum(answer["response_id"] in matching for answer in answers) == 17


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_the_readme_states_the_realized_figures(
    simulation: ModuleType, scores: pd.DataFrame, construct: str
) -> None:
    shift, bias, at_ceiling, rater, judge = _declared()[construct]
    wide = _wide(scores, construct)
    raters, judge_r = _within_query(wide)
    assert shift == simulation.JUDGE_SHIFT
    assert (wide[JUDGE] - wide[RATERS].mean(axis=1)).mean() == pytest.approx(bias, abs=0.051)
    assert 100 * (wide[JUDGE].dropna() == 100).mean() == pytest.approx(at_ceiling, abs=0.51)
    assert sum(raters.values()) / 5 == pytest.approx(rater, abs=0.0051)
    assert judge_r == pytest.approx(judge, abs=0.0051)


def test_the_judge_is_too_kind_on_each_construct(scores: pd.DataFrame) -> None:
    for construct in CONSTRUCTS:
        wide = _wide(scores, construct)
        assert (wide[JUDGE] - wide[RATERS].mean(axis=1)).mean() > 2


def test_three_quarters_of_the_qr_scores_are_at_the_ceiling(scores: pd.DataFrame) -> None:
    judged = _wide(scores, "QR")[JUDGE].dropna()
    assert (judged == 100).mean() == pytest.approx(0.75, abs=0.005)
    assert judged[judged < 100].max() <= 95


def test_the_judge_orders_id_worse_and_ac_about_as_well_as_a_rater(scores: pd.DataFrame) -> None:
    raters, judge = _within_query(_wide(scores, "ID"))
    assert judge < sum(raters.values()) / 5 - 0.1
    raters, judge = _within_query(_wide(scores, "AC"))
    assert judge == pytest.approx(sum(raters.values()) / 5, abs=0.05)
    assert judge < min(r for rater, r in raters.items() if rater != CARELESS)


def test_the_careless_rater_is_the_least_reliable_and_uses_few_values(scores: pd.DataFrame) -> None:
    rated = scores[scores["scorer_kind"] == "human"].dropna(subset="value")
    distinct = rated.groupby("scorer")["value"].nunique()
    assert set(rated.loc[rated["scorer"] == CARELESS, "value"]) == {50.0, 70.0, 80.0, 90.0}
    assert distinct.drop(CARELESS).min() > 40
    for construct in CONSTRUCTS:
        raters, _ = _within_query(_wide(scores, construct))
        careless = raters.pop(CARELESS)
        assert careless < min(raters.values()) - 0.2
