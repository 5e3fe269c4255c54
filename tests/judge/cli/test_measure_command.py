import json
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from judge.cli.measure_command import run as measure_run
from judge.metrics.ngram_overlap import RougeL
from judge.metrics.registry import SUITES, WITHOUT_PROMPTS
from judge.metrics.retrieval import NAMES
from judge.running import pages
from judge.running.text_scores import measure_study
from study import Study, StudyError, study_status
from study.cli.root import cli
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, PassageRow, ResponseRow
from tests.ccrs_command import in_process
from tests.judge.small_studies import fill, store

LEXICAL = {"EM", "EM-normalized", "F1", "BLEU", "chrF", "ROUGE-1", "ROUGE-2", "ROUGE-L"}


def ccrs(*words: object) -> Any:
    done = CliRunner().invoke(cli, ["measure", *map(str, words), "--json"])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return json.loads(done.output)


def metric_rows(study: Study) -> list[tuple[object, ...]]:
    scores = study.score_table()
    columns = ["response_id", "system", "construct", "scorer", "value", "missing_reason", "rule"]
    rows = scores.loc[scores["scorer_kind"] == "metric", columns].astype("object")
    return sorted(map(tuple, rows.where(rows.notna(), None).to_numpy()), key=repr)


def by_metric(counts: dict[str, Any]) -> dict[str, Any]:
    """The counts by metric, without the input that its name ends with."""
    return {name.split()[0]: count for name, count in counts.items()}


def incomplete(study: Study) -> None:
    """Two measurable responses with one text, and one of each kind that has no value."""
    for query, references in (("q", ["the Seine"]), ("bare", []), ("blank", [" "])):
        for system, text in (("A", "the Seine river"), ("B", "..."), ("C", "")):
            response = {"query_id": query, "query": "?", "system": system, "response": text}
            store(study, {**response, "references": references, "passages": [f"From {system}."]})
    store(
        study,
        {"query_id": "q", "query": "?", "system": "D", "response": "the Seine river"},
    )


def test_lexical_metrics_are_stored_with_versions_and_reasons(study: Study) -> None:
    incomplete(study)
    counts = ccrs(study.folder, "--metrics", "lexical")
    assert set(counts) == LEXICAL
    reasons = {"no_reference": 6}
    assert counts["ROUGE-L"] == {
        "stored": 4,
        "existing": 0,
        "differing": 0,
        "truncated": 0,
        "missing": reasons,
    }
    rows = metric_rows(study)
    values = {row[4:] for row in rows if row[3] == "ROUGE-L" and row[5] is None}
    # A response without words shares nothing with the reference answer.
    assert values == {(value, None, "unicode-words-v2") for value in (80.0, 0.0)}
    assert {row[4:] for row in rows if row[3] == "ROUGE-L"} - values == {
        (None, reason, None) for reason in reasons
    }
    [signature] = {row[6] for row in rows if row[3] == "BLEU" and row[6]}
    assert str(signature).startswith("nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp|version:")
    again = ccrs(study.folder, "--metrics", "lexical")["ROUGE-L"]
    assert again == {"stored": 0, "existing": 4, "differing": 0, "truncated": 0, "missing": reasons}
    assert metric_rows(study) == rows


def test_usage_compares_with_the_passages_on_cc(study: Study) -> None:
    incomplete(study)
    counts = ccrs(study.folder, "--metrics", "usage")
    # A response in each of three queries has words and passages.
    reasons = {"no_passages": 1}
    for name, stored, missing in (
        ("context-usage", 9, reasons),
        ("novel-words", 3, {"response_without_words": 6} | reasons),
    ):
        assert counts[name] == {
            "stored": stored,
            "existing": 0,
            "differing": 0,
            "truncated": 0,
            "missing": missing,
        }
    assert {row[2] for row in metric_rows(study)} == {"CC"}


