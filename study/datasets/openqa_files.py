"""The files of OpenQA-eval NQ301: their source, the settings of the study, and the records in them.

The four tables have the same rows in the same order; their ids differ. Three spell an answer in
another way here and there (a spreadsheet turned 558 into a date), so rows are joined by position
and the spelling of the human table, which the raters worked on, is kept. Only the BEM table
quotes its fields; in the others a quotation mark is part of the answer.
"""

import csv
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from study.datasets.dataset_source import DatasetSource, SourceFile

CONSTRUCT = "AC"

_FILES = (
    SourceFile(
        "data/NQ301_BEM.tsv",
        "b755ff7fbad3b6909ba22ba5f45e9e01aef4512f1a1a5d3eb4124d4851efaf55",
        284_250,
    ),
    SourceFile(
        "data/NQ301_gpt-4.tsv",
        "90ac9b7d868726908802d42d8f846b2f61e8bda557c352d8188a8965d9437ac6",
        253_598,
    ),
    SourceFile(
        "data/NQ301_human.tsv",
        "45ea9fa6106eb3a094efef41de12ce5b0bc88522cf310bcdf99277d4d297890e",
        134_961,
    ),
    SourceFile(
        "data/NQ301_text-davinci-003.tsv",
        "becc5e8a146f3c8f646c4b31a05cab4436bdf31fb1f86367e61ebeeef79a27e3",
        229_107,
    ),
    SourceFile(
        "data/model_outputs/NQ301_text-davinci-003_fewshot-n64.jsonl",
        "5dec1f3909788782b818259d3ec5315ed0bd56e367a1e5ae25581c86d3f25656",
        45_399,
    ),
    SourceFile(
        "data/model_outputs/NQ301_text-davinci-003_zeroshot.jsonl",
        "cc24fab0f974916a691d0b169de259363d469d0330e4735af2efa905e97481c4",
        57_247,
    ),
    SourceFile(
        "data/model_outputs/NQ_ANCE-plus_FiD.jsonl",
        "83a5bdff696dc7de09c679bd41dc7dcf0dca99186932043669d4092a32763a83",
        502_984,
    ),
    SourceFile(
        "data/model_outputs/NQ_Contriever_FiD.jsonl",
        "4dadaf2327d64c67014807528053c6ae20c0766d07c246b02886c2427158a4af",
        502_643,
    ),
    SourceFile(
        "data/model_outputs/NQ_DPR.jsonl",
        "81655079becfd538e91bae4bfef933243036c0500d544be7c1b60c6846748e72",
        503_867,
    ),
    SourceFile(
        "data/model_outputs/NQ_EMDR2.jsonl",
        "98b0143d09d9464d58cbb762477150ad7435799fb07b9ab95981d026015dce30",
        505_563,
    ),
    SourceFile(
        "data/model_outputs/NQ_EviGen.jsonl",
        "6475d227cc29e1e4508c266dd98ebd2f6278b0363184c8075ce09165932bef07",
        505_027,
    ),
    SourceFile(
        "data/model_outputs/NQ_FiD-KD.jsonl",
        "f1c527cc85c21fe053e7f35efe7aaabf7eb17b1d1865a270aa0340176bb67533",
        502_477,
    ),
    SourceFile(
        "data/model_outputs/NQ_FiD.jsonl",
        "82602cfe0a6c5b075eabdc84a1aad527187a011d0944308a929889892bb84563",
        503_076,
    ),
    SourceFile(
        "data/model_outputs/NQ_GAR-plus_FiD.jsonl",
        "aed643290677e46b3922779975f3abd6b632516c2342681e0a06b76f983e3f3c",
        502_747,
    ),
    SourceFile(
        "data/model_outputs/NQ_R2D2.jsonl",
        "4c2ecaa22a565cca1462dde23f535212a06ac4a51bc1d576971c7c2bfed07299",
        501_561,
    ),
    SourceFile(
        "data/model_outputs/NQ_Rocketv2_FiD.jsonl",
        "0050a834cb9a07872e6a3e7742ba6ca0bfb0b39199a962f9d835a2fe8b86a0f7",
        502_915,
    ),
)

_MIT = """\
MIT License

Copyright (c) 2023 Ehsan

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
"""

SOURCE = DatasetSource(
    title="OpenQA-eval NQ301",
    repository="ehsk/OpenQA-eval",
    commit="8b9317d0f0c92b52e1c71c0168dff74b5f76a5f4",
    root="data",
    files=_FILES,
    license="MIT (the data set); its questions and references are of Natural Questions, "
    "Google, CC BY-SA 3.0",
    notice=_MIT,
    citation="Ehsan Kamalloo, Nouha Dziri, Charles L. A. Clarke, Davood Rafiei: Evaluating "
    "Open-Domain Question Answering in the Era of Large Language Models. ACL 2023, "
    "2023.acl-long.307. Questions: Kwiatkowski et al., Natural Questions, TACL 2019.",
)

