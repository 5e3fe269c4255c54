"""Analyses of parts, or with figures made by hand, whose claims are corrected as in a report."""

from dataclasses import replace
from math import isfinite

from scipy.special import ndtr

from analysis.core.analysis import Analysis
from analysis.core.claims import claims
from analysis.core.estimates import Estimate
from analysis.pipeline.sections import sections_compared, sections_joint
from analysis.render.verdicts import compared


def with_claims(analysis: Analysis) -> Analysis:
    """The analysis with the families of its own estimates."""
    families = claims(
        compared(analysis),
        sections_compared(analysis),
        analysis.options.level,
        sections_joint(analysis),
    )
    return replace(analysis, claims=families)


def with_normal_p(e: Estimate) -> Estimate:
    """An estimate with the p of its 95% interval, taken as normal."""
    error = (e.ci_high - e.ci_low) / (2 * 1.959964)
    p = 2 * float(ndtr(-abs(e.value) / error)) if error > 0 and isfinite(error) else float("nan")
    return replace(e, p=p)
