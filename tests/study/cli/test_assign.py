"""`ccrs assign` in a terminal, in a pipe and for programs."""

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from study import Study
from study.cli import assignment_commands as module
from study.cli.root import cli
from study.errors import StudyError
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, ResponseRow, ScoreRow
from tests.study.assignment.test_planner import fill, rows


def run(study: Study, *words: str, answer: str | None = None) -> Result:
    return CliRunner().invoke(cli, ["assign", str(study.folder), *words], input=answer)


def refusal(result: Result) -> str:
    """Return the message of what the root command exits 2 for."""
    if isinstance(result.exception, StudyError):
        return str(result.exception)
    assert result.exit_code == 2
    return " ".join(result.output.split())


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_at_a_terminal", lambda: True)


def test_a_plan_is_previewed_stored_and_followed_by_the_next_command(study: Study) -> None:
    fill(study, 4)
    preview = run(study, "--raters", "3", "--per-item", "2", "--dry-run")
    assert "8 responses to 4 queries, 2 raters each: 16 assignments" in preview.output
    assert "hours of reading" in preview.output
    assert "reading alone" in preview.output
    assert "Nothing was stored" in preview.output
    assert "Next:" not in preview.output
    assert rows(study) == []
    done = run(study, "--raters", "anna, ben", "--per-item", "2")
    assert "Stored 16 assignments." in done.output
    assert f"Next: ccrs invite {study.folder}\n" in done.output
    again = run(study, "--per-item", "2")
    assert "Nothing to assign: 8 responses have 2 raters each." in again.output
    assert [preview.exit_code, done.exit_code, again.exit_code] == [0, 0, 0]


def test_a_new_response_is_told_from_what_is_assigned_already(study: Study) -> None:
    fill(study, 2, systems=1)
    run(study, "--raters", "anna", "--per-item", "1")
    fill(study, 1, systems=2)
    output = run(study, "--per-item", "1").output
    assert "1 response to 1 query, 1 rater each: 1 assignment\n" in output
    assert "Assigned already, with 1 rater each: 2 responses." in output
    assert "Stored 1 assignment." in output


def test_lines_fit_80_columns_whatever_raters_are_called(study: Study) -> None:
    fill(study, 3, passages=())
    codes = ",".join([f"{'long-code-' * 12}{n}" for n in range(3)] + ["[red]ben[/red]"])
    result = run(study, "--raters", codes, "--per-item", "1")
    shown = [line for line in result.output.splitlines() if not line.startswith("Next:")]
    assert max(map(len, shown)) <= 80
    assert "[red]ben[/red]" in result.output
    assert "\x1b" not in result.output


@pytest.mark.usefixtures("terminal")
def test_in_a_terminal_it_asks_before_it_stores(study: Study) -> None:
    fill(study, 2)
    words = ("--raters", "2", "--per-item", "1")
    no = run(study, *words, answer="n\n")
    assert "Store this?" in no.output
    assert "Nothing was stored." in no.output
    assert "Next:" not in no.output
    assert (no.exit_code, rows(study)) == (0, [])
    yes = run(study, *words, answer="y\n")
    assert yes.output.count("hours of reading") == 1
    assert "Stored 4 assignments." in yes.output
    assert "Store this?" not in run(study, *words).output


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("option", ["--yes", "--json", "--dry-run"])
def test_assign_does_not_ask_when_told_so(study: Study, option: str) -> None:
    fill(study, 2)
    result = run(study, "--raters", "2", "--per-item", "1", option)
    assert "Store this?" not in result.output
    assert len(rows(study)) == (0 if option == "--dry-run" else 4)


def test_json_has_the_figures_of_the_function(study: Study) -> None:
    fill(study, 4)
    output = json.loads(run(study, "--raters", "2", "--per-item", "2", "--json").output)
    assert (output["stored"], output["assignments"], output["connected"]) == (True, 16, True)
    assert [load["rater"] for load in output["raters"]] == ["rater-1", "rater-2"]
    assert {load["queries"] for load in output["raters"]} == {4}


