import re
from pathlib import Path

import pytest

from study.base.scales import Scale
from study.cli.help_command import MADE, topics
from study.errors import StudyError
from study.settings.study_toml import StudyConfig, parse_config
from study.settings.template import study_toml


def test_the_five_constructs_of_ccrs_are_the_default() -> None:
    config = parse_config("")
    assert [c.key for c in config.constructs] == ["QR", "CC", "ID", "AC", "IR"]
    assert all((c.scale.min, c.scale.max) == (0, 100) for c in config.constructs)


def test_a_construct_sees_what_its_prompt_shows_the_judge() -> None:
    # arXiv 2506.20128, Appendix B: the fields in each prompt.
    sees = {c.key: set(c.sees) for c in parse_config("").constructs}
    assert sees == {
        "QR": {"question", "response"},
        "CC": {"response", "context"},
        "ID": {"question", "response", "context"},
        "AC": {"response", "context", "reference"},
        "IR": {"response", "context", "reference"},
    }


def test_the_template_has_a_dozen_lines_and_changes_no_default() -> None:
    text = study_toml(Path('a "quoted" näme'))
    assert parse_config(text) == StudyConfig(name='a "quoted" näme')
    active = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert 10 <= len(active) <= 12
    assert not re.search(r"^# *\w+ = ", text, re.M), "a setting is commented out"
    assert "`ccrs help settings`" in text


@pytest.mark.parametrize("topic", re.findall(r"`ccrs help (\S+)`", study_toml(Path("x"))))
def test_the_template_names_pages_that_exist(topic: str) -> None:
    assert topic in [*topics(), *MADE]


def test_an_unknown_setting_is_refused_with_the_nearest_known_one() -> None:
    with pytest.raises(StudyError, match=r"sede: unknown setting\. Did you mean 'seed'\?"):
        parse_config("sede = 3")
    with pytest.raises(StudyError, match=r"analysis\.resample: .*'resamples'"):
        parse_config("[analysis]\nresample = 3")
    with pytest.raises(StudyError, match=r"constructs\.0\.anchor: .*'anchors'"):
        parse_config('[[constructs]]\nkey="A"\nname="A"\nquestion="?"\nanchor={}')


def test_every_fault_is_listed() -> None:
    with pytest.raises(StudyError) as caught:
        parse_config("seed = -1\n[analysis]\nlevel = 2\n")
    assert "seed = -1" in str(caught.value)
    assert "analysis.level = 2" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("seed = ", "not valid TOML"),
        ('database = "sub/study.db"', "without a folder"),
        ('database = "mysql://x/y"', "not supported"),
        ('database = "postgresql+psycopg://me:secret@host/db"', "contains a password"),
        ("constructs = []", "define at least one"),
        (
            '[[constructs]]\nkey="A"\nname="A"\nquestion="?"\n'
            '[[constructs]]\nkey="A"\nname="B"\nquestion="?"',
            "A is defined more than once",
        ),
        (
            '[[constructs]]\nkey="A"\nname="A"\nquestion="?"\nscale={min=5,max=1}',
            "min 5 must be below max 1",
        ),
        (
            '[[constructs]]\nkey="A"\nname="A"\nquestion="?"\nanchors={"500"="x"}',
            "500 is outside the scale 0 to 100",
        ),
        ('[analysis]\nmap = { j = "log" }', "analysis.map.j = 'log'"),
        ('[analysis]\nmap = { j = "linear" }', r"'j' has no scale .* \[scorers.\"j\"\]"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(text: str, problem: str) -> None:
    with pytest.raises(StudyError, match=problem):
        parse_config(text)


def test_the_password_of_an_address_is_not_repeated() -> None:
    with pytest.raises(StudyError) as caught:
        parse_config('database = "postgresql+psycopg://me:hunter2@host/db"')
    assert "hunter2" not in str(caught.value)


def test_a_scorer_may_have_its_own_scale() -> None:
    config = parse_config('[scorers.BEM]\nkind="metric"\nscale={min=0,max=1}')
    assert config.scale("AC", "BEM") == Scale(min=0, max=1)
    assert config.scale("AC", "another") == Scale()
    assert config.scale("unknown", "BEM") is None


def test_a_note_on_a_scorer_is_one_paragraph() -> None:
    config = parse_config('[scorers."tiny:1b"]\nnote = """A random model:\n  it means  nothing."""')
    assert config.scorers["tiny:1b"].note == "A random model: it means nothing."
    assert parse_config("[scorers.x]").scorers["x"].note is None


@pytest.mark.parametrize(
    ("note", "problem"),
    [
        ('" "', "is blank"),
        ('"\\u001b[2J"', "control character"),
        ("7", "it must be a text in quotes"),
    ],
)
def test_a_note_that_no_report_can_show(note: str, problem: str) -> None:
    with pytest.raises(StudyError, match=problem):
        parse_config(f"[scorers.x]\nnote = {note}")


def test_an_unknown_setting_of_a_scorer_names_the_nearest() -> None:
    with pytest.raises(StudyError, match=r"scorers\.x\.notes: unknown.*'note'"):
        parse_config('[scorers.x]\nnotes = "a"')


@pytest.mark.parametrize("value", [-0.001, 100.001, float("nan"), float("inf")])
def test_the_range_check_refuses(value: float) -> None:
    assert Scale().problem(value)


@pytest.mark.parametrize("value", [0.0, 100.0, 66.67])
def test_the_range_check_takes_values_between_the_steps(value: float) -> None:
    assert Scale(step=5).problem(value) is None


@pytest.mark.parametrize(
    "name", ["", ".", "..", "study.toml", "a?mode=ro", "a#b", "a%b", "a\\u0000b"]
)
def test_a_database_is_a_plain_file_name(name: str) -> None:
    with pytest.raises(StudyError, match="name a file"):
        parse_config(f'database = "{name}"')
