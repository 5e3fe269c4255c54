"""Exporting a run: every judgment with its raw answer, written in batches."""

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select

from judge.running.runs import run_of
from judge.text import Result
from study.base.scales import Scale
from study.errors import StudyError, nearest
from study.export.table_files import FORMS, Kind, write_table
from study.facts.current_responses import current_outputs, current_responses
from study.facts.judgments import as_read, reason_before_score
from study.facts.score_distributions import summary
from study.schema.tables import judgments, queries as query_table, responses
from study.study import Study
from study.text import counted

EXPECTED_COLUMNS = (
    "expected",
    "expected_low",
    "expected_high",
    "distribution_mode",
    "distribution_variance",
    "distribution_mass",
)
"""The mean of a distribution if at least 95% of the probability is known; the mean with all unknown
probability at the lower and at the upper end of the scale; mode, variance and share of the known
probability."""

_OF_RESPONSE = ("response_id", "query_id", "systems")
_STORED = (
    "repeat",
    "attempt",
    "value",
    "missing_reason",
    "rule",
    "answer",
    "reason",
    "reasoning",
    "finish_reason",
    "served_model",
    "fingerprint",
    "flags",
    "prompt_tokens",
    "completion_tokens",
    "reasoning_tokens",
    "cached_tokens",
    "milliseconds",
    "created_at",
    "distribution",
)
COLUMNS = (*_OF_RESPONSE, "construct", *_STORED, *EXPECTED_COLUMNS)
"""Columns of the file, in order."""

_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("systems", "flags"), "texts"),
    **dict.fromkeys(("value", "milliseconds", *EXPECTED_COLUMNS), "number"),
    **dict.fromkeys(("repeat", "attempt"), "integer"),
    **dict.fromkeys((name for name in _STORED if name.endswith("_tokens")), "integer"),
    "created_at": "time",
}
"""Kinds of the columns that are not text."""
# Rows that the database hands over at once.
_BATCH = 2000

Row = tuple[Any, ...]


@dataclass(frozen=True)
class RunExport(Result):
    """The file of an export, and the judgments that it leaves out."""

    run: str
    path: Path
    rows: int
    """Judgments, further attempts included."""
    left_out: dict[str, int]
    """Reason to number of judgments."""

    def as_json(self) -> dict[str, Any]:
        """Return the summary as values that JSON can represent."""
        return {**super().as_json(), "path": str(self.path)}

    def lines(self) -> list[str]:
        """Return the summary as lines of text."""
        return [
            f"Wrote {self.path} ({counted(self.rows, 'judgment')} of the run {self.run!r}).",
            *(
                f"Left out: judgments {reason} ({number:,})."
                for reason, number in self.left_out.items()
            ),
        ]


