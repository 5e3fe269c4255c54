"""Pages of the site that are made from the repository: READMEs, commands, settings, figures."""

import re
from collections.abc import Iterator
from copy import copy
from importlib.metadata import entry_points
from pathlib import Path
from posixpath import normpath
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import click
from pydantic.fields import FieldInfo

from analysis.core.statistic import Statistic
from judge.engines.engine import registered_settings
from study.cli.root import GROUP, SECTIONS
from study.settings import section_of, settings_of
from study.settings.campaign import CampaignFile
from study.settings.study_toml import StudyConfig

ROOT = Path(__file__).resolve().parents[2]

#: READMEs and the like in the order of the site: file in the repository and page.
READMES = {
    "study/README.md": "study",
    "judge/README.md": "judge",
    "annotate_ui/README.md": "annotate_ui",
    "annotate_ui/server/README.md": "server",
    "annotate_ui/label_studio/README.md": "label_studio",
    "analysis/README.md": "analysis",
    "analysis/statistics/README.md": "statistics",
    "analysis/planning/README.md": "planning",
    "analysis/statistics/coverage.md": "coverage",
    "data/deploy/README.md": "deploy",
    "data/example/README.md": "example",
    "CONTRIBUTING.md": "contributing",
    "CHANGELOG.md": "changelog",
}
#: The pages of the manual that are written by hand.
WRITTEN = sorted(
    page for folder in ("", "reference") for page in (Path(__file__).parent / folder).glob("*.md")
)
_PAGES = {path.relative_to(ROOT).as_posix() for path in WRITTEN}
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")


def write_pages(folder: Path) -> None:
    """Write every made page to a folder, and remove those that are no longer made."""
    pages = {page: with_site_links(file) for file, page in READMES.items()}
    pages |= {"commands": commands(), "settings": settings(), "report_ids": report_ids()}
    folder.mkdir(exist_ok=True)
    for path in folder.glob("*.md"):
        if path.stem not in pages:
            path.unlink()
    for name, text in pages.items():
        path = folder / f"{name}.md"
        # A page that did not change keeps its time, so that Sphinx need not read it again.
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def with_site_links(file: str) -> str:
    """The text of a README, whose links to other files lead to their pages of the site.

    A link to a file without a page becomes its text and the file's path in the repository.
    """

    def linked(match: re.Match[str]) -> str:
        text, target = match.groups()
        if re.match(r"[a-z]+:|#", target):
            return match.group(0)
        path, _, anchor = target.partition("#")
        path = normpath((Path(file).parent / path).as_posix())
        anchor = f"#{anchor}" if anchor else ""
        if path in READMES:
            return f"[{text}]({READMES[path]}.md{anchor})"
        if path == "README.md":
            return f"[{text}](../index.md)"
        if path in _PAGES:
            return f"[{text}](../{path.removeprefix('data/manual/')}{anchor})"
        shown = text.strip("`")
        return f"`{path}`" if shown in path else f"{text} (`{path}`)"

    return _LINK.sub(linked, (ROOT / file).read_text(encoding="utf-8"))


def commands() -> str:
    """All commands with their options, as `--help` shows them."""
    entries = {entry.name: entry for entry in entry_points(group=GROUP)}
    lines = ["# Commands", "", "`ccrs COMMAND --help` shows the same in the terminal."]
    for title, names in SECTIONS.items():
        lines += ["", f"## {title}"]
        for name in names:
            for words, command in _with_subcommands(f"ccrs {name}", entries[name].load()):
                lines += ["", f"### `{words}`", "", "```text", _help(words, command), "```"]
    return "\n".join(lines) + "\n"


