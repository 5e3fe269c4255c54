"""Checks of the values of a database that is restored: those of every other way into a study."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Connection, select

from study.base.scales import Scale
from study.errors import StudyError
from study.lifecycle.database_copy import untrusted
from study.schema import JudgeAnswer, Noun, RaterAnswer, Reading, ScorerAnswer, table
from study.schema.tables import constructs, judge_answers, judge_runs, readings
from study.settings.study_toml import StudyConfig
from study.study import Study

_TOGETHER = 2000

#: By declared type of an SQLite column: what the storage class of a value must be, what it is
#: called, and a further condition. SQLite itself stores any value in any column.
_STORED = {
    "INTEGER": ("'integer'", "a whole number", "1"),
    "FLOAT": ("'real', 'integer'", "a number", "abs({0}) < 9e999"),
    "BOOLEAN": ("'integer'", "0 or 1", "{0} IN (0, 1)"),
    "JSON": ("'text'", "JSON", "json_valid({0})"),
    "DATETIME": ("'text'", "a time", "datetime({0}) IS NOT NULL"),
    "BLOB": ("'blob'", "bytes", "1"),
    "TEXT": ("'text'", "text", "1"),
    "VARCHAR": ("'text'", "text", "1"),
}
_ANSWERS = (RaterAnswer, ScorerAnswer, JudgeAnswer, Reading)
_OF_CHOICES = ("value", "value_first", "value_second")
#: A judge's choice between two responses.
_OF_JUDGES = Scale(-1, 1)


def check_stored_types(path: Path, source: Path) -> None:
    """Refuse an SQLite file in which a value is not of the type of its column.

    Raises
    ------
    StudyError
        With table, row, value and what is expected there.
    """
    with untrusted(path, str(source)) as connection:
        names = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' "
            "ESCAPE '!' ORDER BY name"
        ).fetchall()
        for (name,) in names:
            quoted = _quoted(name)
            for _, column, declared, *_ in connection.execute(f"PRAGMA table_info({quoted})"):
                stored = _STORED.get(str(declared).partition("(")[0])
                if stored is None:
                    raise StudyError(
                        f"{source}: column {column!r} of table {name!r} has the type "
                        f"{str(declared)[:50]!r}, which no study has. Nothing was restored."
                    )
                classes, expected, condition = stored
                value = _quoted(column)
                fits = f"typeof({value}) IN ({classes}) AND {condition.format(value)}"
                wrong = connection.execute(
                    f"SELECT rowid, substr(quote({value}), 1, 50) FROM {quoted} "  # noqa: S608
                    f"WHERE {value} IS NOT NULL AND NOT ({fits}) LIMIT 1"
                ).fetchone()
                if wrong is not None:
                    reason = f"{column} {wrong[1]} is not {expected}"
                    raise _refused(source, name, wrong[0], reason)


def check_values(study: Study, connection: Connection, source: Path) -> None:
    """Refuse a study with a row that could not have been saved or imported.

    Every row passes the class that validates rows before they are stored, and values are on the
    scale of their construct, or of their scorer where study.toml gives one.

    Raises
    ------
    StudyError
        With table, row, value and reason.
    """
    scales = _Scales(study.config, connection)
    for noun in Noun.__subclasses__():
        for base, rows in _validated(noun):
            stored = table(rows)
            rows_of = select(stored).execution_options(yield_per=_TOGETHER)
            for row in connection.execute(rows_of).mappings():
                reason = _problem(base, row) or scales.problem(rows, row)
                if reason is not None:
                    raise _refused(source, stored.name, row.get("id"), reason)


def _validated(base: type[Noun]) -> Iterator[tuple[type[Noun], type[Noun]]]:
    """Yield each table class below a base class, with the base that validates its rows."""
    for noun in base.__subclasses__():
        if hasattr(noun, "__table__"):
            yield base, noun
        else:
            yield from _validated(noun)


def _problem(base: type[Noun], row: Mapping[Any, Any]) -> str | None:
    try:
        base.model_validate({name: row[name] for name in base.model_fields if name in row})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        value = "" if not place else f"{place} {str(first['input'])[:50]!r}: "
        return value + first["msg"].removeprefix("Value error, ")
    return None


class _Scales:
    """The scales on which a study's values are."""

    def __init__(self, config: StudyConfig, connection: Connection) -> None:
        self._config = config
        self._stored = {
            (row.key, row.version): Scale(
                row.scale_min, row.scale_max, row.scale_step, row.scale_level
            )
            for row in connection.execute(select(constructs))
        }
        self._runs = dict(connection.execute(select(judge_runs.c.id, judge_runs.c.name)).all())
        answers = judge_answers.c
        read_again = answers.id.in_(select(readings.c.judgment_id))
        self._read_again = {
            row["id"]: row
            for row in connection.execute(
                select(
                    *(answers.id, answers.run_id, answers.second_response_id),
                    *(answers.construct_key, answers.construct_version),
                ).where(read_again)
            ).mappings()
        }

    def problem(self, noun: type[Noun], row: Mapping[Any, Any]) -> str | None:
        """Return why a value of a row is on none of its scales."""
        if noun not in _ANSWERS or row["value"] is None:
            return None
        if noun is Reading:
            row = {**self._read_again[row["judgment_id"]], "value": row["value"]}
        if row.get("kind") == "choice" or row.get("second_response_id") is not None:
            values = [row[name] for name in _OF_CHOICES if row.get(name) is not None]
            by_judge = row.get("run_id") is not None
            scale = _OF_JUDGES if by_judge else self._config.preferences.scale
            return self._off([scale], values, row)
        scales = [self._stored.get((row["construct_key"], row["construct_version"]))]
        scorer = row.get("scorer") or self._runs.get(row.get("run_id"))
        scales += [] if scorer is None else [self._config.own_scale(scorer)]
        return self._off([scale for scale in scales if scale is not None], [row["value"]], row)

    @staticmethod
    def _off(scales: list[Scale], values: list[float], row: Mapping[Any, Any]) -> str | None:
        for value in values:
            problems = [scale.problem(value) for scale in scales]
            if problems and None not in problems:
                return f"{problems[-1]} ({row['construct_key']})"
        return None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _refused(source: Path, name: str, row: Any, reason: str) -> StudyError:
    place = f"table {name!r}" if row is None else f"table {name!r}, row {row}"
    return StudyError(
        f"{source}: {place}: {reason}. Nothing was restored; restore another backup, or correct "
        "this row where the backup comes from and back that study up again."
    )
