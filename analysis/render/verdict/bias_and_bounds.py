"""What a verdict says of a scorer's level: its bias, and what stands at the ends of its scale."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.formatting import amount, between, nothing, on_scale, percent

#: A share of scores at an end of the scale from which the verdict mentions it.
NOTABLE_SHARE = 0.25


def level(analysis: Analysis, construct: str, scorer: str) -> str:
    """'it is 11 points too lenient [7, 15]', or what keeps it from being said.

    The interval is for raters like these, and says so where it is not.
    """
    bias = headline_bias(analysis, construct, scorer)
    if bias is None or not bias.defined:
        return ""
    scale = analysis.context.human_scale(construct)
    ends = (bias.ci_low, bias.ci_high) if bias.has_interval else ()
    if all(nothing(value, scale) for value in (bias.value, *ends)):
        return "it has no bias on these responses"
    interval = between(bias, scale, in_points=True)
    if ends and not excludes_0(bias, analysis):
        stated = amount(bias.value, scale, ends)
        where = ", ".join(filter(None, (_whom(analysis, construct, bias), on_scale(scale))))
        return f"no bias can be shown ({' '.join(filter(None, (stated, interval, where)))})"
    way = "too lenient" if bias.value > 0 else "too strict"
    stated = amount(abs(bias.value), scale, (bias.value, *ends))
    if not ends:
        where = ", ".join(filter(None, ("on these responses", on_scale(scale))))
        return f"it is {stated} {way} {where}"
    if bias.value < 0:
        # "6 points too strict" carries the sign in its words, so its interval does not.
        interval = between(
            replace(bias, ci_low=-bias.ci_high, ci_high=-bias.ci_low), scale, in_points=True
        )
    where = ", ".join(filter(None, (_whom(analysis, construct, bias), on_scale(scale))))
    return " ".join(filter(None, (f"it is {stated} {way} {interval}", where)))


def headline_bias(analysis: Analysis, construct: str, scorer: str) -> Estimate | None:
    """Bias for raters like these where it has an interval, else for these raters."""
    for target in ("raters_like_these", "these_raters"):
        found = analysis.estimates.first(
            "bias", construct=construct, scorer=scorer, scope="pooled", target=target
        )
        if found is not None and found.has_interval:
            return found
    return analysis.estimates.first(
        "bias", construct=construct, scorer=scorer, scope="pooled", target="these_raters"
    )


def excludes_0(bias: Estimate, analysis: Analysis) -> bool:
    """Whether a bias is shown: its interval lies on one side of 0, beyond rounding noise."""
    scale = analysis.context.human_scale(bias.constructs[0])
    ends = (bias.ci_low, bias.ci_high)
    return (
        bias.has_interval and ends[0] * ends[1] > 0 and not any(nothing(end, scale) for end in ends)
    )


def _whom(analysis: Analysis, construct: str, bias: Estimate) -> str:
    """Whom an interval speaks of, where that is not raters like these."""
    data = analysis.rated[construct]
    if bias.target == "raters_like_these" or data.reference_kind == "adjudicated":
        return ""
    return "for this rater" if len(data.raters) == 1 else "for these raters"


def ends(analysis: Analysis, construct: str, scorer: str) -> str:
    """'78% of its scores are at the maximum', where many are and the scale has a middle."""
    if two_valued(analysis, construct, scorer):
        return ""
    said = []
    for end, name in (("max", "maximum"), ("min", "minimum")):
        share = analysis.estimates.first(
            f"share_at_{end}", construct=construct, scorer=scorer, scope="pooled"
        )
        if share is not None and share.defined and share.value >= NOTABLE_SHARE:
            said.append(f"{percent(share.value)} of its scores are at the {name}")
    return " and ".join(said)


def two_valued(analysis: Analysis, construct: str, scorer: str) -> bool:
    """Whether a scorer and people use the two ends of the scale only: then an end says nothing."""
    scale = analysis.scores.scale(construct, scorer)
    if scale is None or scale.two_valued:
        return scale is not None
    data = analysis.context.whole[construct]
    given = [data.scorers[scorer], data.ratings.ravel(), *data.adjudicated.values()]
    values = np.concatenate(given)
    return set(np.unique(values[np.isfinite(values)])) == {scale.min, scale.max}
