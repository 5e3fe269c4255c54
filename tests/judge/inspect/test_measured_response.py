"""`ccrs measure show`: one response with all that metrics measured, and what it rests on."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import tomlkit
from click.testing import CliRunner

from judge import (
    judge_metrics,
    judge_study,
    measure_study,
    show_measurements,
    show_response,
    show_run,
)
from judge.metrics.ragchecker import RagChecker
from judge.metrics.registry import PROMPTED_SUITES, load_metric
from judge.metrics.trulens import TruLens
from judge.protocol.exchange import Answer
from study import Study, StudyError
from study.cli.root import cli
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, ResponseRow
from tests.judge.small_studies import Scripted, ScriptedSettings, always, store

RESPONSE = "It opens at 8. Dogs stay out."
PASSAGES = ["We open at 8.", "From 8, no dogs.", "Cats \x1b[2J."]
SUITES = ScriptedSettings(metric="ragchecker,ragchecker-together", model="m")


def answer(prompt: str) -> Answer:
    """List sentences as claims; those on dogs follow from texts on dogs."""
    if "JSON array" in prompt:
        text = prompt.rsplit("Text:\n", 1)[1]
        return Answer(json.dumps([f"{part.strip(' .')}." for part in text.split(". ")]))
    text, claims = prompt.rsplit("\n\nClaims:\n", 1)
    claimed = claims.split("\n")
    if "list of the numbers of these passages" in prompt:
        numbers = {str(n): [1, 2][: 1 + ("8" in c)] for n, c in enumerate(claimed, 1)}
        return Answer(json.dumps(numbers))
    found = {str(n): "entailed" if "8" in c and "8" in text.rsplit(":\n", 1)[1] else "neutral"
             for n, c in enumerate(claimed, 1)}  # fmt: skip
    if "Cats" in text:
        found.popitem()  # one label fewer
    return Answer(json.dumps(found))


@pytest.fixture
def measured(any_study: Study, scripted: type[Scripted]) -> Study:
    scripted.answer = staticmethod(answer)
    store(
        any_study,
        {
            "query_id": "q",
            "query": "When?",
            "references": ["At 8."],
            "system": "A",
            "response": RESPONSE,
            "response_id": "r",
            "passages": PASSAGES,
        },
    )
    judge_metrics(any_study, SUITES)
    measure_study(any_study, ["F1"])
    return any_study


def test_the_page_has_values_claims_labels_passages_and_answers(measured: Study) -> None:
    page = "\n".join(show_measurements(measured, "r").lines())
    for text in (
        "passage 3:\n    | Cats \\x1b[2J.\n",
        "AC         50  (1 of 2)\n",
        # The check by the third passage has one label fewer.
        "  m ragchecker-faithfulness                  CC         missing, labels_too_few (labels: "
        "the answer has nothing for some of the items)\n",
        "  F1                                         AC         44.44\n",
        "\nm ragchecker:\n"
        "  claims of the response:\n"
        "    - It opens at 8.\n"
        "        entailed: passages 1, 2, the reference\n"
        "        neutral: passage 3\n"
        "    - Dogs stay out.\n"
        "        neutral: passages 1, 2, the reference\n"
        "        (no label): passage 3\n"
        "  claims of the reference:\n",
        '    check (claims of the response, passage 3): {"1": "neutral"}\n',
        "\nm ragchecker-together:\n",
        "    - Dogs stay out.\n        neutral: the reference\n        entailed: passage 1\n",
        '    check_together (claims of the response, the passages): {"1": [1, 2], "2": [1]}\n',
    ):
        assert text in page
    # Prompts that metrics share are there once: claims of two texts, and checks by four others.
    answers = show_measurements(measured, "r", ["ragchecker"]).evidence[0].answers
    assert len(answers) == 2 + (1 + 3) + (1 + 3)
    shown = show_response(measured, "m ragchecker-together-faithfulness", "r").lines()
    assert "        entailed: passages 1, 2" in shown
    assert "  prompt of the step check_together (claims of the response, the passages):" in shown
    broken = show_response(measured, "m ragchecker-faithfulness", "r").lines()
    assert any("labels_too_few (labels: the answer has nothing" in line for line in broken)
    run = show_run(measured, "m ragchecker-faithfulness").lines()
    assert any("1 labels_too_few (labels: the answer has nothing" in line for line in run)


def test_metrics_are_chosen_and_the_latest_run_counts(measured: Study) -> None:
    later = ScriptedSettings(metric="ragchecker-precision", model="m", name="warm", temperature=1)
    judge_study(measured, later)
    shown = show_measurements(measured, "r", ["ragchecker-precision,lexical"])
    assert [each.scorer for each in shown.measurements] == ["warm", "EM", "F1"]
    assert [suite.runs for suite in shown.evidence] == ["warm"]
    assert shown.notes == [
        "Earlier runs of these metrics are not shown ('m ragchecker-precision'): ccrs judge show "
        f"{measured.folder} RUN --response r."
    ]
    with pytest.raises(StudyError, match=r"no response 'q'\. Its ids are such as 'r'"):
        show_measurements(measured, "q")


def test_a_metric_without_values_is_named_with_its_command(measured: Study) -> None:
    remedy = f"ccrs judge {measured.folder} --metric ragas --base-url URL --model NAME."
    with pytest.raises(StudyError) as error:
        show_measurements(measured, "r", ["ragas"])
    assert "not been measured by ragas. Measured are: EM, F1, ragch" in str(error.value)
    assert str(error.value).endswith(f"Measure it: {remedy}")
    with pytest.raises(StudyError, match=r"Measure it: ccrs measure .* --metrics NDCG@10"):
        show_measurements(measured, "r", ["NDCG@10"])
    assert show_measurements(measured, "r", ["F1,ragas"]).notes == [
        f"Not measured by ragas: {remedy}"
    ]
    with pytest.raises(StudyError, match=r"metric 'ragcheker'\. Did you mean 'ragchecker'"):
        show_measurements(measured, "r", ["F1,ragcheker"])
    store(measured, {"query_id": "q", "query": "When?", "system": "B", "response": "Never.",
                     "response_id": "q-B"})  # fmt: skip
    with pytest.raises(StudyError, match=r"--metrics F1, or ccrs judge .* ragchecker"):
        show_measurements(measured, "q-B")


def test_values_for_an_earlier_version_of_a_construct_are_not_shown(measured: Study) -> None:
    constructs = [c.model_dump(mode="json", exclude_defaults=True) for c in
                  measured.config.constructs]  # fmt: skip
    for construct in constructs:
        construct["question"] += " Really?" if construct["key"] == "CC" else ""
    settings = measured.folder / "study.toml"
    settings.write_text(settings.read_text() + tomlkit.dumps({"constructs": constructs}))
    with Study.open(measured.folder) as study:
        shown = show_measurements(study, "r")
        assert {each.construct for each in shown.measurements} == {"AC", "IR", "retrieval"}
        assert [note[:40] for note in shown.notes] == ["Measured for an earlier version of CC on"]
        with pytest.raises(StudyError, match="for an earlier version of CC only, and not"):
            show_measurements(study, "r", ["ragchecker-faithfulness"])


def test_a_replaced_response_is_not_measured_any_more(any_study: Study) -> None:
    row = {"query_id": "q", "query": "When?", "references": ["At 8."], "system": "A"}
    for text in ("At 8.", "At 9."):
        located = [LocatedRow(1, ResponseRow(**row, response=text, response_id="r"))]
        import_rows(any_study, located, source=text, sha256=text, importer="r", revise=True)
    measure_study(any_study, ["F1"])
    assert show_measurements(any_study, "r").text == "At 9."
    with pytest.raises(StudyError, match="A later response replaced it, so it is not measured"):
        show_measurements(any_study, "r@1")


def test_a_metric_that_is_not_installed_and_repeats_are_noted(
    measured: Study, scripted: type[Scripted], tmp_path: Path
) -> None:
    later = {"model": "m", "repeats": 2, "temperature": 1.0}
    judge_study(measured, ScriptedSettings(metric="ragchecker-recall", name="twice", **later))
    [note] = show_measurements(measured, "r", ["ragchecker-recall"]).notes[:1]
    assert note == (
        "Claims and answers are those of the first of 2 repeats; the others: ccrs judge show "
        f"{measured.folder} RUN --response r."
    )
    source = Path(__file__).parents[1] / "metrics" / "faithfulness.py"
    for name in (source, source.with_suffix(".toml")):
        (tmp_path / name.name).write_text(name.read_text())
    scripted.answer = always(Answer("yes"))
    judge_study(measured, ScriptedSettings(metric=str(tmp_path / source.name), name="f"))
    assert show_measurements(measured, "r", ["faithfulness"]).notes == [
        "The metric 'faithfulness' is not installed, so claims and answers are not shown: name "
        "its file, --metrics FILE.py."
    ]


def test_prompts_of_another_version_are_noted_once(
    measured: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompts = replace(RagChecker.prompts, steps=TruLens.prompts.steps)
    for key in PROMPTED_SUITES["ragchecker"]:
        monkeypatch.setattr(type(load_metric(key)), "prompts", prompts)
    shown = show_measurements(measured, "r", ["ragchecker"])
    [note] = shown.notes
    assert note.startswith("The prompts ragchecker-own-v1 with the hash ")
    assert ", by ragchecker, are neither installed nor in the study" in note
    assert shown.measurements


def test_any_answer_of_a_model_can_be_shown(any_study: Study, scripted: type[Scripted]) -> None:
    answers = {
        "x1": '["Half: \\ud83d."]',
        "x2": '["Nothing: \\u0000 \\u001b[2J."]',
        "x3": "1. One.\n2. Two.<|im_end|>",
        "x4": "",
    }
    for key in answers:
        store(any_study, {"query_id": key, "query": "When?", "references": ["At 8."],
                          "system": "A", "response": f"{key}.", "response_id": key})  # fmt: skip

    def said(prompt: str) -> Answer:
        if "JSON array" not in prompt:
            claims = prompt.rsplit("Claims:\n", 1)[1].split("\n")
            return Answer("\n".join(f"{n}: entailed" for n, _ in enumerate(claims, 1)))
        return Answer(answers[prompt[-3:-1]])

    scripted.answer = staticmethod(said)
    judge_study(any_study, ScriptedSettings(metric="ragchecker-precision", model="m"))
    pages = {key: "\n".join(show_measurements(any_study, key).lines()) for key in answers}
    assert "missing, claims_not_text (claims: the answer lists something that" in pages["x1"]
    assert "    - Nothing: \\x00 \\x1b[2J.\n        entailed: the reference\n" in pages["x2"]
    assert "    - Two.\n        entailed: the reference\n" in pages["x3"]
    assert "    claims (the response): 1. One.\\n2. Two.<|im_end|>\n" in pages["x3"]
    assert "missing, claims_empty (claims: the answer is empty)" in pages["x4"]
    assert pages["x4"].endswith("  raw answers:\n    claims (the response): (no text)")
    for page in pages.values():
        page.encode()


def test_the_command_is_found_among_those_of_measure(measured: Study) -> None:
    folder = str(measured.folder)
    done = CliRunner().invoke(cli, ["measure", "show", folder, "r", "--metrics", "F1", "--json"])
    assert done.exit_code == 0, done.output
    shown = json.loads(done.output)
    assert (shown["measurements"][0]["scorer"], shown["measurements"][0]["construct"]) == (
        "F1",
        "AC",
    )
    assert shown["passages"][2] == "Cats \x1b[2J."
    # Without the name of a command, `run` is meant.
    done = CliRunner().invoke(cli, ["measure", folder, "--metrics", "EM", "--dry-run"])
    assert done.exit_code == 0, done.output
    assert done.output.startswith("EM: ")
