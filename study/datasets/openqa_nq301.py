"""OpenQA-eval NQ301: short answers of 12 systems to 301 questions, with human verdicts.

Source: Kamalloo, Dziri, Clarke and Rafiei, "Evaluating Open-Domain Question Answering in the Era
of Large Language Models", ACL 2023.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlalchemy import select

from study.datasets.dataset_source import Contents, TieBreak, declared_dataset
from study.datasets.lexical import exact_match, normalized, token_f1
from study.datasets.openqa_files import (
    RatedAnswer,
    SystemOutput,
    rated_answers,
    system_outputs,
)
from study.importing.rows import LocatedRow, ResponseRow, ScoreRow
from study.schema.tables import queries, responses
from study.types import ScorerKind

if TYPE_CHECKING:
    from pandas import DataFrame, Series

    from study.study import Study


CONSTRUCT = "AC"

VERDICT_GIVERS = {
    "BEM": "BEM",
    "InstructGPT-eval": "text-davinci-003",
    "Human": "Acceptable?",
}
"""Column of the table to scorer of the study. BEM accepts from a probability of one half."""


def openqa_table1(study: "Study") -> "DataFrame":
    """Return the accuracy of each system in percent, by each way of telling it.

    Returns
    -------
    Columns EM, F1, BEM, InstructGPT-eval and Human; one row for each system, by name; each a
    mean over the 301 questions.
    """
    import pandas as pd

    scores = study.score_table()
    scores = scores[(scores["construct"] == CONSTRUCT) & scores["system"].notna()]
    columns = {
        scorer: scores[scores["scorer"] == scorer].groupby("system")["value"].mean()
        for scorer in ("EM", "F1")
    }
    systems = scores[scores["scorer"] == "EM"].set_index("response_id")["system"]
    for column, scorer in VERDICT_GIVERS.items():
        matches = list_matches(study, scorer)
        columns[column] = systems.index.to_series().map(matches).groupby(systems.to_numpy()).mean()
    return 100 * pd.DataFrame(columns).rename_axis("system")


def list_matches(study: "Study", scorer: str) -> "Series[float]":
    """Return for each response whether the references match it that `scorer`'s verdicts leave.

    References are those of the query, and the responses that `scorer` accepts (a value of at
    least one half), without the responses that it rejects, written as they are or in lower
    case.

    Returns
    -------
    1 or 0 by response_id.
    """
    import pandas as pd

    scores = study.score_table()
    matches = scores[(scores["scorer"] == scorer) & scores["value"].notna()]
    verdicts = dict(zip(matches["response_id"], matches["value"] >= 0.5, strict=True))
    with study.read() as connection:
        rows = connection.execute(
            select(responses.c.key, responses.c.text, responses.c.query_id, queries.c.references)
            .join_from(responses, queries, responses.c.query_id == queries.c.id)
            .order_by(responses.c.id)
        ).all()
    references = {row.query_id: set(row.references) for row in rows}
    for row in rows:
        if verdicts.get(row.key) is True:
            references[row.query_id].add(row.text)
    for row in rows:
        if verdicts.get(row.key) is False:
            texts = references[row.query_id]
            texts.discard(row.text if row.text in texts else row.text.lower())
    return pd.Series({row.key: exact_match(row.text, references[row.query_id]) for row in rows})


PLAIN = "outputs that equal a rated answer letter by letter"
NORMALIZED = "outputs that equal a rated answer after SQuAD normalization"
NUMBER = "outputs that equal a rated answer as a number (a spreadsheet made 7 of 07)"
NONE = "outputs of {system} that match no rated answer: stored, unrated"
LIST = "outputs that are lists, of which the first element was rated"
NO_SYSTEM = "rated answers that match no output: stored, without a system"
TWICE = "an answer twice in the tables, distinguished by the outputs (1991 and 1991.)"
SPELLING = "answers that a table spells differently: joined by row, with the human table's spelling"


@dataclass
class LinkedAnswer:
    """A distinct answer to a question, with the systems that gave it."""

    key: str
    question: str
    text: str
    row: int
    """Row of the tables, or line of the first output where no rater saw it."""
    rated: RatedAnswer | None
    outputs: list[SystemOutput] = field(default_factory=list)


def link(
    answers: Sequence[RatedAnswer], outputs: Sequence[SystemOutput]
) -> tuple[list[LinkedAnswer], Counter[str]]:
    """Join outputs to rated answers.

    Returns
    -------
    The rated answers in the order of the tables (keys a0001 ...), then the outputs that match
    none (keys u0001 ...), and how often each rule was used.
    """
    by_question: dict[str, list[SystemOutput]] = {}
    for output in outputs:
        by_question.setdefault(output.question, []).append(output)
    answers_of: dict[str, dict[str, LinkedAnswer]] = {}
    rules = Counter(dict.fromkeys((PLAIN, NORMALIZED, NUMBER, LIST), 0))
    for answer in answers:
        text = answer.text
        question_answers = answers_of.setdefault(answer.question, {})
        if text in question_answers:
            text = _lost_spelling(answer, answers, by_question[answer.question])
            rules[TWICE] += 1
        key = f"a{answer.row - 1:04d}"
        question_answers[text] = LinkedAnswer(key, answer.question, text, answer.row, answer)
        rules[SPELLING] += answer.spelled_otherwise
    unrated: dict[tuple[str, str], LinkedAnswer] = {}
    for output in outputs:
        text = output.texts[0]
        rules[LIST] += len(output.texts) > 1
        matched = match(text, tuple(answers_of[output.question]))
        if matched is None:
            key = f"u{len(unrated) + 1:04d}"
            new = LinkedAnswer(key, output.question, text, output.line, None)
            unrated.setdefault((output.question, text), new).outputs.append(output)
            rules[NONE.format(system=output.system)] += 1
        else:
            answers_of[output.question][matched[0]].outputs.append(output)
            rules[matched[1]] += 1
    rated = [
        answer for question_answers in answers_of.values() for answer in question_answers.values()
    ]
    rules[NO_SYSTEM] = sum(not answer.outputs for answer in rated)
    return [*sorted(rated, key=lambda answer: answer.row), *unrated.values()], rules


def match(text: str, rated: Sequence[str]) -> tuple[str, str] | None:
    """Return the rated answer that matches `text`, and the rule of the match; None if none does.

    Of several that are equal after normalization, it is the one that differs only in case, else
    the first.
    """
    if text in rated:
        return text, PLAIN
    words = normalized(text)
    alike = [answer for answer in rated if normalized(answer) == words]
    if alike:
        folded = text.casefold()
        return next((a for a in alike if a.casefold() == folded), alike[0]), NORMALIZED
    value = _number(text)
    equal = [answer for answer in rated if value is not None and _number(answer) == value]
    return (equal[0], NUMBER) if equal else None


def _lost_spelling(
    answer: RatedAnswer, answers: Sequence[RatedAnswer], outputs: Sequence[SystemOutput]
) -> str:
    """Return the output that belongs to the second of two equal answers.

    It differs from the answer by what normalization removes, and no row of the table has its
    spelling: the table lost the difference.
    """
    rated = {other.text for other in answers if other.question == answer.question}
    return next(
        output.texts[0]
        for output in outputs
        if output.texts[0] not in rated and normalized(output.texts[0]) == normalized(answer.text)
    )


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


if TYPE_CHECKING:
    from study.study import Study

_VERDICT = {"Yes": 1.0, "No": 0.0}
_LEADING_VERDICT = re.compile(r"\s*(yes|no)\b", re.IGNORECASE)


def leading_verdict(reply: str) -> float | None:
    """Return 1 or 0 for a reply that begins with yes or no; None for any other."""
    verdict = _LEADING_VERDICT.match(reply)
    return None if verdict is None else _VERDICT[verdict[1].capitalize()]


def contents(files: Mapping[str, bytes]) -> Contents:
    """Return the data set's rows from the bytes of its files, by name.

    Responses are the rated answers, and the outputs that match none of them. Every response has
    EM and F1; the verdicts of people and judges are there for the rated ones.
    """
    answers = rated_answers(files)
    query_ids = {answer.question: f"q{int(answer.question_id):03d}" for answer in answers}
    outputs = list(system_outputs(files, query_ids))
    references, rare = common_references(outputs)
    linked, rules = link(answers, outputs)
    responses = [
        located
        for answer in linked
        for located in _responses(answer, query_ids[answer.question], references[answer.question])
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
            "references that not every system's file has (EviGen's repairs broken characters)": rare
        },
    )


def common_references(
    outputs: Iterable[SystemOutput],
) -> tuple[dict[str, tuple[str, ...]], int]:
    """Return the references that all files give to a question, and how many they do not share.

    One file has repaired copies of references whose characters were broken by a wrong encoding;
    the published figures of the other systems do not count them.
    """
    references: dict[str, list[tuple[str, ...]]] = {}
    for output in outputs:
        references.setdefault(output.question, []).append(output.gold)
    common = {
        question: tuple(text for text in lists[0] if all(text in other for other in lists))
        for question, lists in references.items()
    }
    every = sum(len({text for gold in lists for text in gold}) for lists in references.values())
    return common, every - sum(map(len, common.values()))


def _responses(
    answer: LinkedAnswer, query_id: str, references: Sequence[str]
) -> Iterator[LocatedRow]:
    """Yield a row for each system that gave the answer; one without a system if none did."""
    sources: list[tuple[int, str | None]] = [(o.line, o.system) for o in answer.outputs]
    for place, system in sources or [(answer.row, None)]:
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


DATASET = declared_dataset("openqa-nq301", contents, published=_table1)
