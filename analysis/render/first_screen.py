"""What the page shows first: the answers by use, what decides them, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
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
from analysis.render.formatting import counted, listed
from analysis.render.opening import JudgeOpening
from analysis.render.opening_of_analysis import openings_of

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
        of_scorer = [d for d in document.decisions if d.scorer == opening.scorer]
        asked = [
            use
            for use in USE_WORDS
            if any(d.use == use and d.answer != "not_applicable" for d in of_scorer)
        ]
        rows = tuple(_rows(document, opening.scorer, asked))
        uses = tuple(COLUMNS[use] for use in asked)
        results.append(JudgeAnswers(opening.scorer, rows, uses, opening))
    return results


def _rows(document: Document, scorer: str, asked: Sequence[Use]) -> list[ConstructAnswers]:
    full_name = document.analysis.scores.full_name
    corrected = {
        means.construct: corrected_sentence(document.analysis, means)
        for means in document.corrected_means
        if means.scorer == scorer and means.half_width > 0
    }
    of_scorer = [decision for decision in document.decisions if decision.scorer == scorer]
    rows = []
    for key in dict.fromkeys(decision.construct for decision in of_scorer):
        own = [d for d in of_scorer if d.construct == key and d.use in asked]
        rows.append(
            ConstructAnswers(
                "The judge as a whole" if key is None else full_name(key),
                tuple(_lines(document, of_scorer, key)),
                tuple(_cell([d for d in own if d.use == use]) for use in asked),
                None if key is None else corrected.get(key),
                () if key is None else tuple(repeated_remarks(own)),
            )
        )
    return rows


def _cell(decisions: Sequence[UseDecision]) -> tuple[Answer, str]:
    first = decisions[0] if decisions else None
    answer: Answer = first.answer if first is not None else "not_applicable"
    mark = " *" if first is not None and first.limits and answer != "no" else ""
    return answer, f"{SIGNS[answer]} {in_one_cell(first)}{mark}"


def _lines(
    document: Document, of_scorer: Sequence[UseDecision], construct: str | None
) -> list[ShownDecision]:
    return [_shown(line) for line in answer_lines(document.analysis, of_scorer, construct)]


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
    of_constructs = [decision for decision in document.decisions if decision.construct is not None]
    steps = []
    open_ones = [d for d in of_constructs if d.answer in UNSETTLED and d.further_queries]
    if open_ones:
        least = min(open_ones, key=lambda decision: decision.further_queries or 0)
        steps.append(
            f"Rate more queries: {counted(len(open_ones), 'answer')} may be decided so, the "
            f"first by about {least.further_queries} further queries (`ccrs plan`)."
        )
    levels = [d for d in of_constructs if d.use == "report_level" and d.answer != "yes"]
    known = [means for means in document.corrected_means if means.half_width > 0]
    if levels and known:
        first = known[0]
        steps.append(
            "Report corrected means in place of the judge's own. On "
            f"{document.analysis.scores.full_name(first.construct)} "
            f"{corrected_sentence(document.analysis, first)}."
        )
    good = _uses(of_constructs, {"yes"})
    if good:
        steps.append(
            f"Where the judge serves ({good}), check it again when its model, prompts or server "
            "change: `ccrs check`."
        )
    return steps


def _uses(decisions: Sequence[UseDecision], answers: set[Answer]) -> str:
    uses = dict.fromkeys(USE_WORDS[d.use].lower() for d in decisions if d.answer in answers)
    return listed(list(uses))
