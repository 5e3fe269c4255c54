"""How the judge was run, on the report's page: from plain records that anybody may hand over."""

import csv
import json
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from analysis import Options, analyse, write_report
from analysis.core.analysis import Analysis
from analysis.core.context import Context
from analysis.core.estimates import EstimateList
from analysis.topics.runs import tables
from tests.analysis.pipeline.pages import VALIDATOR
from tests.analysis.scores import simulated, table

pytestmark = pytest.mark.usefixtures("without_drawing")


def call(**other: Any) -> dict[str, Any]:
    by_name = {
        "kind": "run", "began": "2026-11-20T08:00:00+00:00", "planned": 40, "concurrency": 64,
        "ended": "done", "answered": 38, "judged": 38, "missing": {"refusal": 2},
        "failed": {"timeout": 2}, "retries": {"http_503": 5}, "tokens": {"prompt": 4000},
        "overhead": {"calls": 6, "prompt": 900}, "uncounted": 0, "seconds": 20.0, "cost": 0.5,
        "figures": {"recomputed": 0.52, "least_recomputed": 0.5},
    }  # fmt: skip
    return by_name | other


RUN: dict[str, Any] = {
    "name": "judge", "engine": "openai", "model": "<llama>", "model_revision": "v2",
    "prompt_version": "ccrs-paper-v1", "prompt_hash": "ab" * 32, "layout": None,
    "decoding": {"temperature": 0, "ignored": ["seed"]}, "seed": 7, "repeats": 1,
    "account": {
        "begun": "2026-11-20T08:00:00+00:00", "config_hash": "cd" * 32,
        "software": {"python": "3.12.1"}, "observed": {"window": 8192, "fingerprint": None},
        "host": "api.example.org", "judgments": 36, "possible": 40, "missing": 2,
        "missing_by_reason": {"refusal": 2},
        "constructs": [
            {"construct": "QR", "judgments": 18, "values": 16, "missing": {"refusal": 2}},
            {"construct": "<CC>", "judgments": 18, "values": 18, "missing": {}},
        ],
        "served": [
            {"model": "llama", "fingerprint": "fp-1", "answers": 20,
             "first": "2026-11-20T08:00:00+00:00", "last": "2026-11-20T08:01:00+00:00"},
            {"model": "llama", "fingerprint": "fp-2", "answers": 18,
             "first": "2026-11-20T08:02:00+00:00", "last": "2026-11-20T08:03:00+00:00"},
        ],
        "flags": {"control_tokens": 1}, "tokens": {"prompt": 4000, "cached": 1000},
        "cached_share": 0.25, "milliseconds": 310.0,
        "account": {
            "calls": 2, "unended": 1, "answered": 38, "failed": {"timeout": 2},
            "retries": {"http_503": 5}, "overhead": {"calls": 6, "prompt": 900}, "seconds": 20.0,
            "cost": 0.5, "unpriced": 0, "tokens_a_second": 200.0,
            "figures": {"recomputed": 0.52, "least_recomputed": 0.5},
        },
        "calls": [
            call(),
            call(ended=None, answered=None, judged=None, missing={}, failed={}, retries={},
                 tokens={}, overhead={}, seconds=None, cost=None, figures={}),
        ],
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return analyse(table(simulated()), options=Options(resamples=200))


def test_the_runs_page_says_what_was_run_and_what_it_took(
    analysis: Analysis, tmp_path: Path
) -> None:
    page = write_report(analysis, tmp_path / "r", judge_runs=[RUN]).read_text(encoding="utf-8")
    part = page[page.index('<section id="runs">') : page.index('<section id="not-established">')]
    assert "<llama>" not in part
    text = unescape(part)
    for words in (
        "How the judge was run",
        "judge: the server named 2 models or settings in the course of the run, the last from "
        "2026-11-20 08:02 UTC on. Scores before and after may be those of different judges.",
        "judge: 2 of 36 judgments (6%) have no value: 2 refusal.",
        "judge is not finished: 4 of 40 judgments are still to be made.",
        "llama, fp-1 (20 answers from 2026-11-20 08:00)",
        "ab" * 32,
        "api.example.org",
        'temperature 0, ignored ["seed"]',
        "5 http 503",
        "52.0% (least 50.0%)",
        "4,000 prompt, 1,000 cached",
        "2 (1 without an end)",
        "killed, or still running",
        "What the judge left without a value, and why",
        "QR 11%: 2 refusal; <CC> 0%: none.",
    ):
        assert words in text, words
    written = json.loads((tmp_path / "r" / "report.json").read_text(encoding="utf-8"))
    VALIDATOR.validate(written)
    assert written["provenance"]["judge_runs"] == [RUN]
    with (tmp_path / "r" / "tables" / "judge-calls.csv").open(encoding="utf-8") as file:
        listed_rows = list(csv.DictReader(file))
    assert [(row["run"], row["ended"], row["retries"]) for row in listed_rows] == [
        ("judge", "done", "http 503 5"),
        ("judge", "", ""),
    ]


def test_calls_for_probes_are_told_from_the_run(analysis: Analysis, tmp_path: Path) -> None:
    total = RUN["account"]["account"] | {"unpriced": 1}
    calls = [call(), call(kind="estimate"), call(kind="probe", planned=2115)]
    run = RUN | {"account": RUN["account"] | {"account": total, "calls": calls}}
    page = write_report(analysis, tmp_path / "r", judge_runs=[run]).read_text(encoding="utf-8")
    written = json.loads((tmp_path / "r" / "report.json").read_text(encoding="utf-8"))
    VALIDATOR.validate(written)
    entries = written["provenance"]["judge_runs"][0]["account"]["calls"]
    assert [entry["kind"] for entry in entries] == ["run", "estimate", "probe"]
    assert "include probes and drift; judgments and tokens do not" in page
    assert "0.50 (1 call without prices)" in page
    (shown,) = tables.calls(analysed_with(analysis, run))
    assert [row[2].text for row in shown.rows] == ["", "a sample", "probes"]


def test_judges_and_metrics_are_listed_with_what_they_lack_and_cost() -> None:
    frame = simulated()
    judged = frame[frame["scorer"] == "judge"]
    metric = judged.assign(scorer_kind="metric", value=50.0)
    measured = metric.assign(scorer="F1", source="own")
    first = measured["response_id"] == "r0"
    reasons = pd.Series(None, index=measured.index, dtype="object").mask(first, "no_reference")
    measured = measured.assign(value=measured["value"].mask(first), missing_reason=reasons)
    parts = [frame, measured, metric.assign(scorer="imported")]
    blend = judged.assign(scorer="blend", source="own")
    options = Options(resamples=100, derived_from={"blend": ("judge", "F1")})
    scores = pd.concat([*parts, blend], ignore_index=True)
    total = RUN["account"]["account"] | {"unpriced": 1}
    run = RUN | {"account": RUN["account"] | {"account": total}}
    (listed,) = tables.scorers(analysed_with(analysis_of(scores, options), run))
    shown = {row[0].text: [cell.text for cell in row[1:]] for row in listed.rows}
    n = len(judged)
    assert shown == {
        "judge": [
            "judge",
            str(n),
            "",
            "38",
            f"{38 / n:.1f}",
            "4,000 prompt, 1,000 cached",
            f"{4000 / n:,.0f}",
            "20.0 s",
            "0.50 (1 call without prices)",
        ],
        "F1": ["metric", str(n - 1), "1 no reference", "0", "0", "0", "0", "", "0"],
        "imported": ["metric", str(n), "", "not known", "", "", "", "", ""],
        "blend": ["judge", str(n), "", "as its members", "", "", "", "", ""],
    }
    assert listed.data is not None
    data = listed.data.set_index("scorer").astype(object)
    data = data.where(data.notna(), None)
    assert data.loc["judge"].to_dict() == {
        "kind": "judge", "responses": n, "scores": n, "missing": 0, "missing_by_reason": "",
        "counted_by": "calls of the run", "answers": 38, "answers_a_response": 38 / n,
        "prompt_tokens": 4000, "cached_tokens": 1000, "tokens_a_response": 4000 / n, "calls": 2,
        "unended": 1, "seconds": 20.0, "cost": 0.5, "unpriced": 1,
    }  # fmt: skip
    assert data.loc["F1", ["scores", "missing", "answers", "cost"]].tolist() == [n - 1, 1, 0, 0]
    assert data.loc["imported", ["answers", "cost"]].tolist() == [None, None]
    assert data.loc["blend", ["answers", "cost"]].tolist() == [None, None]
    assert data["counted_by"].to_dict() == {
        "judge": "calls of the run",
        "F1": "asks no model",
        "imported": "not known",
        "blend": "as its members: judge, F1",
    }
    assert list(tables.scorers(analysed_with(analysis_of(frame, options), RUN))) == []


def analysis_of(frame: pd.DataFrame, options: Options) -> Analysis:
    return Analysis("", Context(table(frame), None, options), EstimateList(()))


def analysed_with(analysis: Analysis, run: dict[str, Any]) -> Analysis:
    return replace(analysis, inputs=replace(analysis.inputs, judge_runs=(run,)))


def test_runs_of_which_nothing_more_is_known_have_their_conditions_only(
    analysis: Analysis, tmp_path: Path
) -> None:
    bare = {name: value for name, value in RUN.items() if name != "account"}
    page = write_report(analysis, tmp_path / "r", judge_runs=[bare]).read_text(encoding="utf-8")
    assert 'id="table-judge-runs"' in page
    assert 'id="table-judge-work"' not in page
    assert 'id="table-judge-calls"' not in page
    written = json.loads((tmp_path / "r" / "report.json").read_text(encoding="utf-8"))
    VALIDATOR.validate(written)


def test_without_runs_there_is_no_such_section(analysis: Analysis, tmp_path: Path) -> None:
    page = write_report(analysis, tmp_path / "r").read_text(encoding="utf-8")
    assert 'id="runs"' not in page
