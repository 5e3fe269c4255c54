"""The judge runs behind a score table, as plain values for a report's provenance."""

from typing import Any

from sqlalchemy import Connection, select

from study.schema import JudgeRun, table

_PAPER = "ccrs-paper-v1"
_LAYOUT = (
    "the paper gives the words; the points of layout it leaves open are this project's, and part "
    "of the hash"
)


def judge_runs(connection: Connection) -> list[dict[str, Any]]:
    """Return what each run of a study was made with, in the order in which they were begun.

    The names are those of the scorers in the score table. The address of a run's server is left
    out: reports are passed on.
    """
    t = table(JudgeRun)
    rows = connection.execute(select(t).order_by(t.c.id)).mappings()
    return [
        {
            "name": row["name"],
            "engine": row["engine"],
            "model": row["model"],
            "model_revision": row["model_revision"],
            "prompt_version": row["prompt_version"],
            "prompt_hash": row["prompt_hash"],
            "layout": _LAYOUT if row["prompt_version"] == _PAPER else None,
            "decoding": dict(row["decoding"]),
            "seed": row["seed"],
            "repeats": row["repeats"],
        }
        for row in rows
    ]
