"""What the page shows first: the answers by use, what decides them, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.decisions.records import Answer, Use, UseDecision
from analysis.render.answer_lines import AnswerLine, answer_lines, repeated_remarks
from analysis.render.decision_words import (
    COLUMNS,
    LIMITED,
    OF_THESE,
    TARGET_WORDS,
    UNSETTLED,
    USE_WORDS,
    corrected_sentence,
    in_one_cell,
)
from analysis.render.document import Document
from analysis.render.drawing import Figure
from analysis.render.opening import JudgeOpening
from analysis.render.opening_of_analysis import openings_of
from analysis.render.sentences import Fact, fact, in_words

#: A sign in addition to word and color.
SIGNS: dict[Answer, str] = {
    "yes": "✓", "likely": "↑", "open": "?", "unlikely": "↓", "no": "✕", "not_applicable": "–",
}  # fmt: skip

#: The figure of people's values against the judge's.
PICTURE = "against-humans"


@dataclass(frozen=True)
class ShownDecision:
    """One answer in words."""

    use: str
    answer: Answer
    word: str
    sentence: str
    settle: str | None
    column: str
    """The use as the table of answers calls it."""
    whom: str
    further: str


@dataclass(frozen=True)
class ConstructAnswers:
    """The answers on one construct, or for the judge as a whole."""

    name: str
    decisions: tuple[ShownDecision, ...]
    cells: tuple[tuple[Answer, str], ...]
    """For each use the answer in a cell of a table, for these raters where there are two."""
    corrected: str | None = None
    remarks: tuple[str, ...] = ()
    """What qualifies several answers."""


@dataclass(frozen=True)
class JudgeAnswers:
    """The answers for one judge; the first row is the judge as a whole."""

    scorer: str
    rows: tuple[ConstructAnswers, ...]
    uses: tuple[str, ...]
    """What the table can be asked of the judge."""
    opening: JudgeOpening
    """What was compared, and the agreement."""

    @property
    def cells_reading(self) -> str | None:
        """Whom the cells of the table are about, and what a star means; None without either."""
        both = any("raters like these" in d.use for row in self.rows for d in row.decisions)
        marked = any("*" in word for row in self.rows for _, word in row.cells)
        parts = [OF_THESE] * both + [LIMITED] * marked
        text = "; ".join(parts)
        return f"{text[0].upper()}{text[1:]}." if text else None

    @property
    def whole(self) -> list[ShownDecision]:
        """The answers for the judge as a whole, as the first lines have them."""
        return [_shown(line) for line in self.opening.answers]


def answers_by_judge(document: Document) -> list[JudgeAnswers]:
    """The answers of each judge, in the order of the decisions."""
    results = []
    for opening in openings_of(document.analysis, document.decisions):
        scorer_decisions = [d for d in document.decisions if d.scorer == opening.scorer]
        asked = [
            use
            for use in USE_WORDS
            if any(d.use == use and d.answer != "not_applicable" for d in scorer_decisions)
        ]
        rows = tuple(_rows(document, opening.scorer, asked))
        uses = tuple(COLUMNS[use] for use in asked)
        results.append(JudgeAnswers(opening.scorer, rows, uses, opening))
    return results


def _rows(document: Document, scorer: str, asked: Sequence[Use]) -> list[ConstructAnswers]:
    corrected = {
        means.construct: corrected_sentence(document.analysis, means)
        for means in document.corrected_means
        if means.scorer == scorer and means.half_width > 0
    }
    scorer_decisions = [decision for decision in document.decisions if decision.scorer == scorer]
    return [
        _row(document, scorer_decisions, key, asked, corrected)
        for key in dict.fromkeys(decision.construct for decision in scorer_decisions)
    ]


def _row(
    document: Document,
    scorer_decisions: Sequence[UseDecision],
    construct: str | None,
    asked: Sequence[Use],
    corrected: Mapping[str, str],
) -> ConstructAnswers:
    own = [d for d in scorer_decisions if d.construct == construct and d.use in asked]
    lines = tuple(map(_shown, answer_lines(document.analysis, scorer_decisions, construct)))
    cells = tuple(_cell([d for d in own if d.use == use]) for use in asked)
    if construct is None:
        return ConstructAnswers("The judge as a whole", lines, cells)
    return ConstructAnswers(
        document.analysis.scores.full_name(construct),
        lines,
        cells,
        corrected.get(construct),
        tuple(repeated_remarks(own)),
    )


def _cell(decisions: Sequence[UseDecision]) -> tuple[Answer, str]:
    first = decisions[0] if decisions else None
    answer: Answer = first.answer if first is not None else "not_applicable"
    mark = " *" if first is not None and first.limits and answer != "no" else ""
    return answer, f"{SIGNS[answer]} {in_one_cell(first)}{mark}"


def _shown(line: AnswerLine) -> ShownDecision:
    word = f"{SIGNS[line.answer]} {line.word}"
    whom = " and ".join(TARGET_WORDS[target].removeprefix("for ") for target in line.targets)
    return ShownDecision(
        line.name, line.answer, word, line.why, line.settle,
        COLUMNS[line.use], whom, line.further or "",
    )  # fmt: skip


def picture(document: Document) -> Figure | None:
    """The one figure of the first screen, if the report has it."""
    return next((figure for figure in document.figures if figure.key == PICTURE), None)


def next_steps(document: Document) -> list[str]:
    """What a reader can do about the answers, the most useful first."""
    construct_decisions = [
        decision for decision in document.decisions if decision.construct is not None
    ]
    steps = (
        _rate_more(construct_decisions),
        _correct(document, construct_decisions),
        _check(construct_decisions),
    )
    return [in_words(step) for step in steps if step is not None]


def _rate_more(decisions: Sequence[UseDecision]) -> Fact | None:
    further = [d.further_queries for d in decisions if d.answer in UNSETTLED and d.further_queries]
    return fact("rate_more", n=len(further), further=min(further)) if further else None


def _correct(document: Document, decisions: Sequence[UseDecision]) -> Fact | None:
    levels = any(d.use == "report_level" and d.answer != "yes" for d in decisions)
    first = next((means for means in document.corrected_means if means.half_width > 0), None)
    if not levels or first is None:
        return None
    return fact(
        "report_corrected",
        construct=document.analysis.scores.full_name(first.construct),
        corrected=corrected_sentence(document.analysis, first),
    )


def _check(decisions: Sequence[UseDecision]) -> Fact | None:
    uses = dict.fromkeys(USE_WORDS[d.use].lower() for d in decisions if d.answer == "yes")
    return fact("check_again", uses=list(uses)) if uses else None