def test_retrieval_is_measured_with_a_file_of_judgments(study: Study, tmp_path: Path) -> None:
    ranked = tuple(PassageRow(text=f"{name}.", document=name) for name in ("d2", "d3", "d1"))
    rows = [
        LocatedRow(
            number,
            ResponseRow(
                query_id=query, query=f"{query}?", response="x", system="A", passages=texts
            ),
        )
        for number, (query, texts) in enumerate(
            [("q", ranked), ("unjudged", ranked), ("bare", (PassageRow(text="Only."),))]
        )
    ]
    import_rows(study, rows, source="made", sha256="made", importer="responses")
    qrels = tmp_path / "qrels"
    qrels.write_text("q 0 d1 1\nq 0 d3 2\nelsewhere 0 d1 1\nbare 0 d1 1\n")
    words = ("--qrels", qrels)
    counts = by_metric(ccrs(study.folder, "--metrics", "retrieval,NDCG@1,usage", *words))
    assert set(counts) == {*SUITES["retrieval"], "NDCG@1", "context-usage", "novel-words"}
    # They stand for no construct of the study, but are in its table.
    of_rankings = {row[2] for row in metric_rows(study) if str(row[3]).split()[0] in NAMES}
    assert of_rankings == {"retrieval"}
    assert "retrieval" not in {construct.key for construct in study.config.constructs}
    assert counts["RR"]["stored"] == 1
    assert counts["RR"]["missing"] == {"no_relevant": 1, "no_documents": 1}
    rows_with_value = [row for row in metric_rows(study) if row[5] is None]
    values = {str(row[3]).split()[0]: (row[4], row[6]) for row in rows_with_value}
    assert values["NDCG"] == (pytest.approx(0.669672, abs=1e-6), values["RR"][1])
    assert values["RR"][0] == 0.5
    assert str(values["RR"][1]).startswith("retrieval-v2 qrels sha256:")
    qrels.write_text("Q 0 d1 1\n")
    with pytest.raises(StudyError, match=r"judges no query of the study.*'Q'.*'q'"):
        ccrs(study.folder, "--metrics", "RR", *words)
    qrels.write_text("q 0 d1 1\n")
    [on_cc] = ccrs(study.folder, "--metrics", "RR", "--on", "CC", *words).values()
    assert on_cc["stored"] == 1
    (value,) = (
        row[4] for row in metric_rows(study) if row[2] == "CC" and "RR" in row[3] and row[4]
    )
    assert value == pytest.approx(100 / 3)
    with pytest.raises(StudyError, match="'retrieval', which is not a construct"):
        ccrs(study.folder, "--metrics", "F1", "--on", "retrieval")
    with pytest.raises(StudyError, match="--qrels FILE"):
        ccrs(study.folder, "--metrics", "RR", "--on", "CC")
    with pytest.raises(StudyError, match="metrics of retrieval only"):
        ccrs(study.folder, "--metrics", "F1", "--qrels", qrels)


def test_corrected_judgments_replace_earlier_ones(study: Study, tmp_path: Path) -> None:
    passages = tuple(PassageRow(text=f"{name}.", document=name) for name in ("d1", "d2"))
    row = ResponseRow(query_id="q", query="?", response="x", system="A", passages=passages)
    import_rows(study, [LocatedRow(1, row)], source="m", sha256="m", importer="responses")
    qrels = tmp_path / "judged.txt"
    words = (study.folder, "--metrics", "RR", "--qrels", qrels)

    def measured(text: str) -> tuple[str, dict[str, int], dict[str, float]]:
        qrels.write_text(text)
        [(name, counts)] = ccrs(*words).items()
        return name, counts, {str(row[3]): float(str(row[4])) for row in metric_rows(study)}

    first, counts, values = measured("q 0 d1 1\n")
    assert first.startswith("RR judged@")
    assert values == {first: 1.0}
    # The order of lines and the format are no correction.
    assert measured("query_id,document,grade\nq,d1,1\n")[:2] == (
        first,
        {**counts, "stored": 0, "existing": 1},
    )
    second, counts, values = measured("q 0 d2 1\n")
    assert (counts["stored"], counts["differing"]) == (1, 0)
    assert values == {second: 0.5}
    left_out = study_status(study).left_out
    assert left_out == {"measured with an earlier state of relevance judgments or of a model": 1}
    response = str(metric_rows(study)[0][0])
    shown = CliRunner().invoke(cli, ["measure", "show", str(study.folder), response]).output
    assert second in shown
    assert first not in shown
    # The correction is taken back: the first judgments are the ones that were used last.
    assert measured("q 0 d1 1\n")[2] == {first: 1.0}