def test_open_slots_lead_to_links_for_new_raters(study: Study) -> None:
    fill(study, 3)
    result = run(study, "--open", "--per-item", "2")
    assert "6 responses to 3 queries, 2 raters each: 12 open slots" in result.output
    assert "Reading everything once takes <0.1 hours" in result.output
    assert "Stored 12 open slots." in result.output
    assert f"Next: ccrs invite {study.folder} --new " in result.output


def test_raters_without_a_link_are_said(study: Study) -> None:
    fill(study, 4)
    result = run(study, "--raters", "2", "--per-item", "1")
    assert "severities can't be compared" in " ".join(result.output.split())


def test_what_is_left_out_is_said_with_its_reason(study: Study) -> None:
    fill(study, 2, references=())
    output = " ".join(run(study, "--raters", "2", "--per-item", "1").output.split())
    assert "Not rated on AC: 4 responses, since the query has no reference answer." in output
    row = ResponseRow(query_id="q9", query="?", system="s", response="r")
    import_rows(study, [LocatedRow(1, row)], source="t", sha256="9", importer="responses")
    output = " ".join(run(study, "--constructs", "CC,ID", "--per-item", "1").output.split())
    assert "Not assigned, since no construct can be rated: 1 response (" in output


def test_the_sample_the_hours_by_purpose_and_what_is_left_over_are_shown(study: Study) -> None:
    for domain, count in (("law", 12), ("[red]medicine[/red]", 6)):
        fill(
            study,
            count,
            query_id_of=domain,
            response_of_six=True,
            attributes={"domain": domain, "language": "de" if domain == "law" else "fr"},
        )
    (study.folder / "study.toml").write_text('[raters."anna"]\nlanguages = ["de"]\n')
    words = ("--sample", "9", "--strata", "domain", "--calibration", "1", "--checks", "1")
    output = run(study, "--raters", "anna", "--per-item", "1", "--repeats", "0.5", *words).output
    lines = output.splitlines()
    assert lines[0] == "Sample: 9 of 18 queries"
    assert "domain=law" in output
    assert "domain=[red]medicine[/red]" in output
    assert sum(line.endswith("0.500") for line in lines) == 2
    assert "12 responses to 6 queries, 1 rater each: 12 assignments" in lines
    assert "Further assignments: 2 for calibration, 2 for checks, 6 for repeats." in lines
    assert next(line for line in lines if "repeats" in line and "rater" in line).split() == [
        "rater", "calibration", "main", "checks", "repeats",
    ]  # fmt: skip
    joined = " ".join(output.split())
    assert "Left over, since too few raters read fr: 6 responses to 3 queries" in joined
    assert "more rater hours" in joined
    assert "Stored 22 assignments." in output
    assert max(map(len, lines[:-1])) <= 80


def test_settings_of_the_design_count_and_options_go_before_them(study: Study) -> None:
    fill(study, 10)
    (study.folder / "study.toml").write_text("[design]\nper_item = 2\nsample = 5\n")
    words = ("--raters", "3", "--dry-run", "--json")
    assert json.loads(run(study, *words).output)["assignments"] == 5 * 2 * 2
    assert json.loads(run(study, *words, "--sample", "3").output)["assignments"] == 3 * 2 * 2
    output = run(study, "--raters", "3", "--overlap", "0.4").output
    assert "10 responses to 5 queries: 14 assignments" in output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--raters", "anna", "--per-item", "2"], "Name more raters, or lower --per-item"),
        (["--raters", "anna,,ben"], "Rater code ''"),
        (["--raters", "0"], "give 1 to 1000"),
        (["--raters", "9" * 5000], "give 1 to 1000"),
        (["--raters", "3", "--constructs", "QR,AB"], "'AB' is not a construct"),
        (["--raters", "3", "--constructs", "cc"], "Did you mean 'CC'?"),
        (["--open", "--raters", "3"], "leave --raters out"),
        (["--channel", "label_studio", "--raters", "3"], "label_studio' requires open slots"),
        (["--per-item", "0"], "--per-item"),
        ([], "has no raters yet"),
    ],
)
def test_what_cannot_be_done_is_refused_with_a_remedy(
    study: Study, words: list[Any], message: str
) -> None:
    fill(study, 2)
    result = run(study, *words)
    assert message in refusal(result)
    assert rows(study) == []


