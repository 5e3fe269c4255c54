"""The manual's page on evidence, run as it is written, with an engine in this process."""

import json
import re
import shlex
import subprocess
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from analysis.cli.read_study import from_study
from analysis.pipeline.estimation import analyse
from judge.protocol.exchange import Answer
from study import Study, import_file
from study.cli.root import cli
from tests.benchmarks.ragchecker_prompts import claims_of
from tests.judge.scripted_encoder import ScriptedEncoder
from tests.judge.small_studies import Scripted
from tests.study.datasets.conftest import published_files
from tests.study.importing.test_wikieval import ITEMS, SETTINGS, write

MANUAL = Path(__file__).parents[3] / "data/manual"
TOKENS_A_WORD = 1.27
"""Of the data set's texts, with the tokenizer of Llama 3."""
SERVER = "--base-url http://localhost:8000/v1"


def blocks(page: str, heading: str) -> list[tuple[str, str]]:
    """Return the language and text of each block below a heading of a page."""
    text = (MANUAL / page).read_text(encoding="utf-8").split(f"\n## {heading}\n")[1]
    return re.findall(r"```(\w+)\n(.*?)```", text.split("\n## ")[0], re.DOTALL)


def follow(page: str, heading: str, folder: Path, study: Path, *fetch: str) -> list[str]:
    """Do what the blocks below a heading say, except reports; return the commands of ccrs."""
    done, place = [], folder
    for kind, text in blocks(page, heading):
        if kind == "toml":
            toml = study / "study.toml"
            toml.write_text(f"{toml.read_text()}\n{text}")
            place = folder
        for line in text.splitlines() if kind == "sh" else ():
            if line.startswith("ccrs report"):
                continue
            if line.startswith("cd "):
                place = place / line.removeprefix("cd ")
            elif line.startswith("ccrs "):
                place = folder
                words = shlex.split(line.replace(SERVER, "--engine scripted"))[1:]
                if words[0] == "fetch":
                    words += fetch
                else:
                    words = [str(study) if word == study.name else word for word in words]
                result = CliRunner().invoke(cli, words, catch_exceptions=False)
                assert result.exit_code in {0, 1}, f"{line}\n{result.output}"
                done.append(line)
            else:
                subprocess.run(line, shell=True, cwd=place, check=True)
    return done


def answer(prompt: str) -> Answer:
    """Answer any prompt of the page."""
    if "JSON array" in prompt:
        text = prompt.rsplit("Text:\n", 1)[1]
        return Answer(json.dumps(claims_of(text, TOKENS_A_WORD)))
    if "JSON object" in prompt:
        claims = prompt.rsplit("Claims:\n", 1)[1].split("\n")
        # A claim is entailed where the text has its longest word.
        text = prompt.split("Text:\n", 1)[1].split("Claims:\n", maxsplit=1)[0]
        found = [max(claim.split(), key=len) in text for claim in claims]
        return Answer(
            json.dumps({str(n): "entailed" if f else "neutral" for n, f in enumerate(found, 1)})
        )
    if "create one or more statements" in prompt:
        return Answer(f"1. {prompt.rsplit('answer: ', 1)[1]}")
    if "final verdict" in prompt:
        return Answer(f"Final verdict: {'No' if 'mayor' in prompt else 'Yes'}.")
    if "Generate a question" in prompt:
        return Answer("When was the bridge opened?")
    return Answer("90" if "1 and nothing else" in prompt else str(len(prompt) % 101))


def test_wikieval_by_ccrs_and_ragas(
    tmp_path: Path, scripted: type[Scripted], encoder: ScriptedEncoder
) -> None:
    scripted.answer = staticmethod(answer)
    assert SETTINGS is not None
    folder = tmp_path / "wikieval"
    with Study.create(folder, SETTINGS[1]) as study:
        import_file(study, write(tmp_path, ITEMS))
    assert len(follow("evidence.md", "WikiEval", tmp_path, folder)) == 2
    assert all("Output: Only print the score" in r.prompt for r in scripted.asked)
    assert len(follow("wikieval.md", "Ragas", tmp_path, folder)) == 1
    with Study.open(folder) as study:
        table = study.score_table()
    by = table.groupby(["scorer", "construct"], observed=True)["value"].count()
    counts = {key: int(number) for key, number in by.items()}
    assert counts == {
        ("CCRS", "answer_relevance"): 9,
        ("CCRS", "faithfulness"): 9,
        ("llama-3-70b ragas-answer-relevance", "answer_relevance"): 9,
        ("llama-3-70b ragas-faithfulness", "faithfulness"): 9,
    }
    assert encoder.asked
    inputs = from_study(folder, {})
    estimates = analyse(inputs.scores, inputs.preferences, inputs.options).estimates
    accuracy = {
        (e.scorers[0].split()[-1], e.constructs[0]): e.value
        for e in estimates.select("preference_accuracy")
    }
    # The answer with the mayor has no support, and the other has: right in all three.
    assert accuracy["ragas-faithfulness", "faithfulness"] == 1
    # All questions are alike, so that no cosine tells the answers apart.
    assert accuracy["ragas-answer-relevance", "answer_relevance"] == 0
    [published] = inputs.options.published_figures
    assert published.figures["Ragas (paper)"]["faithfulness"] == 0.95


@pytest.mark.slow
def test_ragchecker_and_ccrs_without_passages(tmp_path: Path, scripted: type[Scripted]) -> None:
    source = published_files("ragchecker_meta")
    scripted.answer = staticmethod(answer)
    scripted.at_a_time = 500
    folder = tmp_path / "ragchecker-meta"
    heading = "RAGChecker without passages"
    follow("evidence.md", heading, tmp_path, folder, str(folder), "--from", str(source))
    # The page states about 4,070 prompts: 829 lists of claims, and checks of five claims.
    assert 3900 < len(scripted.asked) < 4200
    lists = [request.prompt for request in scripted.asked if "JSON array" in request.prompt]
    assert len(lists) == len(set(lists)) == 829
    before = len(scripted.asked)
    follow("evidence.md", "CCRS on the same responses", tmp_path, folder)
    assert len(scripted.asked) - before == 2 * 549
    with Study.open(folder) as study:
        table = study.score_table()
    scored = pd.crosstab(table["scorer"], table["construct"])
    constructs = {"precision": "correctness", "recall": "completeness", "f1": "overall"}
    for name, construct in constructs.items():
        assert scored.loc[f"llama-3-70b ragchecker-{name}", construct] == 560
    precision = table[table["scorer"] == "llama-3-70b ragchecker-precision"]
    assert precision["missing_reason"].isna().all()
    assert scored.loc["CCRS", "completeness"] == 560
