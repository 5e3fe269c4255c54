"""The pages of the documentation site that are made from the repository."""

import re

import pytest

from study._manual.made_pages import READMES, ROOT, commands, settings, with_site_links
from study.settings import settings_of
from tests.test_docs import COMMANDS, SECTIONS


def test_every_setting_is_listed_with_its_meaning() -> None:
    rows = [line for line in settings().splitlines() if line.startswith("| `")]
    assert [row for row in rows if re.match(r"\| `[^`]+` \|\s*\|", row)] == []
    listed = {match[1] for row in rows if (match := re.match(r"\| `([^`]+)`", row))}
    sections = {name.rpartition(".")[0].removesuffix(".NAME") for name in listed}
    for prefix, model in SECTIONS.items():
        start = re.sub(r'"[A-Z]+"', "NAME", prefix)
        if start != "scale.":
            names = {start + name for name in settings_of(model)}
            assert names <= listed | sections | {f"{name}.NAME" for name in sections}, start


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        ("analysis.level", "number, > 0.5, < 1 | `0.95` |"),
        ("design.strata", "list of text | none |"),
        ("rating.disclosure", "`staged`, `all` | `staged` |"),
        ("constructs.key", "text | required |"),
        ("seed", "whole number, ≥ 0 | `0` |"),
    ],
)
def test_values_and_defaults_are_those_of_the_code(row: str, cells: str) -> None:
    (line,) = [line for line in settings().splitlines() if line.startswith(f"| `{row}` |")][:1]
    assert line.endswith(f"| {cells}")


def test_every_command_is_listed() -> None:
    text = commands()
    assert [name for name in COMMANDS if f"### `ccrs {name}`" not in text] == []


@pytest.mark.parametrize("file", READMES)
def test_links_of_a_readme_lead_to_pages_of_the_site(file: str) -> None:
    for text, target in re.findall(r"\[([^\]]+)\]\(([^)\s]+)\)", with_site_links(file)):
        path = target.partition("#")[0]
        known = {f"{page}.md" for page in READMES.values()}
        manual = (ROOT / "data/manual/made" / path).resolve()
        assert re.match(r"[a-z]+:|#", target) or path in known or manual.exists(), (text, target)
