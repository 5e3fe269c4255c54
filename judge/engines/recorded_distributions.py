"""The distribution of a score in a file of answers: as such, or as the tokens of its answer."""

from collections.abc import Mapping
from typing import Any

from judge.prompts.template import PromptVersion
from judge.protocol.logprob_distribution import MOST_PROBABILITY, ScoreTokens
from study.importing.readers.records import RecordCells
from study.scales import RatingScale
from study.text import abbreviate


def recorded_distribution(cells: RecordCells, prompts: PromptVersion) -> dict[str, float] | None:
    """Return the distribution that a row gives, or that its token probabilities tell."""
    given = cells.mapping("distribution")
    if given:
        problem = _no_distribution(given, prompts.scale)
        if problem is None:
            return {score: float(share) for score, share in given.items()}
        remedy = 'Give the probability of each score: {"80": 0.7, "85": 0.3}.'
        cells.fault(problem, remedy, cells.column("distribution"))
        return None
    logprobs = cells.mapping("logprobs")
    if not logprobs or prompts.form != "score":
        return None
    return ScoreTokens(prompts.scale, unprobed=True).distribution(logprobs)


def _no_distribution(given: Mapping[str, Any], scale: RatingScale) -> str | None:
    """Say why a mapping is no distribution over the scores of a scale; None where it is one."""
    total = 0.0
    for score, share in given.items():
        try:
            value = float(score)
        except ValueError:
            return f"{abbreviate(score)} is no score."
        problem = scale.problem(value)
        if problem:
            return f"{problem}."
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
            return f"{abbreviate(share)} is no probability of {score}."
        total += share
    return None if 0 < total <= MOST_PROBABILITY else f"the probabilities add up to {total:g}."
