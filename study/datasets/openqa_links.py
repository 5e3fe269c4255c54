"""Which rated answer an output of a system is.

The raters' table holds distinct answers without saying who gave them, spelled now as one system
spelled it, now as another, and changed in places by a spreadsheet (07 became 7). Some outputs in
the files are of another run than the rated one and match nothing; they stay unrated.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from study.datasets.lexical import normalized
from study.datasets.openqa_files import RatedAnswer, SystemOutput

PLAIN = "outputs that equal a rated answer letter by letter"
NORMALIZED = "outputs that equal a rated answer after SQuAD normalization"
NUMBER = "outputs that equal a rated answer as a number (a spreadsheet made 7 of 07)"
NONE = "outputs of {system} that match no rated answer: kept, unrated"
LIST = "outputs that are lists, of which the first element was rated"
NO_SYSTEM = "rated answers that match no output: kept, without a system"
TWICE = "an answer twice in the tables, told apart by the outputs (1991 and 1991.)"
SPELLING = "answers that some table spells otherwise: joined by row, the human table's kept"


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
    known: dict[str, dict[str, LinkedAnswer]] = {}
    rules = Counter(dict.fromkeys((PLAIN, NORMALIZED, NUMBER, LIST), 0))
    for answer in answers:
        text = answer.text
        of_question = known.setdefault(answer.question, {})
        if text in of_question:
            text = _lost_spelling(answer, answers, by_question[answer.question])
            rules[TWICE] += 1
        key = f"a{answer.row - 1:04d}"
        of_question[text] = LinkedAnswer(key, answer.question, text, answer.row, answer)
        rules[SPELLING] += answer.spelled_otherwise
    unrated: dict[tuple[str, str], LinkedAnswer] = {}
    for output in outputs:
        text = output.texts[0]
        rules[LIST] += len(output.texts) > 1
        found = match(text, tuple(known[output.question]))
        if found is None:
            key = f"u{len(unrated) + 1:04d}"
            new = LinkedAnswer(key, output.question, text, output.line, None)
            unrated.setdefault((output.question, text), new).outputs.append(output)
            rules[NONE.format(system=output.system)] += 1
        else:
            known[output.question][found[0]].outputs.append(output)
            rules[found[1]] += 1
    rated = [answer for of_question in known.values() for answer in of_question.values()]
    rules[NO_SYSTEM] = sum(not answer.outputs for answer in rated)
    return [*sorted(rated, key=lambda answer: answer.row), *unrated.values()], rules


def match(text: str, rated: Sequence[str]) -> tuple[str, str] | None:
    """Return the rated answer that `text` is, and the rule that says so; None if there is none.

    Of several that are equal after normalization, the one that differs in case alone is taken,
    else the first.
    """
    if text in rated:
        return text, PLAIN
    own = normalized(text)
    alike = [answer for answer in rated if normalized(answer) == own]
    if alike:
        folded = text.casefold()
        return next((a for a in alike if a.casefold() == folded), alike[0]), NORMALIZED
    value = _number(text)
    equal = [answer for answer in rated if value is not None and _number(answer) == value]
    return (equal[0], NUMBER) if equal else None


def _lost_spelling(
    answer: RatedAnswer, answers: Sequence[RatedAnswer], outputs: Sequence[SystemOutput]
) -> str:
    """Return the output that the second of two equal answers stands for.

    It differs from the answer by what normalization removes, and no row of the table spells it
    that way: the table lost the difference.
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
