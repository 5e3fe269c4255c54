import json
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from analysis.cli.plan import plan
from study.cli.root import cli
from study.example import build_example
from tests.analysis.scores import simulated

pytestmark = pytest.mark.usefixtures("without_drawing")

FAST = ["--runs", "3", "--queries", "20,40", "--raters", "2,3"]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(plan, [*map(str, arguments), *FAST], prog_name="plan")


def test_plan_from_stated_components() -> None:
    result = run("--components", "rater=3", "--wanted", "bias=40", "--wanted", "pearson=0.1")
    assert result.exit_code == 0, result.output
    assert "rater 3," in result.output.replace("\n", " ")
    assert max(map(len, result.output.splitlines())) <= 80
    assert "1 minute a response is assumed" in result.output


def test_plan_from_a_table_as_pilot(tmp_path: Path) -> None:
    path = tmp_path / "pilot.csv"
    simulated(queries=20, missing=0.1).to_csv(path, index=False)
    out = tmp_path / "curve.svg"
    words = (path, "--scale", "0:100", "--wanted", "pearson=0.1", "--minutes", "2", "--out", out)
    result = run(*words, "--json")
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    content = document["widths"]
    assert document["power"] is None
    assert content["responses_per_query"] == 3
    assert content["minutes"] == 2
    assert content["components"]["error"] == pytest.approx(7, abs=1.5)
    assert document["notes"] == ["Pilot: pilot, QR and judge"]
    assert out.read_text(encoding="utf-8").startswith("<?xml")
    fixed = run(*words, "--json", "--components", "error=1")
    assert json.loads(fixed.stdout)["widths"]["components"]["error"] == 1


def test_from_a_study_with_its_reading_time(tmp_path: Path) -> None:
    build_example(tmp_path / "demo").close()
    result = run(tmp_path / "demo", "--wanted", "krippendorff_alpha=0.1", "--construct", "CC")
    assert result.exit_code == 0, result.output
    assert "minutes of reading a response" in result.output
    assert "CC and" in result.output


def test_a_study_without_scores_is_no_pilot_and_the_components_are_named(tmp_path: Path) -> None:
    from study import Study

    Study.create(tmp_path / "study").close()
    result = run(tmp_path / "study", "--wanted", "bias=4")
    assert result.exit_code == 2
    assert "has no scores yet; import them with" in result.output
    assert "ccrs plan --components rater=8,judge=15" in result.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nowhere",), "does not exist"),
        (("--wanted", "bias"), "write STATISTIC=HALFWIDTH"),
        (("--wanted", "alpha=0.1"), "can't be planned for"),
        (("--components", "reter=1"), "not one of"),
        (("--queries", "many"), "write numbers"),
    ],
)
def test_what_can_not_be_planned(words: tuple[str, ...], message: str) -> None:
    result = CliRunner().invoke(plan, list(words), prog_name="plan")
    assert result.exit_code == 2, result.output
    assert message in result.output


def test_a_table_without_a_second_rater_is_drawn_from_and_gives_no_components(
    tmp_path: Path,
) -> None:
    path = tmp_path / "pilot.csv"
    simulated(raters=1).to_csv(path, index=False)
    drawn = CliRunner().invoke(cli, ["plan", str(path), "--runs", "2", "--queries", "20"])
    assert drawn.exit_code == 0, drawn.output
    assert "choose_between_responses" in drawn.output
    result = run(path, "--claim", "bias=4")
    assert result.exit_code == 2
    assert "QR: the pilot gives no components" in result.output
    assert "unknown construct 'CC'" in run(path, "--construct", "CC").output


def test_the_reading_time_is_that_of_the_words_shown(tmp_path: Path) -> None:
    from analysis.cli.pilot import reading_minutes
    from study import Study, import_file

    study = Study.create(tmp_path / "study", "[rating]\nwords_per_minute = 10\n")
    row = {"query_id": "q", "query": "one two", "references": ["a b c"], "passages": ["p p p"]}
    path = tmp_path / "responses.jsonl"
    answers = ({"system": "s", "response": "x y"}, {"system": "t", "response": "z z z z"})
    path.write_text("\n".join(json.dumps(row | answer) for answer in answers), encoding="utf-8")
    import_file(study, path)
    study.close()
    # Question 2, reference 3 and passage 3 once, responses 2 and 4: 14 words for 2 responses.
    assert reading_minutes(tmp_path / "study") == pytest.approx(14 / 2 / 10)


