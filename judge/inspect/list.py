"""Listing the runs of a study with their progress."""

from collections import Counter
from dataclasses import dataclass

from sqlalchemy import select

from judge.running.judgments import PairCount, count, pair_counts
from judge.text import Result, printable
from study.facts.current_responses import count_current_responses
from study.schema.tables import judge_runs
from study.study import Study


@dataclass(frozen=True)
class RunSummary(Result):
    """A run and its progress. The counts are those of the score table."""

    name: str
    engine: str
    model: str
    prompt_version: str
    judgments: int
    """Judgments in the score table: one for each response, construct and repeat."""
    possible: int
    """Current responses x constructs that the run has judged x repeats."""
    missing: int
    """Judgments without a value, and pairs without a choice in both orders."""
    pairs: int
    """Pairs of responses that the run compared, for each construct and repeat."""
    begun: str
    """Time in UTC, as ISO 8601."""


def list_runs(study: Study) -> list[RunSummary]:
    """Return the runs of a study in the order in which they were begun.

    Examples
    --------
    >>> [run.name for run in list_runs(Study.open("my-study"))]  # doctest: +SKIP
    ['llama-3-70b']
    """
    with study.read() as connection:
        rows = connection.execute(select(judge_runs).order_by(judge_runs.c.id)).all()
        versions = study.scored_versions(connection)
        counts = count(connection, versions, ("run_id", "missing_reason")).by
        compared = pair_counts(connection)
        responses = count_current_responses(connection)
    judgments: Counter[int] = Counter()
    missing: Counter[int] = Counter()
    constructs: dict[int, set[str]] = {}
    for (construct, run, reason), number in counts.items():
        judgments[run] += number
        constructs.setdefault(run, set()).add(construct)
        if reason is not None:
            missing[run] += number
    return [
        RunSummary(
            name=row.name,
            engine=row.engine,
            model=row.model,
            prompt_version=row.prompt_version,
            judgments=judgments[row.id],
            possible=responses * len(constructs.get(row.id, ())) * row.repeats,
            missing=missing[row.id] + compared.get(row.id, PairCount(0, 0)).missing,
            pairs=compared.get(row.id, PairCount(0, 0)).pairs,
            begun=row.created_at.isoformat(timespec="seconds"),
        )
        for row in rows
    ]


def print_runs(runs: list[RunSummary]) -> None:
    """Print runs as a table that fits the terminal."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    rows = Table(box=None, pad_edge=False, padding=(0, 1))
    rows.add_column("run, and its model", overflow="fold", min_width=16)
    for name in ("engine", "prompts"):
        rows.add_column(name, overflow="fold")
    for name in ("judged", "missing"):
        rows.add_column(name, justify="right", no_wrap=True)
    rows.add_column("begun (UTC)", no_wrap=True)
    for run in runs:
        # By default a run has the name of its model, which is then shown once.
        name = run.name if run.name == run.model else f"{run.name}\n{run.model}"
        cells = (
            "\n".join(map(printable, name.split("\n"))),
            run.engine,
            run.prompt_version,
            f"{run.pairs}\npairs" if run.pairs else f"{run.judgments}\nof {run.possible}",
            str(run.missing),
            "\n".join(run.begun[:16].split("T")),
        )
        rows.add_row(*(Text(cell) for cell in cells))
    Console(highlight=False).print(rows)