def test_without_responses_the_command_that_brings_them_is_named(study: Study) -> None:
    assert "ccrs import" in refusal(run(study, "--raters", "3"))


def test_a_setting_that_is_true_can_be_turned_off(study: Study) -> None:
    fill(study, 2, systems=1)
    toml = study.folder / "study.toml"
    text = toml.read_text(encoding="utf-8")
    toml.write_text(f"{text}\n[design]\none_construct_a_pass = true\n", encoding="utf-8")
    # Each construct in a pass of its own, or all five together.
    for words, number in (([], 10), (["--no-one-construct-a-pass"], 2)):
        output = run(study, "--raters", "anna", "--per-item", "1", "--dry-run", *words).output
        assert f": {number} assignments" in output


def imported_values(study: Study, *scorers: str) -> None:
    """Import a value of each scorer on QR of the first query's responses."""
    values = [
        LocatedRow(
            number,
            ScoreRow(
                query_id="q0",
                system=system,
                construct_key="QR",
                scorer=scorer,
                scorer_kind="human",
                value=50,
            ),
        )
        for number, (scorer, system) in enumerate(
            (scorer, system) for scorer in scorers for system in ("s0", "s1")
        )
    ]
    import_rows(study, values, source="t", sha256="imported", importer="scores")


def test_imported_values_are_not_replaced_without_a_word(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(study, 2)
    imported_values(study, "anna", "cara")
    words = ("--raters", "anna,ben", "--per-item", "2")
    preview = " ".join(run(study, *words, "--dry-run").output.split())
    assert "replace imported ones of the same raters in all tables: 2 of anna." in preview
    for format_ in ((), ("--json",)):
        assert "2 of anna" in refusal(run(study, *words, *format_))
    assert rows(study) == []
    monkeypatch.setattr(module, "_at_a_terminal", lambda: True)
    assert "Nothing was stored." in run(study, *words, answer="n\n").output
    assert rows(study) == []
    other = run(study, *words, "--constructs", "CC", "--json")
    assert json.loads(other.output)["replaces_imported"] == {}
    assert "Stored 8 assignments." in run(study, *words, answer="y\n").output


@pytest.mark.parametrize(
    ("words", "whom"),
    [
        (("--raters", "anna,ben"), "given to raters who state no languages (anna, ben)."),
        (("--open",), "open to all raters."),
    ],
    ids=["raters", "open-slots"],
)
def test_queries_in_another_script_are_named(
    study: Study, words: tuple[str, ...], whom: str
) -> None:
    fill(study, 3)
    assert "script" not in run(study, *words, "--per-item", "2", "--dry-run").output
    for number in range(2):
        fill(
            study,
            1,
            query_id=f"a{number}",
            query="\u0643\u064a\u0641 \u062a\u0639\u0645\u0644 CCRS?",
        )
    shown = " ".join(run(study, *words, "--per-item", "2", "--dry-run").output.split())
    assert "Queries in several scripts (3 Latin, 2 Arabic)" in shown
    assert whom in shown
    (study.folder / "study.toml").write_text(
        "".join(f'[raters.{code}]\nlanguages = ["en", "ar"]\n' for code in ("anna", "ben"))
    )
    stated = run(study, *words, "--per-item", "2", "--dry-run").output
    assert ("script" in stated) == (words[0] == "--open")
