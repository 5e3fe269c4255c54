"""Every figure of a report, in its order."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.topics.agreement.association import judge_against_humans
from analysis.topics.agreement.bare_answers import answers_read
from analysis.topics.agreement.edits import edits
from analysis.topics.agreement.estimates import agreement
from analysis.topics.agreement.human_ceiling import biases, ceilings, raters_against_others
from analysis.topics.agreement.preferences import (
    agreement_over_constructs,
    preferences as on_preferences,
)
from analysis.topics.answer_correctness.estimates import answer_correctness
from analysis.topics.calibration.estimates import calibration
from analysis.topics.correction.composite import composite
from analysis.topics.correction.estimates import correction
from analysis.topics.discrimination.estimates import discrimination
from analysis.topics.distribution.estimates import score_properties
from analysis.topics.expected_score.estimates import expected_scores
from analysis.topics.missingness.estimates import missing
from analysis.topics.probes.drift import drift
from analysis.topics.probes.estimates import probes
from analysis.topics.probes.observed_biases import observed_biases
from analysis.topics.reliability.estimates import reliability
from analysis.topics.reliability.generalizability import generalizability
from analysis.topics.reliability.sources import sources
from analysis.topics.stability.estimates import stability
from analysis.topics.validity.estimates import validity


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