SETTINGS = """\
# A public data set, imported by `ccrs fetch openqa-nq301`; see SOURCE.md.

name = "OpenQA-eval NQ301"
seed = 0

[[constructs]]
key = "AC"
name = "Answer Correctness"
question = "Is the response a correct answer to the question?"
anchors = { "0" = "not acceptable", "1" = "acceptable" }
sees = ["question", "response", "reference"]
rules = ["The references are examples: another correct answer is acceptable too."]
scale = { min = 0, max = 1, step = 1, level = "nominal" }

# Two people rated every answer (seven cells are blank). A third one rated where they disagreed,
# and some more; those values are stored as adjudicating ratings, outside the score table.
[scorers.annotator1]
kind = "human"

[scorers.annotator2]
kind = "human"

# The data set's final verdict, and the reference here.
[scorers."Acceptable?"]
kind = "adjudicated"

[scorers.gpt-4]
kind = "judge"

[scorers.text-davinci-003]
kind = "judge"

# Bulian et al. 2022: probability of being equivalent to a reference, the largest over them.
[scorers.BEM]
kind = "metric"
scale = { min = 0, max = 1, level = "interval" }

[scorers.EM]
kind = "metric"

[scorers.F1]
kind = "metric"
scale = { min = 0, max = 1, level = "ratio" }

[analysis]
reference = "adjudicated"
"""


HUMAN = "NQ301_human.tsv"
BEM = "NQ301_BEM.tsv"
GPT_4 = "NQ301_gpt-4.tsv"
DAVINCI = "NQ301_text-davinci-003.tsv"

SYSTEMS = {
    "NQ_DPR.jsonl": "DPR",
    "NQ_FiD.jsonl": "FiD",
    "NQ_ANCE-plus_FiD.jsonl": "ANCE+ & FiD",
    "NQ_Contriever_FiD.jsonl": "Contriever & FiD",
    "NQ_Rocketv2_FiD.jsonl": "RocketQAv2 & FiD",
    "NQ_FiD-KD.jsonl": "FiD-KD",
    "NQ_GAR-plus_FiD.jsonl": "GAR+ & FiD",
    "NQ_EviGen.jsonl": "EviGen",
    "NQ_EMDR2.jsonl": "EMDR2",
    "NQ_R2D2.jsonl": "R2-D2",
    "NQ301_text-davinci-003_zeroshot.jsonl": "InstructGPT zero-shot",
    "NQ301_text-davinci-003_fewshot-n64.jsonl": "InstructGPT few-shot",
}
"""File of outputs to the system's name."""


@dataclass(frozen=True)
class RatedAnswer:
    """A row of the tables: an answer with every verdict on it."""

    row: int
    """Row of the tables; their header is row 1."""
    question_id: str
    question: str
    text: str
    acceptable: str
    """The adjudicated verdict, "Yes" or "No"."""
    annotators: tuple[str, str, str]
    """"Yes", "No" or blank."""
    gpt_4: str
    davinci: str
    """What the judges replied."""
    bem: float
    """Probability of being equivalent to a gold answer, the largest over the gold answers."""
    spelled_otherwise: bool
    """Whether another table spells the answer differently."""


@dataclass(frozen=True)
class SystemOutput:
    """What a system answered to one of the rated questions."""

    line: int
    system: str
    question: str
    gold: tuple[str, ...]
    texts: tuple[str, ...]
    """One text; several where the system answered with a list."""


def rated_answers(files: Mapping[str, bytes]) -> list[RatedAnswer]:
    """Return the rated answers in the order of the tables."""
    tables = zip(
        _table(files[HUMAN], quoted=False),
        _table(files[BEM], quoted=True),
        _table(files[GPT_4], quoted=False),
        _table(files[DAVINCI], quoted=False),
        strict=True,
    )
    answers = []
    for row, (human, bem, gpt_4, davinci) in enumerate(tables, start=2):
        question_id, question, text, acceptable, *annotators = human
        first, second, third = annotators
        # The davinci table runs question and answer together, without a tab between them.
        spellings = {text, bem[3], gpt_4[2], davinci[1].removeprefix(question)}
        answers.append(
            RatedAnswer(
                row=row,
                question_id=question_id,
                question=question,
                text=text,
                acceptable=acceptable,
                annotators=(first, second, third),
                gpt_4=gpt_4[4],
                davinci=davinci[3],
                # Each pair is (not equivalent, equivalent).
                bem=max(equivalent for _, equivalent in json.loads(bem[5])),
                spelled_otherwise=len(spellings) > 1,
            )
        )
    return answers


def system_outputs(
    files: Mapping[str, bytes], questions: Collection[str]
) -> Iterator[SystemOutput]:
    """Yield the outputs to `questions`; most files contain the whole test set of 3,610."""
    for name, system in SYSTEMS.items():
        for line, text in enumerate(files[name].decode("utf-8").split("\n"), start=1):
            if not text.strip():
                continue
            data = json.loads(text)
            if data["question"] not in questions:
                continue
            prediction = data["prediction"]
            yield SystemOutput(
                line=line,
                system=system,
                question=data["question"],
                gold=tuple(data["answer"]),
                texts=(prediction,) if isinstance(prediction, str) else tuple(prediction),
            )


def _table(content: bytes, *, quoted: bool) -> Iterator[list[str]]:
    lines = content.decode("utf-8").rstrip("\n").split("\n")
    rows = csv.reader(lines, delimiter="\t") if quoted else (line.split("\t") for line in lines)
    next(rows)
    return rows