def test_the_chance_of_a_claim(tmp_path: Path) -> None:
    out = tmp_path / "plan.csv"
    result = run("--claim", "bias=10", "--claim", "judge_difference=0.9", "--out", out)
    assert result.exit_code == 0, result.output
    *lines, written = result.output.splitlines()
    assert max(map(len, lines)) <= 80
    assert written == f"Written: {out}"
    assert "The fewest ratings for a power of 80%" in result.output
    assert "needs a judge whose tau-b" in result.output
    assert len(out.read_text(encoding="utf-8").splitlines()) == 1 + 2 * 2 * 2
    content = json.loads(run("--claim", "bias=10", "--json").stdout)
    assert content["widths"] is None
    assert content["power"]["claims"] == {"bias": 10}
    assert content["power"]["report"] == {"constructs": 1, "judges": 1}
    wrong = run("--claim", "bias")
    assert wrong.exit_code == 2
    assert "write STATISTIC=EFFECT" in wrong.output


def test_without_a_wish_it_is_the_chance_of_a_yes_on_queries_of_the_pilot(tmp_path: Path) -> None:
    path = tmp_path / "pilot.csv"
    simulated(queries=20).to_csv(path, index=False)
    words = ("plan", str(path), "--scale", "0:100", "--runs", "3", "--queries", "20,40")
    content = json.loads(CliRunner().invoke(cli, [*words, "--json"]).stdout)
    assert content["widths"] is None
    uses = ("choose_between_responses", "rank_systems", "report_level")
    assert content["power"]["claims"] == dict.fromkeys(uses)
    assert {cell["raters"] for cell in content["power"]["cells"]} == {3}
    shown = " ".join(CliRunner().invoke(cli, words).output.split())
    assert "drawn from the pilot with replacement" in shown
    for option, value in (("--components", "rater=3"), ("--responses", "2"), ("--level", "0.9")):
        refused = CliRunner().invoke(cli, [*words, option, value])
        assert refused.exit_code == 2
        assert f"{option} {value} has no effect here" in refused.output
    more = " ".join(CliRunner().invoke(cli, [*words, "--raters", "3,5"]).output.split())
    assert "with 5 raters the pilot has 3" in more


def test_without_a_pilot_it_is_that_of_the_judge_of_the_components() -> None:
    single = run("--responses", "1", "--components", "judge=8")
    assert "order_responses" in single.output
    assert "rank_systems" not in single.output
    assert "report answers yes" in " ".join(single.output.split())


def test_an_answer_is_not_corrected_for_other_constructs() -> None:
    result = run("--claim", "report_level=0", "--n-constructs", "2")
    assert result.exit_code == 2
    assert "--n-constructs" in result.output


def test_claims_are_corrected_for_the_constructs_and_judges_of_the_pilot(tmp_path: Path) -> None:
    build_example(tmp_path / "demo").close()
    words = (tmp_path / "demo", "--claim", "bias=10", "--runs", "2", "--json")

    def planned(*further: str) -> dict[str, float]:
        result = CliRunner().invoke(plan, [*map(str, words), *FAST, *further], prog_name="plan")
        power = json.loads(result.stdout)["power"]
        return power["report"] | {"p": power["p_needed"]["bias"]}

    of_pilot = planned()
    assert of_pilot["constructs"] > 1
    comparisons = 3 * of_pilot["constructs"] * of_pilot["judges"]
    assert of_pilot["p"] == pytest.approx(0.025 / comparisons)
    stated = planned("--n-constructs", "2", "--n-judges", "1")
    assert stated == {"constructs": 2, "judges": 1, "p": pytest.approx(0.025 / 6)}


def test_the_worked_example_is_what_the_command_prints() -> None:
    page = Path(__file__).parents[3] / "data/manual/reference/planning.md"
    example = page.read_text(encoding="utf-8").split("### The chance of an answer")[1]
    shown = re.search(r"```sh\nccrs plan (.*?)\n```\n\n```\n(.*?)\n```", example, re.S)
    assert shown is not None
    command, printed = shown.groups()
    result = CliRunner().invoke(plan, shlex.split(command), prog_name="plan")
    assert [line.rstrip() for line in result.output.splitlines()] == printed.splitlines()


@pytest.mark.parametrize(
    "further",
    [[], ["--claim", "rank_systems=0.2"], ["--wanted", "bias=4"], ["--components", "query=0.5"]],
)
def test_a_pilot_of_one_rated_query_is_named_whatever_is_planned(
    tmp_path: Path, further: list[str]
) -> None:
    path = tmp_path / "pilot.csv"
    rows = ["q1,a,3,4,4", "q1,b,2,2,3", "q1,c,5,4,5", "q1,d,1,2,1"]
    path.write_text("\n".join(["query_id,system,llm,human_anna,human_ben", *rows]) + "\n")
    options = ["--scale", "1:5:1", "--queries", "25", "--raters", "2", "--runs", "2", *further]
    result = CliRunner().invoke(cli, ["plan", str(path), *options])
    if "--components" in further:
        assert result.exit_code == 0, result.output
        assert "People rated responses to 1 query: what is not stated in" in result.output
    else:
        assert result.exit_code == 2
        assert "people rated responses to 1 query; a pilot needs at least 2" in result.output
        assert "ccrs plan --components" in result.output