def _with_subcommands(words: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield words, command
    if isinstance(command, click.Group):
        for name, inner in sorted(command.commands.items()):
            yield from _with_subcommands(f"{words} {name}", inner)


def _help(words: str, command: click.Command) -> str:
    context = click.Context(command, info_name=words, max_content_width=90, terminal_width=90)
    return command.get_help(context).rstrip()


def settings() -> str:
    """All settings of study.toml, and those of the judge by engine."""
    lines = [
        "# Settings",
        "",
        "## study.toml",
        "",
        "What needs more explanation: [a study](../reference/study.md#settings).",
        "",
        *_table(_settings_of(StudyConfig)),
        "",
        "## `ccrs init --campaign`",
        "",
        "The settings of study.toml, and these:",
        "",
        *_table(row for row in _settings_of(CampaignFile) if row[0].startswith("campaign.")),
    ]
    engines = {
        engine: list(_table(iter(model.options().items())))
        for engine, model in sorted(registered_settings().items())
    }
    first, *others = engines.values()
    shared = [row for row in first if all(row in rows for rows in others)]
    lines += ["", "## `ccrs judge run`, every engine", "", *shared]
    for engine, rows in engines.items():
        lines += ["", f"## `--engine {engine}`", ""]
        lines += [*shared[:2], *(row for row in rows if row not in shared)]
    return "\n".join(lines) + "\n"


def _settings_of(
    model: type[Any], prefix: str = "", default: Any = None
) -> Iterator[tuple[str, FieldInfo]]:
    """Every setting below a model by its full name; NAME is chosen in study.toml.

    `default` is the value of the model where it has one, such as the scale of preferences.
    """
    for name, declared in settings_of(model).items():
        field = copy(declared)
        if default is not None:
            field.default, field.default_factory = getattr(default, name), None
        inner = section_of(field.annotation)
        if inner is None or field.description:
            yield prefix + name, field
        if inner is not None:
            named = get_origin(field.annotation) is dict
            value = field.get_default(call_default_factory=True, validated_data={})
            below = f"{prefix}{name}.{'NAME.' if named else ''}"
            yield from _settings_of(inner, below, value if isinstance(value, inner) else None)


def _table(rows: Iterator[tuple[str, FieldInfo]]) -> Iterator[str]:
    yield "| setting | meaning | values | default |"
    yield "|---|---|---|---|"
    for name, field in rows:
        cells = (f"`{name}`", field.description or "", _values(field), _default(field))
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _values(field: FieldInfo) -> str:
    limits = [
        f"{sign} {bound:g}"
        for limit in field.metadata
        for key, sign in (("ge", "≥"), ("gt", ">"), ("le", "≤"), ("lt", "<"))
        # Larger limits are those of the database.
        if isinstance(bound := getattr(limit, key, None), int | float) and abs(bound) < 1e9
    ]
    return ", ".join(filter(None, (_type(field.annotation), *limits)))


def _type(annotation: Any) -> str:
    """The values of a setting in words that fit TOML."""
    inner = [a for a in get_args(annotation) if a not in {type(None), Ellipsis}]
    origin = get_origin(annotation)
    if origin in {Union, UnionType}:
        words = " or ".join(dict.fromkeys(map(_type, inner)))
    elif origin is Literal:
        words = ", ".join(f"`{value}`" for value in inner)
    elif origin in {tuple, list, set, frozenset}:
        words = "tables" if section_of(inner[0]) is not None else f"list of {_type(inner[0])}"
    elif origin is dict or section_of(annotation) is not None:
        words = "table"
    elif inner:
        words = _type(inner[0])  # Annotated
    else:
        names = {str: "text", bool: "true or false", int: "whole number", float: "number"}
        words = names.get(annotation, getattr(annotation, "__name__", "").lower())
    return words


def _default(field: FieldInfo) -> str:
    """The default as study.toml writes it; empty where the meaning states it."""
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True, validated_data={})
    if value is None or section_of(field.annotation) is not None:
        return ""
    if isinstance(value, tuple | list | set | frozenset | dict) and not value:
        return "none"
    if isinstance(value, tuple | list):
        return ", ".join(f"`{one}`" for one in value)
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


_BETTER = {"higher": "higher", "lower": "lower", "0": "near 0", "1": "near 1", "neither": ""}


def report_ids() -> str:
    """All statistics that report.json may have, a table for each section of the report."""
    # What computes a report is loaded for this page alone.
    from analysis.pipeline import sections

    lines = [
        "# Figures of report.json",
        "",
        "`report.json` may have these ids and no others. The name is the one in the headings of "
        "the report's tables. [Conventions](../reference/conventions.md) explain what scopes and "
        '"intervals for" mean.',
    ]
    for section in sections.SECTIONS:
        if section.statistics:
            lines += ["", f"## {section.title}", ""]
            lines += [
                "| id | name | definition and convention | range | better | scopes "
                "| intervals for | nominal scales | source |",
                "|" + "---|" * 9,
                *map(_statistic, section.statistics),
            ]
    return "\n".join(lines) + "\n"


def _statistic(statistic: Statistic) -> str:
    cells = (
        f"`{statistic.id}`",
        statistic.heading,
        statistic.definition,
        _range(statistic),
        _BETTER[statistic.better],
        ", ".join(statistic.scopes),
        ", ".join(target.replace("_", " ") for target in statistic.targets),
        "yes" if statistic.nominal else "",
        statistic.source,
    )
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _range(statistic: Statistic) -> str:
    low, high = (None if end is None else f"{end:g}" for end in statistic.range)
    if low is not None and high is not None:
        return f"{low} to {high}"
    return f"{low} or more" if low is not None else f"up to {high}" if high is not None else ""
