"""Answers on the use of a judge that a gate requires."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.errors import AnalysisError
from analysis.core.statistic import Target
from analysis.decisions.answers import decisions
from analysis.decisions.records import TARGETS, USES, Answer, Use, UseDecision
from analysis.render.decision_words import TARGET_WORDS, as_record
from analysis.render.verdicts import verdict_subjects

#: The answers that meet a requirement.
_MEETING: dict[str, tuple[Answer, ...]] = {"yes": ("yes",), "likely": ("yes", "likely")}

_TARGETS: dict[str, Target] = {target: target for target in TARGETS}


@dataclass(frozen=True)
class Requirement:
    """An answer that every judge must have: `yes`, or at least `likely`.

    `construct` None is the judge as a whole; `target` None the raters that the judge has an answer
    about, these raters where it has both.
    """

    use: Use
    answer: str
    construct: str | None = None
    target: Target | None = None

    def __str__(self) -> str:
        construct = f"{self.construct}:" if self.construct else ""
        target = f"@{self.target}" if self.target else ""
        return f"{construct}{self.use}{target}={self.answer}"

    def asks(self, decision: UseDecision) -> bool:
        """Whether a decision is an answer to it."""
        if (decision.construct, decision.use) != (self.construct, self.use):
            return False
        return self.target is None or decision.target == self.target


def requirement(text: str) -> Requirement:
    """Read `rank_systems=yes`, `QR:rank_systems=likely` or `report_level@raters_like_these=yes`.

    Raises
    ------
    AnalysisError
        The use or the answer is unknown.
    """
    left, _, answer = text.rpartition("=")
    construct, _, name = left.rpartition(":")
    name, at, target = name.partition("@")
    use = next((use for use in USES if use == name), None)
    if use is None or answer not in _MEETING or (at and target not in _TARGETS):
        raise AnalysisError(
            f"--require {text}: give USE=ANSWER, CONSTRUCT:USE=ANSWER or USE@TARGET=ANSWER, with a "
            f"use of {', '.join(USES)}, the answer yes or likely, and the target "
            f"{' or '.join(TARGETS)}"
        )
    return Requirement(use, answer, construct or None, _TARGETS.get(target))


@dataclass(frozen=True)
class Answered:
    """A requirement with the answer for one judge."""

    requirement: Requirement
    decision: UseDecision
    record: dict[str, Any]
    without_scores: tuple[str, ...] = ()
    """Constructs that people rated and this judge did not score, for the judge as a whole."""

    @property
    def holds(self) -> bool:
        """Whether the answer meets it."""
        return self.decision.answer in _MEETING[self.requirement.answer]

    def as_json(self) -> dict[str, Any]:
        """The requirement and the decision, as in report.json."""
        return {
            "required": str(self.requirement),
            "holds": self.holds,
            "without_scores": list(self.without_scores),
            **self.record,
        }


def answered(analysis: Analysis, requirements: Sequence[Requirement]) -> list[Answered]:
    """Each requirement for each judge.

    Raises
    ------
    AnalysisError
        There is no judge, or no such construct.
    """
    answers = decisions(analysis, verdict_subjects(analysis)) if requirements else []
    results = []
    for required in requirements:
        matching = [d for d in answers if required.asks(d)]
        if required.target is None:
            # The first answer of a judge is the one about these raters, where it has one.
            matching = list({d.scorer: d for d in reversed(matching)}.values())[::-1]
        if not matching:
            raise AnalysisError(
                f"--require {required}: no answer for it; {_known(answers, required)}"
            )
        answering = {d.scorer for d in matching}
        without = dict.fromkeys(d.scorer for d in answers if d.scorer not in answering)
        if without:
            raise AnalysisError(
                f"--require {required}: there are no scores of {', '.join(without)} on "
                f"{required.construct}; add them, or leave that judge out of the table"
            )
        results += [
            Answered(required, d, as_record(analysis, d), _without_scores(analysis, d))
            for d in matching
        ]
    return results


def _known(answers: Sequence[UseDecision], required: Requirement) -> str:
    """What there are answers about."""
    constructs = list(dict.fromkeys(d.construct for d in answers if d.construct))
    if not constructs:
        return "there is no judge"
    if required.construct is None or required.construct in constructs:
        own = (d.target for d in answers if d.use == required.use)
        targets = " and ".join(dict.fromkeys(TARGET_WORDS[target] for target in own))
        return f"there are answers {targets}" if targets else "this use has none"
    return f"there are {', '.join(constructs)}"


def _without_scores(analysis: Analysis, decision: UseDecision) -> tuple[str, ...]:
    """The rated constructs that an answer on the judge as a whole does not contain."""
    if decision.construct is not None:
        return ()
    return tuple(
        construct
        for construct, data in analysis.rated.items()
        if not data.reference_missing
        and not np.isfinite(data.scorers.get(decision.scorer, np.nan)).any()
    )
