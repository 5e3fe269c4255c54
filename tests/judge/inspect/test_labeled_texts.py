"""Claims of metrics in steps in the report, next to the sentences that people marked."""

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from judge import judge_metrics
from judge.inspect.labeled_texts import TextWithLabels, labeled_texts
from judge.protocol.exchange import Answer
from study import Study
from study.cli.root import cli
from study.importing.file_import import import_file
from tests.judge.small_studies import Scripted, ScriptedSettings, store

pytestmark = pytest.mark.usefixtures("without_drawing")

RESPONSE = "It opens at 8. Dogs <b>stay</b> out."
SUITES = ScriptedSettings(
    metric="ragchecker-faithfulness,ragchecker-hallucination,ragas-faithfulness,ares", model="m"
)


def answer(prompt: str) -> Answer:
    if "JSON array" in prompt:
        text = prompt.rsplit("\n\n", 1)[1].split("\n", 1)[1]
        claims = [part.strip() for part in text.split(".") if part.strip()]
        # As an endpoint wraps a list of a schema.
        return Answer(json.dumps({"claims": claims} if "claims" in prompt else claims))
    if "JSON object" in prompt:
        block = prompt.rsplit("\n\n", 1)[1].split("\n")[1:]
        words = ("supported", "unsupported") if "supported" in prompt else ("entailed", "neutral")
        return Answer(json.dumps({str(n): words["Dogs" in x] for n, x in enumerate(block, 1)}))
    return Answer("Yes")


