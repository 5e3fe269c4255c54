"""OpenQA-eval NQ301: short answers of 12 systems to 301 questions, with human verdicts.

Source: Kamalloo, Dziri, Clarke and Rafiei, "Evaluating Open-Domain Question Answering in the Era
of Large Language Models", ACL 2023.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from study.datasets.dataset_source import Contents, Dataset, TieBreak
from study.datasets.lexical import exact_match, token_f1
from study.datasets.openqa_accuracy import openqa_table1
from study.datasets.openqa_files import (
    RatedAnswer,
    SystemOutput,
    rated_answers,
    system_outputs,
)
from study.datasets.openqa_links import LinkedAnswer, link
from study.datasets.openqa_source import CONSTRUCT, SETTINGS, SOURCE
from study.importing.rows import LocatedRow, ResponseRow, ScoreRow
from study.types import ScorerKind

if TYPE_CHECKING:
    from study.study import Study

_VERDICT = {"Yes": 1.0, "No": 0.0}
_LEADING_VERDICT = re.compile(r"\s*(yes|no)\b", re.IGNORECASE)


def leading_verdict(reply: str) -> float | None:
    """Return 1 or 0 for a reply that begins with yes or no; None for any other."""
    found = _LEADING_VERDICT.match(reply)
    return None if found is None else _VERDICT[found[1].capitalize()]


def contents(files: Mapping[str, bytes]) -> Contents:
    """Return the data set's rows from the bytes of its files, by name.

    Responses are the rated answers, and the outputs that match none of them. Every response has
    EM and F1; the verdicts of people and judges are there for the rated ones.
    """
    answers = rated_answers(files)
    query_ids = {answer.question: f"q{int(answer.question_id):03d}" for answer in answers}
    outputs = list(system_outputs(files, query_ids))
    references, own = common_references(outputs)
    linked, rules = link(answers, outputs)
    responses = [
        placed
        for answer in linked
        for placed in _responses(answer, query_ids[answer.question], references[answer.question])
    ]
    scores = [
        LocatedRow(answer.row, score)
        for answer in linked
        for score in _scores(answer, references[answer.question])
    ]
    return Contents(
        rows=[*responses, *scores],
        tie_breaks=[
            TieBreak("annotator3", answer.key, CONSTRUCT, _VERDICT[answer.rated.annotators[2]])
            for answer in linked
            if answer.rated is not None and answer.rated.annotators[2]
        ],
        rules={"rated answers, each a response": len(answers), **rules},
        left_out={
            "references that not every system's file has (EviGen's repairs broken characters)": own
        },
    )


def common_references(
    outputs: Iterable[SystemOutput],
) -> tuple[dict[str, tuple[str, ...]], int]:
    """Return the references that all files give to a question, and how many they do not share.

    One file has repaired copies of references whose characters were broken by a wrong encoding;
    the published figures of the other systems do not count them.
    """
    given: dict[str, list[tuple[str, ...]]] = {}
    for output in outputs:
        given.setdefault(output.question, []).append(output.gold)
    common = {
        question: tuple(text for text in lists[0] if all(text in other for other in lists))
        for question, lists in given.items()
    }
    every = sum(len({text for gold in lists for text in gold}) for lists in given.values())
    return common, every - sum(map(len, common.values()))


def _responses(
    answer: LinkedAnswer, query_id: str, references: Sequence[str]
) -> Iterator[LocatedRow]:
    """Yield a row for each system that gave the answer; one without a system if none did."""
    given: list[tuple[int, str | None]] = [(o.line, o.system) for o in answer.outputs]
    for place, system in given or [(answer.row, None)]:
        row = ResponseRow(
            query_id=query_id,
            query=answer.question,
            response=answer.text,
            response_id=answer.key,
            system=system,
            references=tuple(references),
        )
        yield LocatedRow(place, row)


def _scores(answer: LinkedAnswer, references: Sequence[str]) -> Iterator[ScoreRow]:
    yield _score(answer, "EM", "metric", exact_match(answer.text, references))
    yield _score(answer, "F1", "metric", token_f1(answer.text, references))
    if answer.rated is not None:
        yield from _verdicts(answer, answer.rated)


def _verdicts(answer: LinkedAnswer, rated: RatedAnswer) -> Iterator[ScoreRow]:
    for scorer, verdict in zip(("annotator1", "annotator2"), rated.annotators, strict=False):
        yield _score(answer, scorer, "human", _VERDICT.get(verdict), "blank")
    yield _score(answer, "Acceptable?", "adjudicated", _VERDICT[rated.acceptable])
    yield _score(answer, "gpt-4", "judge", leading_verdict(rated.gpt_4), "unparsed")
    yield _score(answer, "text-davinci-003", "judge", leading_verdict(rated.davinci), "unparsed")
    yield _score(answer, "BEM", "metric", rated.bem)


def _score(
    answer: LinkedAnswer,
    scorer: str,
    kind: ScorerKind,
    value: float | None,
    missing_reason: str | None = None,
) -> ScoreRow:
    return ScoreRow(
        response_id=answer.key,
        construct_key=CONSTRUCT,
        scorer=scorer,
        scorer_kind=kind,
        value=value,
        missing_reason=missing_reason if value is None else None,
    )


def _table1(study: "Study") -> list[str]:
    accuracy = openqa_table1(study).sort_values("Human", ascending=False)
    return [
        "Accuracy in percent, as in Table 1 of Kamalloo et al. 2023, from this study:",
        *accuracy.to_string(float_format="%.1f", index_names=False).splitlines(),
    ]


DATASET = Dataset("openqa-nq301", SOURCE, SETTINGS, contents, published=_table1)
