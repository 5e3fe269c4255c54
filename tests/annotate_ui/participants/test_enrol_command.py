"""`ccrs enrol`: a link shown once, what it is for, and what comes next."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from annotate_ui.cli.enrol import enrol as command
from annotate_ui.cli.invite import invite as invite_command
from annotate_ui.participants.invitation import invite
from study import Study, StudyError
from study.cli.root import cli
from study.facts.departures import departures
from tests.annotate_ui.participants.enrolled_raters import opened
from tests.annotate_ui.rated_campaign import fill, give


def run(study: Study, *words: str) -> Result:
    result = CliRunner().invoke(command, [str(study.folder), *words])
    if isinstance(result.exception, StudyError):
        raise result.exception
    return result


def test_the_link_is_printed_with_what_it_is_for(study: Study) -> None:
    fill(study, queries=1, systems=2)
    give(study, None)
    result = run(study, "spring", "--quota", "30", "--queries", "12", "--languages", "de, en")
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[0].startswith("http://127.0.0.1:8350/enrol/")
    assert lines[1] == "spring: 30 people may join; at most 12 queries each; de, en."
    assert "not shown again" in lines[2]
    assert "Warning: This link opens on this computer only" in lines[3]
    assert lines[-1] == f"Next: ccrs serve {study.folder}"


def test_the_form_of_ids_is_shown_and_listed(study: Study) -> None:
    result = run(study, "spring", "--quota", "30", "--require-id", "prolific")
    assert "spring: 30 people may join" in result.output
    assert "; all languages; with an id like [0-9a-f]{24}." in result.output
    assert "[0-9a-f]{24}" in run(study, "--list").output
    assert json.loads(run(study, "--list", "--json").output)[0]["id_form"] == "[0-9a-f]{24}"
    with pytest.raises(StudyError, match="not a regular expression"):
        run(study, "autumn", "--quota", "3", "--require-id", "(")


def test_without_open_slots_the_command_warns(study: Study) -> None:
    named = opened(study, 'base_url = "https://rate.example.org"')
    result = run(named, "spring", "--quota", "1")
    assert "spring: 1 person may join; queries without a limit; all languages." in result.output
    assert "Warning: There are no open slots for this link" in result.output
    assert "this computer" not in result.output
    assert result.output.splitlines()[-1] == f"Next: ccrs assign {named.folder} --open"
    named.close()


def test_slots_that_are_all_taken_are_added_to_by_a_command_that_works(study: Study) -> None:
    fill(study, queries=2, systems=2)
    for code in ("anna", "ben"):
        give(study, code)
    nothing = CliRunner().invoke(cli, ["assign", str(study.folder), "--open", "--per-item", "2"])
    shown = " ".join(nothing.output.split())
    more = f"ccrs assign {study.folder} --open --per-item 3"
    assert "Nothing to assign" in shown
    assert more in shown
    assert "Next:" not in shown
    made = run(study, "spring", "--quota", "1").output.splitlines()
    assert made[-1] == f"Next: {more}"
    watched = json.loads(CliRunner().invoke(cli, ["watch", str(study.folder), "--json"]).output)
    (item,) = (item for item in watched["action_items"] if item["code"] == "no_open_slots")
    assert (item["subject"], item["command"]) == ("spring", more)
    done = CliRunner().invoke(cli, more.split()[1:])
    assert "Stored 4 open slots." in done.output
    again = CliRunner().invoke(cli, ["watch", str(study.folder)])
    assert "no open slots" not in again.output


def test_json_contains_the_content_of_the_lines(study: Study) -> None:
    made = json.loads(run(study, "spring", "--quota", "3", "--json").output)
    assert made["quota"] == 3
    assert made["link"].startswith("http://127.0.0.1:8350/enrol/")
    assert len(made["warnings"]) == 2
    again = json.loads(run(study, "--renew", "spring", "--json").output)
    assert again["link"] != made["link"]
    assert json.loads(run(study, "--close", "spring", "--json").output)["closed"]
    (listed,) = json.loads(run(study, "--list", "--json").output)
    assert (listed["name"], listed["joined"], listed["open"]) == ("spring", 0, False)
    assert "token" not in json.dumps(listed)


def test_a_date_is_included_and_a_moment_is_in_utc(study: Study) -> None:
    made = run(study, "day", "--quota", "3", "--until", "2999-06-30").output
    assert "3 people may join until 2999-07-01 00:00 UTC;" in made
    renewed = json.loads(
        run(study, "--renew", "day", "--until", "2999-06-30T18:00", "--json").output
    )
    assert renewed["name"] == "day"
    (listed,) = json.loads(run(study, "--list", "--json").output)
    assert listed["ends"] == "2999-06-30T18:00:00+00:00"
    assert "open until" in run(study, "--list").output
    with pytest.raises(StudyError, match="which is past"):
        run(study, "past", "--quota", "3", "--until", "2001-01-01")


def test_the_list_fits_a_terminal(study: Study) -> None:
    assert "no enrolment link yet" in run(study, "--list").output
    run(study, "spring", "--quota", "3")
    shown = run(study, "--list").output
    assert "spring" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert "is closed" in run(study, "--close", "spring").output
    assert "closed already" in run(study, "--close", "spring").output


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["spring"],
        ["--quota", "3"],
        ["spring", "--quota", "0"],
        ["spring", "--quota", "3", "--list"],
        ["--close", "spring", "--queries", "3"],
        ["--close", "spring", "--until", "2999-01-01"],
        ["spring", "--quota", "3", "--until", "tomorrow"],
    ],
    ids=["nothing", "no-quota", "no-name", "none", "both", "bound", "end", "no-date"],
)
def test_contradictory_options_are_refused(study: Study, words: list[str]) -> None:
    assert run(study, *words).exit_code == 2


def test_a_rater_is_removed_and_readmitted_by_command(study: Study, tmp_path: Path) -> None:
    fill(study, queries=1, systems=2)
    anna = give(study, "anna")
    invite(study)

    def invited(*words: str) -> str:
        result = CliRunner().invoke(invite_command, [str(study.folder), *words])
        if result.exception is not None:
            raise result.exception
        return result.output

    with pytest.raises(StudyError, match="Did you mean 'anna'"):
        invited("--remove", "anna", "--remove", "ana")
    with study.read() as connection:
        assert departures(connection) == {}
    assert "anna: removed; finished work stays, 2 unfinished assignments were released." in invited(
        "--remove", "anna"
    )
    with study.read() as connection:
        assert departures(connection) == {anna: "removed"}
    assert "has left already" in invited("--remove", "anna")
    assert f"Next: ccrs invite {study.folder} anna" in invited("--readmit", "anna")
    assert json.loads(invited("anna", "--json"))["links"][0]["assignments"] == 2
