"""Every figure of a report, in its order."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.compose.agreement import agreement
from analysis.compose.answer_correctness import answer_correctness
from analysis.compose.answers_read import answers_read
from analysis.compose.calibration import calibration
from analysis.compose.composite import composite
from analysis.compose.context import Context
from analysis.compose.correction import correction
from analysis.compose.discrimination import discrimination
from analysis.compose.drift import drift
from analysis.compose.edits import edits
from analysis.compose.expected import expected_scores
from analysis.compose.generalizability import generalizability
from analysis.compose.human_ceiling import biases, ceilings, raters_against_others
from analysis.compose.judge_against_humans import judge_against_humans
from analysis.compose.missing import missing
from analysis.compose.observed_biases import observed_biases
from analysis.compose.preferences import (
    agreement_over_constructs,
    preferences as on_preferences,
)
from analysis.compose.probes import probes
from analysis.compose.reliability import reliability
from analysis.compose.score_properties import score_properties
from analysis.compose.sources import sources
from analysis.compose.stability import stability
from analysis.compose.validity import validity
from analysis.estimates import Estimate


def everything(context: Context) -> Iterator[Estimate]:
    """Records of all topics; undefined ones carry their reason."""
    yield from judge_against_humans(context)
    yield from ceilings(context)
    yield from raters_against_others(context)
    yield from biases(context)
    yield from agreement(context)
    yield from reliability(context)
    yield from generalizability(context)
    yield from calibration(context)
    yield from correction(context)
    yield from composite(context)
    yield from discrimination(context)
    yield from stability(context)
    yield from validity(context)
    yield from on_preferences(context)
    yield from agreement_over_constructs(context)
    yield from answer_correctness(context)
    yield from score_properties(context)
    yield from missing(context)
    yield from expected_scores(context)
    yield from answers_read(context)
    yield from probes(context)
    yield from drift(context)
    yield from observed_biases(context)
    yield from sources(context)
    # Last: a sensitivity of all that stands above.
    yield from edits(context)