def test_a_suite_that_asks_a_model_is_pointed_to_its_command(study: Study) -> None:
    fill(study, 1)
    done = in_process("measure", study.folder, "--metrics", "ragas")
    assert done.returncode != 0
    assert "use `ccrs judge STUDY --metric ragas` instead" in " ".join(done.stderr.split())


def test_a_dry_run_counts_and_stores_nothing(study: Study) -> None:
    incomplete(study)
    dry = ccrs(study.folder, "--metrics", "ROUGE-1, F1", "--dry-run")
    assert metric_rows(study) == []
    assert dry == ccrs(study.folder, "--metrics", "ROUGE-1", "--metrics", "F1")
    assert set(dry) == {"ROUGE-1", "F1"}


def test_an_interrupted_call_is_completed_and_each_text_measured_once(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class KilledError(Exception):
        pass

    def killed(done: int, total: int) -> None:
        assert (done, total) == (4, 10)
        raise KilledError

    incomplete(study)
    with Study.create(tmp_path / "whole") as whole:
        incomplete(whole)
        measure_study(whole, ["lexical"])
        expected = metric_rows(whole)
    monkeypatch.setattr(pages, "_PAGE", 1)
    with pytest.raises(KilledError):
        measure_study(study, ["lexical"], advance=killed)
    assert 0 < len(metric_rows(study)) < len(expected)
    compared = []
    compare = RougeL.compare
    monkeypatch.setattr(RougeL, "compare", lambda *args: compared.append(args) or compare(*args))
    measure_study(study, ["lexical"])
    assert metric_rows(study) == expected
    # One that was stored, and one of each other text.
    assert len(compared) == 3


def test_values_stand_for_the_named_constructs(study: Study) -> None:
    fill(study, 1)
    ccrs(study.folder, "--metrics", "ROUGE-L", "--on", "IR,QR")
    assert {row[2] for row in metric_rows(study)} == {"IR", "QR"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--metrics", "rouge"], "Unknown metric 'rouge'"),
        (["--metrics", "similarty"], "Did you mean 'similarity'"),
        (["--metrics", "ccrs"], "asks a model"),
        (["--metrics", "F1", "--on", "accuracy"], "'accuracy', which is not a construct"),
        (["--metrics", ","], "no metric"),
    ],
)
def test_what_cannot_be_measured_is_refused_with_the_remedy(
    study: Study, words: list[str], message: str
) -> None:
    fill(study, 1)
    with pytest.raises(StudyError, match=message):
        ccrs(study.folder, *words)
    assert metric_rows(study) == []


def test_bleu_without_its_package_names_the_extra(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(study, 1)
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    with pytest.raises(StudyError, match=r"ccrs-study\[metrics\]"):
        ccrs(study.folder, "--metrics", "lexical")


@pytest.mark.parametrize("group", ["measure", "judge"])
def test_a_misspelled_command_is_no_folder(group: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, [group, "shwo", "s", "q1-A"])
    assert done.exit_code == 2
    assert "'shwo' is neither a folder nor a command. Did you mean 'show'?" in done.output
    (tmp_path / "shwo").mkdir()
    done = CliRunner().invoke(cli, [group, str(tmp_path / "shwo"), "--nothing"])
    assert "No such option" in done.output
    usage = CliRunner().invoke(cli, [group, "--help"]).output.splitlines()[0]
    assert usage.endswith(f"{group} STUDY [OPTIONS] or COMMAND [ARGS]...")


def test_suites_leave_out_variants_which_have_names() -> None:
    in_suites = {name for names in SUITES.values() for name in names}
    variants = ("precision-ranked", "NDCG-exp", "BERTScore-P", "BERTScore-R")
    variants += ("NLI-hallucination-max", "NLI-faithfulness-joined")
    assert not in_suites & {*variants}
    assert {*in_suites, *variants} == {*WITHOUT_PROMPTS}
    [option] = [each for each in measure_run.params if each.name == "metrics"]
    assert isinstance(option, click.Option)
    assert all(name in str(option.help) for name in WITHOUT_PROMPTS)
