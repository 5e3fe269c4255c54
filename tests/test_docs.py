"""The documentation is complete: a command, setting, column or report id without a word fails."""

import re
import shlex
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import click
import pytest
from pydantic import BaseModel

from judge.engines.engine import registered_settings
from judge.protocol.exchange import REASONS
from judge.running.items import EMPTY_RESPONSE
from study._manual.made_pages import WRITTEN, commands, settings
from study.base.analysis_settings import AnalysisSettings
from study.base.hypotheses import Hypothesis
from study.base.published_figures import PublishedFigures
from study.base.scales import Scale
from study.cli.root import GROUP, cli
from study.columns import PREFERENCE_COLUMNS, SCORE_COLUMNS
from study.importing.rows import PreferenceRow, ResponseRow, ScoreRow
from study.settings import settings_of
from study.settings.campaign import CampaignSpec, LinkSpec
from study.settings.constructs import ConstructSpec
from study.settings.design import DesignSpec
from study.settings.rating import LabelStudioSpec, RaterSpec, RatingSpec
from study.settings.report import (
    CheckSpec,
    StoppingSpec,
)
from study.settings.scorer_sections import (
    CompositeSpec,
    JurySpec,
    MetricSpec,
    PreferenceSpec,
    ScorerSpec,
    SystemSpec,
)
from study.settings.study_toml import StudyConfig

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
MANUAL = {page.stem: page.read_text(encoding="utf-8") for page in WRITTEN}
MADE_COMMANDS, MADE_SETTINGS = commands(), settings()


PACKAGES = [
    page.read_text(encoding="utf-8")
    for package in ("study", "judge", "annotate_ui", "analysis")
    for page in sorted((ROOT / package).rglob("README.md"))
]
PAGES = [README, *MANUAL.values(), *PACKAGES]


def _commands() -> dict[str, click.Command]:
    """Return every command by its words: "judge" and "judge show"."""
    return {
        name: command
        for entry in entry_points(group=GROUP)
        for name, command in _with_subcommands(entry.name, entry.load())
    }


