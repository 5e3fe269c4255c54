"""Every kind of answer that a judge gives, as logical rows: runs, probes, drift and pairs."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from sqlalchemy import FromClause, select

from judge import compare_pairs, judge_study, probe_study
from judge.protocol.exchange import Answer
from study import Study
from study.schema.tables import (
    judge_runs,
    judgments,
    pair_answers,
    probe_answers,
    responses,
    run_step_answers,
    step_answers,
)
from tests.judge.metrics.test_ragchecker import scripted_answer
from tests.judge.small_studies import Scripted, ScriptedSettings, fill, register, score

_LEFT_OUT = ("id", "item", "created_at", "milliseconds", "parser_version")
_PLAIN = ScriptedSettings(model="scripted", name="plain", repeats=2, drift=2, skip_too_long=True)
_STEPS = ScriptedSettings(
    model="scripted", metric="ragchecker-hallucination", name="steps", drift=1
)
_PAIRS = ScriptedSettings(
    model="scripted", name="pairs", constructs=("QR", "CC"), retry_unparsed=True
)
_KINDS = ("again", "layout", "injection", "order")


def judge_rows() -> str:
    """Return the stored answers of a scripted judge, a line each, in the order of the lines."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        scripted = register(patch)
        study = Study.create(Path(folder) / "study")
        try:
            fill(study, queries=2)
            _judge(study, scripted)
            return "\n".join(_rows(study))
        finally:
            study.close()


def _judge(study: Study, scripted: type[Scripted]) -> None:
    scripted.answer = staticmethod(_answer)
    scripted.window = 186
    judge_study(study, _PLAIN)
    judge_study(study, _PLAIN.model_copy(update={"retry_unparsed": True}))
    probe_study(study, _PLAIN, _KINDS, sample=3)
    scripted.window = None
    scripted.answer = staticmethod(scripted_answer)
    judge_study(study, _STEPS)
    probe_study(study, _STEPS, _KINDS, sample=2)
    scripted.window = 400
    probe_study(study, _STEPS, ("length",), sample=1)
    scripted.answer = staticmethod(_choice)
    for window in (150, None):
        scripted.window = window
        compare_pairs(study, _PAIRS)


def _answer(prompt: str) -> Answer:
    number = int(score(prompt))
    text = "I cannot say." if number % 7 == 0 else str(number)
    return Answer(text, "stop", "scripted-1", prompt_tokens=len(prompt) // 4, completion_tokens=2)


def _choice(prompt: str) -> Answer:
    return Answer(
        ("1", "2", "tie", "I cannot say.")[int(score(prompt)) % 4], prompt_tokens=len(prompt) // 4
    )


def _rows(study: Study) -> list[str]:
    lines = []
    with study.read() as connection:
        names = {
            row.id: row.key for row in connection.execute(select(responses.c.id, responses.c.key))
        }
        runs = {
            row.id: row.name
            for row in connection.execute(select(judge_runs.c.id, judge_runs.c.name))
        }
        tables: dict[str, FromClause] = {
            "judgment": judgments,
            "step": run_step_answers,
            "probe": probe_answers,
            "probe step": select(step_answers).where(step_answers.c.probe != "").subquery(),
            "pair": pair_answers,
        }
        for kind, table in tables.items():
            for row in connection.execute(select(table)).mappings():
                lines.append(f"{kind} {_shown(dict(row), names, runs)}")
    return sorted(lines)


def _shown(row: dict[str, Any], names: dict[int, str], runs: dict[int, str]) -> str:
    row["run"] = runs[row.pop("run_id")]
    for column in ("response_id", "second_response_id"):
        if row.get(column) is not None:
            row[column] = names[row[column]]
    if row.get("prompt_hash"):
        row["prompt_hash"] = row["prompt_hash"][:8]
    kept = {
        name: row[name] for name in row if name not in _LEFT_OUT and row[name] not in (None, [])
    }
    return json.dumps(kept, sort_keys=True)
