"""What the snapshots hold, each made anew from the product."""

import json
import re
import sqlite3
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from analysis import Estimate
from tests.golden.judge_rows import judge_rows

FOLDER = Path(__file__).with_name("snapshots")
_MASTER = (
    "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"
    " ORDER BY type, tbl_name, name"
)
_KEY = ("statistic", "constructs", "scorers", "systems", "scope", "target", "params")
_FIGURES = ("value", "ci_low", "ci_high", "n_responses", "n_queries", "n_raters", "n_dropped")


def schema() -> str:
    """Return tables with columns, keys and constraints, then indices and triggers, of SQLite."""
    from study import Study

    with TemporaryDirectory() as folder:
        Study.create(Path(folder) / "study").close()
        connection = sqlite3.connect(Path(folder) / "study" / "study.db")
        try:
            lines = [
                line
                for kind, name, table, sql in connection.execute(_MASTER).fetchall()
                for line in _described(connection, kind, name, table, sql)
            ]
        finally:
            connection.close()
    return "\n".join(lines)


def commands() -> str:
    """Return the arguments and options of every command and subcommand, without the prose."""
    lines: list[str] = []

    def add(words: str, command: click.Command) -> None:
        context = click.Context(command, info_name=words)
        lines.append(words)
        # Without --help, the last one: releases of Click differ in the names that they list for it.
        parameters = command.get_params(context)[:-1]
        lines.extend(f"  {_parameter(parameter)}" for parameter in parameters)
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                subcommand = command.get_command(context, name)
                assert subcommand is not None
                add(f"{words} {name}", subcommand)

    for entry in sorted(entry_points(group="ccrs.commands")):
        # Commands that other packages bring are not this project's.
        if entry.dist is not None and entry.dist.name == "ccrs-study":
            add(f"ccrs {entry.name}", entry.load())
    return "\n".join(lines)


def routes() -> str:
    """Return the address, methods and endpoint of each route of the rating pages."""
    from annotate_ui.web.app import create_app
    from study import Study

    with TemporaryDirectory() as folder:
        study = Study.create(Path(folder) / "study")
        try:
            rules = list(create_app(study, b"k" * 32).url_map.iter_rules())
        finally:
            study.close()
    lines = sorted(f"{rule.rule} {sorted(rule.methods or ())} {rule.endpoint}" for rule in rules)
    return re.sub(r"/static/[0-9a-f]{12}", "/static/VERSION", "\n".join(lines))


def figures() -> str:
    """Return the estimates of the example on QR, on 100 resamples: what each is of, its numbers."""
    from analysis import Options, Scale, ScoreTable, analyse
    from study.example import build_example
    from study.facts.score_table import score_table

    with TemporaryDirectory() as folder:
        study = build_example(Path(folder) / "study")
        try:
            with study.read() as connection:
                frame = score_table(connection, study.construct_versions(connection))
        finally:
            study.close()
    frame = frame[frame["construct"] == "QR"]
    analysis = analyse(
        ScoreTable.from_frame(frame, {"QR": Scale(0, 100)}), options=Options(resamples=100)
    )
    return "\n".join(sorted(_figure(estimate) for estimate in analysis.estimates))


SNAPSHOTS: dict[str, Callable[[], str]] = {
    "schema": schema,
    "commands": commands,
    "routes": routes,
    "figures": figures,
    "judge_rows": judge_rows,
}


def _described(
    connection: sqlite3.Connection, kind: str, name: str, table: str, sql: str
) -> list[str]:
    lines = [f"{kind} {name} on {table}"]
    if kind != "table":
        return [*lines, f"  {' '.join(sql.split())}"]
    columns = connection.execute(f"PRAGMA table_info({name!r})").fetchall()
    lines += sorted(f"  column {' '.join(map(str, column[1:]))}" for column in columns)
    keys = connection.execute(f"PRAGMA foreign_key_list({name!r})").fetchall()
    lines += sorted(f"  foreign key {' '.join(map(str, key[2:]))}" for key in keys)
    lines += sorted(f"  {constraint}" for constraint in _constraints(sql))
    return lines


def _constraints(sql: str) -> list[str]:
    """Return the checks and uniqueness constraints of a CREATE TABLE."""
    constraints = []
    for match in re.finditer(r"(CONSTRAINT\s+\S+\s+)?(CHECK|UNIQUE)\s*\(", sql):
        depth, end = 1, match.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(sql[end], 0)
            end += 1
        constraints.append(" ".join(sql[match.start() : end].split()))
    return constraints


def _parameter(parameter: click.Parameter) -> str:
    shown = " ".join([*parameter.opts, *parameter.secondary_opts])
    kind = parameter.type
    described = kind.name
    if isinstance(kind, click.Choice):
        described = "|".join(map(str, kind.choices))
    elif isinstance(kind, click.IntRange | click.FloatRange):
        described += f" {kind._describe_range()}"
    facts = [described]
    facts += ["required"] if parameter.required else []
    facts += ["repeatable"] if getattr(parameter, "multiple", False) else []
    facts += ["several"] if parameter.nargs not in (0, 1) else []
    return f"{shown}: {', '.join(facts)}"


def _figure(estimate: Estimate) -> str:
    parts = [getattr(estimate, key) for key in _KEY[:-1]] + [_rounded(estimate.params)]
    of = " ".join(json.dumps(part, sort_keys=True) for part in parts)
    numbers = (getattr(estimate, key) for key in _FIGURES)
    return f"{of.replace('simulated-', '')} = {' '.join(map(_number, numbers))}"


def _rounded(params: Mapping[str, object]) -> dict[str, object]:
    """Return parameters that other versions of NumPy and SciPy give alike, such as a p-value."""
    return {
        name: float(f"{value:.6g}") if isinstance(value, float) else value
        for name, value in params.items()
    }


def _number(value: float | None) -> str:
    return "nan" if value is None else f"{value:.15g}"
