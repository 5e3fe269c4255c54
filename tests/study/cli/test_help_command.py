"""`ccrs help`: pages of the documentation from the installed files."""

import pytest
from click.testing import CliRunner

from study.cli.help_command import MADE, topics
from study.cli.root import cli


def shown(*words: str) -> str:
    result = CliRunner().invoke(cli, ["help", *words])
    assert result.exit_code == 0, result.output
    return result.output


def test_without_a_topic_all_pages_are_listed_with_their_titles() -> None:
    lines = shown().splitlines()
    titles = dict(line.split(maxsplit=1) for line in lines if line.startswith("  "))
    assert titles["csv"] == "I have a CSV file"
    assert titles["label-studio"] == "Rating in Label Studio"
    assert titles["settings"] == "Settings"
    assert all(len(line) <= 80 for line in lines)


@pytest.mark.parametrize("topic", sorted([*topics(), *MADE]))
def test_every_page_begins_with_its_title(topic: str) -> None:
    assert shown(topic).startswith("# ")


def test_the_settings_are_listed_as_they_are_declared() -> None:
    assert "| `design.per_item` | raters for each response |" in shown("settings")


def test_the_figures_of_a_report_are_listed_as_they_are_declared() -> None:
    assert "| `krippendorff_alpha` | Alpha |" in shown("report-ids")


def test_a_command_is_a_topic_too() -> None:
    assert shown("report").startswith("Usage: ccrs report")


def test_an_unknown_topic_names_the_nearest_one() -> None:
    result = CliRunner().invoke(cli, ["help", "campagn"])
    assert result.exit_code == 2
    assert "Did you mean 'campaign'?" in result.output
    assert "`ccrs help` lists the pages" in result.output


def test_every_topic_is_a_word() -> None:
    assert all(topic[0].isalpha() for topic in topics())