def _with_subcommands(words: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield words, command
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield from _with_subcommands(f"{words} {name}", inner)


COMMANDS = _commands()


def section(text: str, heading: str) -> str:
    """Return the part of a Markdown text under a heading, up to the next of its rank or above."""
    rank, title = heading.split(" ", 1)
    match = re.search(
        rf"^{rank} {re.escape(title)}$(.*?)(?=^#{{1,{len(rank)}}} |\Z)", text, re.M | re.S
    )
    assert match, f"no heading {heading!r}"
    return match.group(1)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_is_documented_with_its_options_and_examples(name: str) -> None:
    command = COMMANDS[name]
    documented = section(MADE_COMMANDS, f"### `ccrs {name}`")
    assert any(f"ccrs {name}" in text for text in MANUAL.values()), "named on a written page"
    assert f"ccrs {name}" in (command.help or ""), "--help holds an example"
    for parameter in command.get_params(click.Context(command)):
        if isinstance(parameter, click.Option) and "--json" not in parameter.opts:
            assert parameter.help, f"{parameter.opts} has no help"
            assert max(parameter.opts, key=len) in documented, parameter.opts


def test_every_setting_of_an_engine_is_documented_and_an_option() -> None:
    command = COMMANDS["judge run"]
    options = {parameter.name for parameter in command.get_params(click.Context(command))}
    models = registered_settings()
    assert set(models) == {"files", "openai", "ray", "vllm"}
    shared = section(MADE_SETTINGS, "## `ccrs judge run`, every engine")
    for engine, model in models.items():
        rows = (shared + section(MADE_SETTINGS, f"## `--engine {engine}`")).splitlines()
        for name, field in model.options().items():
            assert name in options, f"{engine}: {name}"
            lines = [row for row in rows if row.startswith(f"| `{name}`")]
            assert lines, f"{engine}: {name}"
            if isinstance(field.default, int | float) and not isinstance(field.default, bool):
                assert any(f"`{field.default:g}`" in line for line in lines), f"{engine}: {name}"


def test_every_reason_and_rule_of_a_judgment_is_documented() -> None:
    rows = MANUAL["answers"].partition("## Probabilities of scores")[0] + MANUAL["prompts"]
    for word in (*REASONS, "bare", "decorated", "labelled", "json", "first_line", EMPTY_RESPONSE):
        assert f"`{word}`" in rows, word


SECTIONS: dict[str, type[Any]] = {
    "": StudyConfig,
    "constructs.": ConstructSpec,
    'scorers."NAME".': ScorerSpec,
    'metrics."NAME".': MetricSpec,
    'juries."NAME".': JurySpec,
    'composites."NAME".': CompositeSpec,
    'systems."NAME".': SystemSpec,
    "preferences.": PreferenceSpec,
    "design.": DesignSpec,
    'raters."CODE".': RaterSpec,
    "rating.": RatingSpec,
    "label_studio.": LabelStudioSpec,
    "stopping.": StoppingSpec,
    "analysis.": AnalysisSettings,
    "hypotheses.": Hypothesis,
    "published.": PublishedFigures,
    "check.": CheckSpec,
    "scale.": Scale,
    "campaign.": CampaignSpec,
    'campaign.links."NAME".': LinkSpec,
}


@pytest.mark.parametrize("prefix", SECTIONS)
def test_every_setting_is_documented(prefix: str) -> None:
    rows = section(MADE_SETTINGS, "## study.toml") + section(
        MADE_SETTINGS, "## `ccrs init --campaign`"
    )
    listed = {"scale.": "constructs.scale."}.get(prefix, re.sub(r'"[A-Z]+"', "NAME", prefix))
    containers = {
        "scorers",
        "systems",
        "juries",
        "metrics",
        "composites",
        "preferences",
        "design",
        "raters",
        "rating",
        "stopping",
        "analysis",
        "label_studio",
    }
    for name, field in settings_of(SECTIONS[prefix]).items():
        if prefix == "" and name in containers:
            continue
        assert re.search(rf"`{re.escape(listed + name)}[`.]", rows), f"{prefix}{name}"
        if isinstance(field.default, int | float) and not isinstance(field.default, bool):
            line = next(row for row in rows.splitlines() if row.startswith(f"| `{listed}{name}`"))
            assert f"`{field.default}`" in line, f"default of {prefix}{name}"


def test_every_column_of_the_tables_is_documented() -> None:
    rows = section(MANUAL["score_table"], "## The score table")
    for column in [*SCORE_COLUMNS, *PREFERENCE_COLUMNS]:
        assert f"`{column}`" in rows, column


@pytest.mark.parametrize("model", [ResponseRow, ScoreRow, PreferenceRow])
def test_every_column_of_an_import_file_is_documented(model: type[BaseModel]) -> None:
    rows = MANUAL["file_formats"]
    for column, field in model.model_fields.items():
        assert field.exclude or f"`{column.rstrip('_')}`" in rows, column


def commands_shown() -> list[str]:
    shown = []
    for text in PAGES:
        for block in re.findall(r"```(?:sh|console)?\n(.*?)```", text, re.S):
            lines = (line.strip() for line in block.splitlines())
            shown += [line for line in lines if line.startswith("ccrs ")]
    for command in COMMANDS.values():
        lines = (line.strip() for line in (command.help or "").splitlines())
        shown += [line for line in lines if line.startswith("ccrs ")]
    return shown


def resolved(words: list[str]) -> tuple[str, click.Command, list[str]]:
    """Return the command that words mean, with what is left for it."""
    group: click.Group = cli
    while True:
        name, command, words = group.resolve_command(click.Context(group), words)
        assert name is not None
        assert command is not None
        if not isinstance(command, click.Group) or words[:1] == ["--help"]:
            return name, command, words
        if words[0] not in command.commands:
            words = ["run", *words]
        group = command


@pytest.mark.parametrize("line", commands_shown())
def test_every_command_line_shown_is_one_that_parses(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = shlex.split(line, comments=True)[1:]
    name, command, arguments = resolved(words)
    for word in arguments:
        # Files that an example names must exist for options that ask for it.
        if not word.startswith("-") and "=" not in word and "." in word:
            (tmp_path / word).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / word).touch()
        if word.endswith("ragchecker") or word in {"downloads", "corpus"}:
            (tmp_path / word).mkdir(parents=True, exist_ok=True)
    command.make_context(name, list(arguments), parent=click.Context(cli))


def test_every_option_named_beside_its_command_exists() -> None:
    wrong = []
    for text in PAGES:
        for line in re.findall(r"`(ccrs [a-z][^`\n]*?--[^`\n]*)`", text):
            words = re.split(r"[\s=]+", line)[1:]
            name, command, arguments = resolved(words)
            parameters = command.get_params(click.Context(command, info_name=name))
            known = {word for p in parameters for word in (*p.opts, *p.secondary_opts)}
            named = {word.rstrip(".,;)") for word in arguments if word.startswith("--")}
            wrong += [f"{line}: {word}" for word in sorted(named - known)]
    assert wrong == []


def test_every_package_directory_is_installed() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = set(project["tool"]["setuptools"]["packages"]) - {
        *("ccrs_study", "study._example", "study._manual"),
    }
    present = {
        path.parent.relative_to(ROOT).as_posix().replace("/", ".")
        for package in ("study.base", "study", "judge", "annotate_ui", "analysis")
        for path in (ROOT / package).rglob("*.py")
        if "python_api" not in path.parts
    }
    assert listed == present
