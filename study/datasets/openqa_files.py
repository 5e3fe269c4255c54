"""The files of OpenQA-eval NQ301, read into one record for each rated answer and output.

The four tables have the same rows in the same order; their ids differ. Three spell an answer in
another way here and there (a spreadsheet turned 558 into a date), so rows are joined by position
and the spelling of the human table, which the raters worked on, is kept. Only the BEM table
quotes its fields; in the others a quotation mark is part of the answer.
"""

import csv
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

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
