"""An option without effect is an error: every option of a command that reads scores has a rule."""

import csv
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

import click
import pandas as pd
import pytest
from click.testing import CliRunner

from analysis import Options
from analysis.cli.given_options import OPTIONS, _by_context
from analysis.cli.report_input import ReportInput
from analysis.pipeline.unused_options import RULES
from study.cli.root import cli

PATHS = {"report": ("report",), "check": ("check",), "plan": ("plan",), "doctor": ("doctor",),
         "rank": ("judge", "rank")}  # fmt: skip


def command(words: tuple[str, ...]) -> tuple[click.Command, click.Context]:
    found: click.Command = cli
    context = click.Context(cli)
    for word in words:
        assert isinstance(found, click.Group)
        inner = found.get_command(context, word)
        assert inner is not None
        found, context = inner, click.Context(inner, parent=context, info_name=word)
    return found, context


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_every_option_has_a_rule(name: str) -> None:
    found, context = command(PATHS[name])
    options = {
        str(parameter.name)
        for parameter in found.get_params(context)
        if isinstance(parameter, click.Option) and "--help" not in parameter.opts
    }
    assert options == set(OPTIONS[name])
    by_context = {option for option, rule in OPTIONS[name].items() if rule is _by_context}
    assert by_context <= set(RULES)


def test_every_field_of_the_options_has_a_rule() -> None:
    assert {field.name for field in fields(Options)} == set(RULES)


# Tables. `graded` is what two raters, a judge and a metric give on two constructs; `verdicts` what
# one person passes or fails and a judge grades.


def rows(construct: str, **scorers: str) -> list[dict[str, object]]:
    return [
        {
            "response_id": f"{query}-{system}", "query_id": f"q{query}", "system": system,
            "construct": construct, "scorer": scorer, "scorer_kind": kind,
            "value": (query * 13 + ord(system) * 5 + place * (query % 4)) % 101,
        }
        for query in range(8)
        for system in "AB"
        for place, (scorer, kind) in enumerate(scorers.items())
    ]  # fmt: skip


SCORERS = {"anna": "human", "ben": "human", "gpt": "judge", "llama": "judge"}


def written(path: Path, table: list[dict[str, object]]) -> Path:
    pd.DataFrame(table).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table that can use nearly every option."""
    folder = tmp_path_factory.mktemp("graded")
    table = [row for key in ("QR", "AC", "CC") for row in rows(key, **SCORERS, F1="metric")]
    for row in table:
        # Of the last queries nobody rated any response.
        if row["scorer_kind"] == "human" and row["query_id"] in {"q6", "q7"}:
            row["value"] = None
        row["passages_opened"] = None
        if row["scorer_kind"] == "human":
            row["passages_opened"] = "no" if row["query_id"] == "q0" else "yes"
    table = [row for row in table if row["value"] is not None]
    return written(folder / "graded.csv", table)


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Responses without systems that one person passes or fails and a judge grades from 1 to 5."""
    path = tmp_path_factory.mktemp("verdicts") / "verdicts.csv"
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(("response_id", "query_id", "construct", "scorer", "scorer_kind", "value"))
        for n in range(60):
            for scorer, kind, value in (
                ("anna", "human", n % 3 == 0), ("gpt", "judge", 1 + (n + n % 3) % 5),
            ):  # fmt: skip
                table.writerow((f"r{n}", f"q{n}", "works", scorer, kind, int(value)))
    return path


def run(words: list[str]) -> tuple[int, str]:
    done = CliRunner().invoke(cli, words)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


#: What `graded` can use and `verdicts` cannot, of `ccrs report`, with a part of the reason.
SETTINGS: Mapping[str, str] = {
    "--reference=adjudicated": "no adjudicated value",
    "--ac-lambda=0.5": "a construct AC",
    "--second-metrics=works": "no judge or metric is left",
    "--published": "systems A to F",
    "--non-inferiority-margin=0.05": "no two people rated the same response",
    "--bias-margin=3": "no bias in points can be computed",
    "--alt-test-epsilon=0.1": "no two rated the same response",
    "--overall=works": "fewer than two others",
    "--without-unopened": "before a passage was opened",
    "--target-width=4": "people rated every response",
    "--cut=human=1": "nothing is to be cut",
    "--layout=single": "no value of people has the layout",
    "--scale=works=0:5 --scale=gpt:works=1:5 --scale=anna:works=0:1:1": "other --scale options",
    "--same-judge=gpt": "one run alone",
}


@pytest.mark.parametrize("words", SETTINGS)
def test_an_option_that_the_table_cannot_use_is_refused(words: str, verdicts: Path) -> None:
    option = words.partition("=")[0]
    code, output = run(["report", str(verdicts), "--no-verify", *words.split()])
    assert code == 2, output
    assert option in output
    assert SETTINGS[words] in " ".join(output.split())
    assert not (verdicts.parent / "verdicts-report").exists()


USED = (
    "--reference=mean_of_raters", "--ac-lambda=0.5", "--second-metrics=F1", "--published",
    "--non-inferiority-margin=0.05", "--bias-margin=3", "--alt-test-epsilon=0.1", "--overall=QR",
    "--without-unopened", "--target-width=4", "--cut=human=50", "--cut=human=50 --cut=gpt:AC=40",
    "--same-judge=gpt,llama", "--true-rate=0.7 --cut=human=50", "--no-published",
)  # fmt: skip