@pytest.fixture
def judged(any_study: Study, scripted: type[Scripted], tmp_path: Path) -> Study:
    scripted.answer = staticmethod(answer)
    rows = [
        {
            "query_id": f"q{n}",
            "query": "When?",
            "references": ["At 8."],
            "system": "A",
            "response": RESPONSE if n < 5 else f"Open {n}.",
            "response_id": f"r{n}",
            "passages": ["We open at 8.", f"No dogs. {n}"],
        }
        for n in range(6)
    ]
    store(any_study, *rows)
    judge_metrics(any_study, SUITES)
    with (tmp_path / "ratings.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["response_id", "construct", "scorer", "scorer_kind", "value"])
        for n in range(6):
            writer.writerows([f"r{n}", "CC", rater, "human", 40 + n] for rater in ("ann", "ben"))
        # Responses of two constructs count once.
        writer.writerows([f"r{n}", "QR", "ann", "human", 40 + n] for n in range(2))
    import_file(any_study, tmp_path / "ratings.csv")
    marks = [
        {"start": RESPONSE.index("Dogs"), "end": len(RESPONSE), "text": RESPONSE[15:]},
    ]
    lines = [
        {"response_id": "r3", "construct": "CC", "scorer": rater, "scorer_kind": "human",
         "marks": of}
        for rater, of in (("ann", marks), ("ben", []))
    ]  # fmt: skip
    (tmp_path / "marks.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    import_file(any_study, tmp_path / "marks.jsonl")
    return any_study


def test_claims_have_the_labels_of_all_metrics_that_share_them(judged: Study) -> None:
    runs = [f"m {key}" for key in ("ragchecker-faithfulness", "ragchecker-hallucination",
                                   "ragas-faithfulness", "ares-answer-faithfulness")]  # fmt: skip
    found = labeled_texts(judged, [*runs, "no run"], [("CC", "r3"), ("CC", "r9"), ("QR", "r3")])
    assert list(found) == [("CC", "r3")]
    people = [text for text in found["CC", "r3"] if text.by == "people"]
    assert people == [
        TextWithLabels("people", "sentence", "It opens at 8.", ()),
        TextWithLabels("people", "sentence", "Dogs <b>stay</b> out.", ("marked by 1 of 2",)),
    ]
    claims = {text.text: text for text in found["CC", "r3"] if "ragchecker" in text.by}
    assert list(claims) == ["It opens at 8", "Dogs <b>stay</b> out"]
    claim = claims["Dogs <b>stay</b> out"]
    assert claim.of == "claims of the response"
    assert claim.labels == ("neutral: passages 1, 2, the reference",)
    statements = [text for text in found["CC", "r3"] if "ragas" in text.by]
    assert [text.labels for text in statements] == [
        ("supported: the passages",), ("unsupported: the passages",)
    ]  # fmt: skip
    assert labeled_texts(judged, ["m ares-answer-faithfulness"], [("CC", "r3")]) == {}


def store_one(study: Study) -> None:
    store(
        study,
        {
            "query_id": "q",
            "query": "When?",
            "references": ["At 8."],
            "system": "A",
            "response": RESPONSE,
            "response_id": "r",
            "passages": ["We open at 8.", "From 8.", "No dogs."],
        },
    )


def test_runs_under_other_conditions_have_claims_apart(
    any_study: Study, scripted: type[Scripted]
) -> None:
    store_one(any_study)
    suite = ScriptedSettings(metric="ragchecker-faithfulness,ragchecker-hallucination", model="m")
    scripted.answer = staticmethod(answer)
    first = judge_metrics(any_study, suite)
    scripted.answer = staticmethod(
        lambda prompt: Answer(str(answer(prompt).text).replace("entailed", "neutral"))
    )
    warm = {"metric": "ragchecker-faithfulness", "name": "warm", "temperature": 0.7}
    later = judge_metrics(any_study, suite.model_copy(update=warm))
    runs = [outcome.run for outcome in (*first, *later)]
    found = labeled_texts(any_study, runs, [("CC", "r")])["CC", "r"]
    assert [(text.by, text.labels) for text in found if "Dogs" not in text.text] == [
        ("m ragchecker", ("entailed: passages 1, 2, 3, the reference",)),
        ("warm", ("neutral: passages 1, 2, 3",)),
    ]


def test_lists_of_passages_are_labels_in_words(any_study: Study, scripted: type[Scripted]) -> None:
    store_one(any_study)

    def together(prompt: str) -> Answer:
        if "list of the numbers of these passages" not in prompt:
            return answer(prompt)
        before = prompt[: prompt.index("From 8.")]
        return Answer(json.dumps({"1": [before.count("\n[")], "2": []}))

    scripted.answer = staticmethod(together)
    metrics = "ragchecker-together-faithfulness,ragchecker-together-hallucination"
    settings = ScriptedSettings(metric=metrics, model="m", shuffle_passages=1)
    runs = judge_metrics(any_study, settings)
    alone = judge_metrics(any_study, ScriptedSettings(metric="ragchecker-faithfulness", model="m"))
    names = [outcome.run for outcome in (*runs, *alone)]
    found = labeled_texts(any_study, names, [("CC", "r")])["CC", "r"]
    # Whatever its number in the prompt, where passages are shuffled.
    assert [text.labels for text in found if text.by == "m ragchecker-together"] == [
        ("entailed: passage 2, the reference",),
        ("entailed by no passage", "neutral: the reference"),
    ]
    # Labels that were asked passage by passage may differ from these.
    assert {text.by for text in found} == {"m ragchecker-together", "m ragchecker-faithfulness"}


def test_the_report_has_a_few_of_them_and_the_table_more(judged: Study, tmp_path: Path) -> None:
    out = tmp_path / "report"
    words = ["report", str(judged.folder), "--out", str(out), "--no-verify", "--resamples", "100"]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    page = (out / "report.html").read_text(encoding="utf-8")
    part = page.split('id="table-labeled-claims"')[1].split("</section>")[0]
    assert "3 of 6 responses" in part
    assert "Dogs &lt;b&gt;stay&lt;/b&gt; out." in part
    assert "marked by 1 of 2" in part
    assert "neutral: passages 1, 2, the reference" in part
    with (out / "tables" / "labeled-claims.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    # The marked one comes first, then those with the largest difference.
    keys = list(dict.fromkeys(row["response_id"] for row in rows))
    assert keys[0] == "r3"
    assert sorted(keys) == [f"r{n}" for n in range(6)]