def export_run(
    study: Study,
    name: str,
    path: Path | str,
    format: str | None = None,  # noqa: A002  (the word that callers expect)
    *,
    overwrite: bool = False,
) -> RunExport:
    """Write every judgment of a run into one file, one row each, further attempts included.

    Parameters
    ----------
    study : Study
    name : str
        Name of the run.
    path : Path or str
    format : {"csv", "parquet", "jsonl"}, optional
        Default: by the ending of the file name. In CSV, text that a spreadsheet would run as a
        formula is escaped as in `study.export_study`; JSON lines and Parquet are not changed.
    overwrite : bool
        Replace an existing file.

    Returns
    -------
    RunExport
        The columns of the file are `COLUMNS`; value, missing_reason and rule are those of the
        newest reading. Judgments of replaced responses, and of constructs or versions that
        study.toml no longer has, are left out and counted.

    Raises
    ------
    StudyError
        The run or the format is unknown, or the file exists already.
    """
    path = Path(path)
    form = _format(path, format)
    if path.is_dir():
        raise StudyError(f"{path} is a folder; name a file, such as {path / 'judgments.csv'}.")
    if path.exists() and not overwrite:
        raise StudyError(
            f"{path} already exists. Choose another name, or replace it with --overwrite."
        )
    left_out: Counter[str] = Counter()
    with study.read() as connection:
        run = run_of(connection, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        # Written under another name first, so that the file is complete or does not exist.
        part = path.with_name(f"{path.name}.part")
        try:
            with closing(_rows(study, connection, run, left_out)) as rows:
                columns = {column: _KINDS.get(column, "text") for column in COLUMNS}
                number = write_table(part, form, columns, rows)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    return RunExport(name, path, number, dict(left_out))


def _format(path: Path, option: str | None) -> str:
    name = option or path.suffix.lower().removeprefix(".")
    if name not in FORMS:
        hint = nearest(name, FORMS)
        problem = f"Unknown export format {name!r}. {hint}" if name else f"{path} has no ending."
        raise StudyError(
            f"{problem.rstrip()} End the file name with .csv, .parquet or .jsonl, or use --format."
        )
    return name


def _rows(
    study: Study, connection: Connection, run: Mapping[str, Any], left_out: Counter[str]
) -> Generator[Row, None, None]:
    """Yield the rows by response, construct, repeat and attempt; count the others."""
    versions = study.scored_versions(connection)
    responses = _responses(connection)
    stored = ["raw_answer" if name == "answer" else name for name in _STORED if name != "reason"]
    columns = ("response_id", "construct_version", "construct_key", *stored)
    # The order of the index, so that the database does not sort.
    order = (
        judgments.c.response_id,
        judgments.c.construct_key,
        judgments.c.construct_version,
        judgments.c.repeat,
        judgments.c.attempt,
    )
    statement = as_read(columns, judgments.c.run_id == run["id"]).order_by(*order)
    scales = {key: study.config.scale(key, run["name"]) for key in versions}
    with connection.execute(statement, execution_options={"yield_per": _BATCH}) as rows:
        for response, version, *rest in rows:
            key = rest[0]
            if key not in versions:
                left_out["of a construct that study.toml no longer has"] += 1
            elif version != versions[key]:
                left_out["of an earlier version of a construct"] += 1
            elif response not in responses:
                left_out["of a response that a later one replaced"] += 1
            else:
                figures = expected_figures(rest[-1], scales[key])
                yield (*responses[response], *_with_reason(rest), *figures.values())


def _with_reason(cells: Sequence[Any]) -> Row:
    """Insert the reason after the answer that contains it."""
    at = 1 + _STORED.index("answer")
    reason = reason_before_score(cells[at], cells[1 + _STORED.index("rule")])
    return (*cells[: at + 1], reason, *cells[at + 1 :])


def expected_figures(
    distribution: Mapping[str, float] | None, scale: Scale | None
) -> dict[str, float | None]:
    """Return the figures by `EXPECTED_COLUMNS`; all are None without a distribution or a scale."""
    if not distribution or scale is None:
        return dict.fromkeys(EXPECTED_COLUMNS)
    s = summary(distribution, scale)
    cells = (s.expected, s.low, s.high, s.mode, s.variance, s.mass)
    return dict(zip(EXPECTED_COLUMNS, cells, strict=True))


def _responses(connection: Connection) -> dict[int, tuple[str, str, list[str]]]:
    """Return id, query and systems of each current response."""
    current = current_outputs()
    systems: dict[int, list[str]] = {}
    rows = connection.execute(
        select(current.c.response_id, current.c.system).order_by(current.c.first_id)
    )
    for response, system in sorted(rows, key=lambda row: row.system):
        systems.setdefault(response, []).append(system)
    statement = select(responses.c.id, query_table.c.key).join_from(
        responses, query_table, responses.c.query_id == query_table.c.id
    )
    queries = {row.id: row.key for row in connection.execute(statement)}
    return {
        response.id: (response.response_id, queries[response.id], systems.get(response.id, []))
        for response in current_responses(connection)[0]
    }