@pytest.mark.parametrize("words", USED)
def test_an_option_that_the_table_can_use_is_accepted(
    words: str, graded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from analysis.cli import report
    from analysis.pipeline.estimation import _checked_context

    def check_only(source: ReportInput, *_: object, given: set[str], **__: object) -> None:
        _checked_context(source.scores, source.preferences, source.options, None, None, given)

    monkeypatch.setattr(report, "write", check_only)
    code, output = run(["report", str(graded), "--scale=0:100", *words.split()])
    assert code == 0, output


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("report --true-rate=0.9", "people pass or fail no response"),
        ("report --scale=0:100", "is declared twice"),
        ("report --cut=gpt=50", "people grade"),
        ("report --cut=human=50 --cut=human:AC=1 --cut=human:QR=1 --cut=human:CC=1", "of its own"),
        ("report --kind=anna=human --kind=anna=human", "named twice"),
        ("plan --wanted=bias=4 --judged=100", "only corrected means"),
        ("plan --wanted=bias=4 --n-judges=2", "and none is planned"),
        ("plan --wanted=bias=4 --wanted=bias=3", "bias is named twice"),
        ("judge rank --measure=cohen_kappa", "no two judges can be compared by it"),
    ],
)
def test_an_option_without_effect_is_an_error_with_its_reason(
    words: str, why: str, graded: Path, tmp_path: Path
) -> None:
    name, *rest = words.split(" -")
    options = [f"-{option}" for option in rest]
    code, output = run([*name.split(), str(graded), "--scale=0:100", *options])
    assert code == 2, output
    assert why in " ".join(output.split())


@pytest.mark.parametrize("words", ["--construct=AC", "--scorer=gpt", "--kind=a=human",
                                   "--scale=AC=0:1", "--judge=gpt"])  # fmt: skip
def test_options_of_a_pilot_need_one(words: str, tmp_path: Path) -> None:
    code, output = run(["plan", "--runs=2", words])
    assert code == 2, output
    assert words.partition("=")[0] in output
    assert "there is no pilot" in output


def test_a_baseline_needs_a_threshold_that_compares(graded: Path, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text('{"estimates": []}')
    words = ["--require=rank_systems=yes", f"--baseline={tmp_path / 'report.json'}"]
    code, output = run(["check", str(graded), "--scale=0:100", *words])
    assert code == 2
    assert "no threshold has allowed_drop or allowed_rise" in " ".join(output.split())


def test_every_option_without_effect_is_listed(verdicts: Path, tmp_path: Path) -> None:
    words = ["--bias-margin=3", "--target-width=2"]
    code, output = run(["report", str(verdicts), *words])
    assert code == 2
    assert "--bias-margin 3 has no effect" in output
    assert "--target-width 2 has no effect" in output


@pytest.mark.parametrize("scale", [(), ("--scale=gpt:works=1:5:1",)])
def test_a_judge_that_grades_is_cut_where_people_pass_or_fail(
    scale: tuple[str, ...], verdicts: Path, tmp_path: Path
) -> None:
    import json

    words = ["--cut=gpt=4", "--no-verify", "--resamples=100", f"--out={tmp_path / 'report'}"]
    code, output = run(["report", str(verdicts), *scale, *words])
    assert code == 0, output
    records = json.loads((tmp_path / "report" / "report.json").read_text())["estimates"]
    rates = {r["statistic"]: r for r in records if r["statistic"].startswith("true_")}
    table = pd.read_csv(verdicts).pivot_table(index="response_id", columns="scorer", values="value")
    passed = table["gpt"] >= 4
    assert rates["true_positive_rate"]["value"] == passed[table["anna"] == 1].mean()
    assert rates["true_negative_rate"]["value"] == (~passed)[table["anna"] == 0].mean()
    assert rates["true_positive_rate"]["params"]["cut"] == 4


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Preferences of two people and a judge, without scores."""
    table = [
        {
            "query_id": f"q{n}", "response_a": f"r{n}a", "response_b": f"r{n}b", "construct": "AC",
            "scorer": scorer, "scorer_kind": kind, "value": (n * 7 + place) % 5 - 2,
        }
        for n in range(12)
        for place, (scorer, kind) in enumerate((("anna", "human"), ("ben", "human"),
                                                ("gpt", "judge")))
    ]  # fmt: skip
    return written(tmp_path_factory.mktemp("compared") / "compared.csv", table)


@pytest.mark.parametrize(
    "words",
    [
        "--reference=adjudicated", "--ac-lambda=0.5", "--second-metrics=gpt", "--published",
        "--bias-margin=3", "--alt-test-epsilon=0.1", "--true-rate=0.7", "--overall=AC",
        "--without-unopened", "--target-width=4", "--cut=human=1", "--cut=gpt:AC=1",
        "--layout=single", "--map=gpt=linear", "--same-judge=gpt,anna", "--scale=0:1",
    ],
)  # fmt: skip
def test_options_on_scores_are_refused_for_preferences(words: str, compared: Path) -> None:
    option = words.split("=", maxsplit=1)[0]
    code, output = run(["report", str(compared), "--no-verify", words])
    assert code == 2, output
    assert option in output


def test_the_options_of_preferences_are_accepted(compared: Path) -> None:
    code, output = run(["report", str(compared), "--no-verify", "--preference-scale=-2:2",
                        "--resamples=100", "--seed=3", "--level=0.9"])  # fmt: skip
    assert code == 0, output


@pytest.mark.parametrize("option", ["--scale=0:1", "--kind=a=human", "--query=question"])
def test_doctor_has_no_use_for_options_on_scores_where_there_are_none(
    option: str, tmp_path: Path
) -> None:
    path = tmp_path / "responses.jsonl"
    path.write_text(
        '{"query_id": "q1", "question": "A?", "response_id": "r1", "response": "B.", '
        '"passages": ["C."]}\n'
    )
    code, output = run(["doctor", str(path), option])
    assert code == 2, output
    assert "no effect" in output
