"""What the page shows first: the answers by use, what decides them, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.decisions.records import Answer, UseDecision
from analysis.render.decision_words import (
    ANSWER_WORDS,
    USE_WORDS,
    corrected_sentence,
    sentence,
    settled_by,
)
from analysis.render.document import Document
from analysis.render.drawing import Figure
from analysis.render.formatting import counted, listed

#: A sign in addition to word and color.
SIGNS: dict[Answer, str] = {"yes": "✓", "with_care": "≈", "no": "✕", "undecided": "?"}

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


@dataclass(frozen=True)
class ConstructAnswers:
    """The answers on one construct, or for the judge as a whole."""

    name: str
    decisions: tuple[ShownDecision, ...]
    corrected: str | None = None


@dataclass(frozen=True)
class JudgeAnswers:
    """The answers for one judge; the first row is the judge as a whole."""

    scorer: str
    rows: tuple[ConstructAnswers, ...]


def answers_by_judge(document: Document) -> list[JudgeAnswers]:
    """The answers of each judge, in the order of the decisions."""
    scorers = dict.fromkeys(decision.scorer for decision in document.decisions)
    return [JudgeAnswers(scorer, tuple(_rows(document, scorer))) for scorer in scorers]


def _rows(document: Document, scorer: str) -> list[ConstructAnswers]:
    full_name = document.analysis.scores.full_name
    corrected = {
        means.construct: corrected_sentence(document.analysis, means)
        for means in document.corrected_means
        if means.scorer == scorer
    }
    of_scorer = [decision for decision in document.decisions if decision.scorer == scorer]
    return [
        ConstructAnswers(
            "The judge as a whole" if key is None else full_name(key),
            tuple(_shown(document, d) for d in of_scorer if d.construct == key),
            None if key is None else corrected.get(key),
        )
        for key in dict.fromkeys(decision.construct for decision in of_scorer)
    ]


def _shown(document: Document, decision: UseDecision) -> ShownDecision:
    # What is missing is what is needed first.
    settle = settled_by(decision) if decision.missing is None else None
    return ShownDecision(
        USE_WORDS[decision.use],
        decision.answer,
        f"{SIGNS[decision.answer]} {ANSWER_WORDS[decision.answer]}",
        sentence(document.analysis, decision),
        None if settle is None else settle[0].upper() + settle[1:],
    )


def picture(document: Document) -> Figure | None:
    """The one figure of the first screen, if the report has it."""
    return next((figure for figure in document.figures if figure.key == PICTURE), None)


def next_steps(document: Document) -> list[str]:
    """What a reader can do about the answers, the most useful first."""
    of_constructs = [decision for decision in document.decisions if decision.construct is not None]
    steps = []
    open_ones = [d for d in of_constructs if d.answer == "undecided" and d.further_queries]
    if open_ones:
        least = min(open_ones, key=lambda decision: decision.further_queries or 0)
        steps.append(
            f"Rate more queries: {counted(len(open_ones), 'answer')} may be decided so, the "
            f"first by about {least.further_queries} further queries. `ccrs plan` computes how "
            "many a study needs."
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
    good = _uses(of_constructs, {"yes", "with_care"})
    if good:
        steps.append(
            f"Where the judge serves ({good}), check it again when its model, prompts or server "
            "change: `ccrs check`."
        )
    return steps


def _uses(decisions: Sequence[UseDecision], answers: set[Answer]) -> str:
    uses = dict.fromkeys(USE_WORDS[d.use].lower() for d in decisions if d.answer in answers)
    return listed(list(uses))
