"""Judges' scores and people's scores in two files: the options, and what is read of both."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from analysis.cli.column_options import NamedColumns, columns_of_options
from analysis.cli.report_input import CannotRun
from analysis.cli.typed_command import typed_command
from analysis.core.errors import TableError

if TYPE_CHECKING:
    from pandas import DataFrame

    from study.base.scales import Scale
    from study.importing.readers.source import RecordSource
    from study.importing.score_columns.shared_ids import SharedIds
    from study.importing.score_columns.table_side import TableSide

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class SecondFile:
    """A second table, which has the scores of the other side."""

    path: Path | None = None
    on: str | None = None
    """COLUMN with the ids of responses, or COLUMN=COLUMN where the names differ."""
    allow_unmatched: bool = False

    def check(self, first: Path | None) -> None:
        """Refuse a second file beside a study, and options without a second file.

        Raises
        ------
        CannotRun
            With the remedy.
        """
        if self.path is None:
            given = [
                word
                for word, value in (("--on", self.on), ("--allow-unmatched", self.allow_unmatched))
                if value
            ]
            if given:
                raise CannotRun(
                    f"{' and '.join(given)} joins two files, and one is given: name the file of "
                    "the judge and the file of people"
                )
            return
        for path in (self.path, first):
            if path is not None and not path.exists():
                raise CannotRun(f"{path} does not exist; name a table of scores")
            if path is not None and path.is_dir():
                raise CannotRun(
                    f"{path} is a folder; two files are joined: a table of the judge's scores and "
                    "one of people's"
                )
        if first is not None and first.resolve() == self.path.resolve():
            raise CannotRun(
                f"{first} is named twice; name the file of the judge and that of people"
            )


NO_SECOND = SecondFile()


def second_file_options(command: F) -> F:
    """Add the argument of a second file, --on and --allow-unmatched to a command.

    The command receives them as `second`, a `SecondFile`. It is placed below the argument of the
    first file.
    """

    @wraps(command)
    def with_second(*args: Any, **kwargs: Any) -> Any:
        second = SecondFile(
            kwargs.pop("second_file"), kwargs.pop("on_column"), kwargs.pop("allow_unmatched")
        )
        first = kwargs.get("source")
        second.check(first)
        return command(*args, second=second, **kwargs)

    result: Any = with_second
    result = click.option(
        "--allow-unmatched",
        is_flag=True,
        help="Of two files: leave out people's scores on responses that no judge scored.",
    )(result)
    result = click.option(
        "--on",
        "on_column",
        metavar="COLUMN[=COLUMN]",
        help="Of two files: the column with the ids of responses. Default: the only column with "
        "the same ids in both.",
    )(result)
    result = click.argument(
        "second_file",
        type=click.Path(path_type=Path),
        metavar="[SECOND_FILE]",
        required=False,
    )(result)
    packed: F = result
    return packed


class Joined(NamedTuple):
    """Two tables as they are read."""

    sides: tuple[TableSide, TableSide]
    on: SharedIds
    command: str
    """The command that declares what was recognized."""


def joined_sides(first: Path, second: SecondFile, columns: NamedColumns | None) -> Joined:
    """Return how two tables are read.

    Raises
    ------
    TableError
        It is not evident whose the scores of a table are; the message has the command to complete.
    """
    from study.importing.readers.source import table_source
    from study.importing.score_columns.shared_ids import evident_ids, named_ids
    from study.importing.score_columns.table_side import sides_of

    assert second.path is not None  # noqa: S101  (for the type checker: callers ask)
    columns = columns or NamedColumns()
    unread = [f"--{name}" for name in ("id", "construct") if getattr(columns, name)]
    if unread:
        raise CannotRun(
            f"{' and '.join(unread)}: of two files --on names the ids of responses, and "
            "constructs are read from a column construct, or named as in --judge CONSTRUCT=COLUMN"
        )
    paths = (first, second.path)
    sources: list[RecordSource] = [table_source(path) for path in paths]
    on = evident_ids(sources) if second.on is None else named_ids(second.on, sources)
    sides = sides_of(paths, on.columns, columns)
    taken = {"judge": [], "human": []}  # type: dict[str, list[str]]
    for side in sides:
        if side.columns is not None:
            taken["judge"] += side.columns.judge
            taken["human"] += side.columns.human
    absent = [
        text
        for kind in ("judge", "human")
        for text in getattr(columns, kind)
        if text not in taken[kind]
    ]
    if absent:
        listed = "; ".join(
            f"{path.name} has {', '.join(source.head.columns)}"
            for path, source in zip(paths, sources, strict=True)
        )
        raise TableError(
            str(first),
            [
                f"the column {absent[0]!r} is in neither file, or named twice: {listed}. "
                f"{_meant(absent[0], sources)}".strip()
            ],
        )
    command = _declared(paths, on, sides, taken)
    for side in sides:
        if not side.is_clear:
            raise TableError(str(side.path), [_whose(side, command)])
    return Joined(sides, on, command)


def _meant(text: str, sources: Sequence[RecordSource]) -> str:
    """The column of either file that is most similar to the one that is named."""
    from study.errors import nearest

    present = [column for source in sources for column in source.head.columns]
    return nearest(text.rpartition("=")[2], present)


def _declared(
    paths: tuple[Path, Path],
    on: SharedIds,
    sides: tuple[TableSide, TableSide],
    taken: Mapping[str, list[str]],
) -> str:
    """The command with the options for what was recognized, and COLUMN for what was not."""
    from study.importing.score_columns.named_columns import PLACEHOLDER

    named = NamedColumns(tuple(taken["judge"]), tuple(taken["human"]))
    first = sides[0].columns
    if set(named.judge) & set(named.human) and first is not None and not first.judge:
        # Of a name in both files, the judge's is in the first one.
        paths, on = (paths[1], paths[0]), on.reversed()
    if any(not side.is_clear for side in sides):
        by_rows = {kind for side in sides for kind in _kinds_in_rows(side)}
        judge = named.judge or (() if "judge" in by_rows else (PLACEHOLDER,))
        human = named.human or (() if "human" in by_rows else (PLACEHOLDER,))
        named = replace(named, judge=judge, human=human)
    if click.get_current_context(silent=True) is None:
        typed = " ".join(["ccrs report", *(shlex.quote(str(path)) for path in paths)])
    else:
        without = {*columns_of_options(), "on_column", "source", "second_file"}
        name, *rest = typed_command(whole_paths=True, without=without).partition(" --")
        typed = " ".join([name, *(shlex.quote(str(path)) for path in paths)]) + "".join(rest)
    return " ".join(filter(None, [typed, f"--on {shlex.quote(str(on))}", named.options()]))


def _kinds_in_rows(side: TableSide) -> set[str]:
    if side.columns is not None:
        return set()
    kinds = set(side.recognized.kinds.values()) | {side.recognized.one_side}
    return {"judge" if kind == "metric" else kind for kind in kinds}


def _whose(side: TableSide, command: str) -> str:
    """What is not evident of a table, and what to do."""
    candidates = ", ".join(map(repr, side.candidates))
    problem = "nothing says whose the scores of this file are, those of a judge or of people"
    listed = f". Columns that may be: {candidates}" if candidates else ", and no column has scores"
    return f"{problem}{listed}. Put the names of columns in place of COLUMN: {command}"


def read_two(
    first: Path,
    second: SecondFile,
    columns: NamedColumns | None,
    kinds: Mapping[str, str],
    values: Mapping[str, float | None],
    scales: Mapping[str, Scale],
    scorer_scales: Mapping[tuple[str, str], Scale],
    only_construct: Callable[[Path], str | None],
) -> tuple[DataFrame, str]:
    """Read two tables into one, and print what was taken as what.

    The second value is for `say_declared`.

    Raises
    ------
    TableError
        It is not evident how the tables are read.
    InputError
        With every fault of a table.
    """
    from analysis.cli.column_reading import looks_like_scale
    from analysis.cli.taken_columns import check_kinds_known, declared_in_words, kinds_in_words
    from study.importing.joined_tables import Declared, UnclearConstructsError, read_joined
    from study.importing.score_columns.named_columns import column_of
    from study.importing.score_columns.table_side import sides_in_words

    joined = joined_sides(first, second, columns)
    for side in joined.sides:
        if side.columns is None and side.recognized.form != "tool export":
            if side.recognized.form == "preferences":
                raise TableError(str(side.path), ["the file compares responses; give scores"])
            check_kinds_known(side.recognized, dict(kinds), side.path)
            told = replace(side.recognized, one_side="", candidates=())
            for line in kinds_in_words(told, kinds):
                click.echo(f"{side.path.name}: {line}", err=True)
    told_columns = sides_in_words({side.path.name: side for side in joined.sides})
    named = [
        column_of(text, ()) if "=" in text else text
        for side in joined.sides
        if side.columns is not None and side.scorer is None
        for text in (*side.columns.judge, *side.columns.human)
    ]
    contradicted = [name for name in kinds if name in named]
    if contradicted:
        options = [f"--kind {shlex.quote(f'{name}={kinds[name]}')}" for name in contradicted]
        command = joined.command
        for option in options:
            command = command.replace(f" {option}", "")
        raise CannotRun(
            f"--judge and --human state the kind of a column; leave out {' and '.join(options)}: "
            f"{command}"
        )
    declared_all = columns is not None and columns.judge and columns.human
    same = ""
    if told_columns and not declared_all:
        click.echo(f"Columns taken by their names ({'; '.join(told_columns)}).", err=True)
        same = declared_in_words(joined.command)
    if not joined.on.given:
        click.echo(
            f"The files are joined by the column {str(joined.on)!r}, the only one with the same "
            f"ids in both: --on {shlex.quote(str(joined.on))}.", err=True
        )  # fmt: skip
    declared = Declared(kinds, scales, scorer_scales, values, looks_like_scale)
    try:
        frame = read_joined(
            joined.sides,
            joined.on,
            declared,
            only_construct=only_construct,
            allow_unmatched=second.allow_unmatched,
        )
    except UnclearConstructsError as error:
        raise TableError(
            str(first),
            [f"{error}. Name the construct of each, as in --judge CONSTRUCT=COLUMN and --human "
             f"CONSTRUCT=COLUMN: {joined.command}"],
        ) from None  # fmt: skip
    return frame, same
