"""What a verdict adds to its sentence: bias, ends of the scale, and how to read its figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.claims import VERDICT
from analysis.core.construct_data import EXPECTED
from analysis.core.estimates import Estimate
from analysis.core.statistic import ORDER
from analysis.render.formatting import (
    amount,
    between,
    correlation,
    counted,
    is_zero,
    on_scale,
    percent,
)
from analysis.render.verdict_order import (
    JudgeBesideRater,
    beside_a_rater,
    by_pearson,
    corrected_away,
    target,
)

#: A share of scores at an end of the scale from which the verdict mentions it.
NOTABLE_SHARE = 0.25


def level(analysis: Analysis, construct: str, scorer: str) -> str:
    """'it is 11 points too lenient [7, 15]', or an empty text where the bias is unknown.

    It is for the raters that the verdict is about; where these are not raters like these, the text
    names them.
    """
    bias = headline_bias(analysis, construct, scorer)
    if bias is None or not bias.defined:
        return ""
    scale = analysis.context.human_scale(construct)
    ends = (bias.ci_low, bias.ci_high) if bias.has_interval else ()
    if all(is_zero(value, scale) for value in (bias.value, *ends)):
        return "it has no bias on these responses"
    interval = between(bias, scale, in_points=True)
    if ends and not excludes_0(bias, analysis):
        stated = amount(bias.value, scale, ends)
        where = ", ".join(filter(None, (_whom(analysis, construct, bias), on_scale(scale))))
        figure = " ".join(filter(None, (stated, interval, where)))
        parts = ", ".join(filter(None, (figure, corrected_away(analysis, bias))))
        return f"no bias can be shown ({parts})"
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
    """Bias for the raters that the verdict is about (`target`)."""
    whom = target(analysis, construct, scorer)
    return analysis.estimates.first(
        "bias", construct=construct, scorer=scorer, scope="pooled", target=whom
    )


def excludes_0(bias: Estimate, analysis: Analysis) -> bool:
    """Whether the interval of a bias is on one side of 0, beyond rounding noise.

    It is after correction for all comparisons of the verdict.
    """
    scale = analysis.context.human_scale(bias.constructs[0])
    ends = (bias.ci_low, bias.ci_high)
    return (
        bias.has_interval
        and ends[0] * ends[1] > 0
        and not any(is_zero(end, scale) for end in ends)
        and analysis.claims.hold(VERDICT, bias)
    )


def _whom(analysis: Analysis, construct: str, bias: Estimate) -> str:
    """The raters that an interval is for, unless it is for raters like these."""
    data = analysis.rated[construct]
    if bias.target == "raters_like_these" or data.reference_kind == "adjudicated":
        return ""
    return "for this rater" if len(data.raters) == 1 else "for these raters"


def ends(analysis: Analysis, construct: str, scorer: str) -> str:
    """'78% of its scores are at the maximum', where many are and the scale has a middle."""
    if two_valued(analysis, construct, scorer):
        return ""
    parts = []
    for end, name in (("max", "maximum"), ("min", "minimum")):
        share = analysis.estimates.first(
            f"share_at_{end}", construct=construct, scorer=scorer, scope="pooled"
        )
        if share is not None and share.defined and share.value >= NOTABLE_SHARE:
            parts.append(f"{percent(share.value)} of its scores are at the {name}")
    return " and ".join(parts)


def two_valued(analysis: Analysis, construct: str, scorer: str) -> bool:
    """Whether a scorer and people use the two ends of the scale only."""
    scale = analysis.scores.scale(construct, scorer)
    if scale is None or scale.two_valued:
        return scale is not None
    data = analysis.context.whole[construct]
    arrays = [data.scorers[scorer], data.ratings.ravel(), *data.adjudicated.values()]
    values = np.concatenate(arrays)
    return set(np.unique(values[np.isfinite(values)])) == {scale.min, scale.max}


#: Tau-b from which a scorer orders well (on normal scores a correlation of .7, since
#: r = sin(pi tau / 2): Greiner 1909), and bias (share of the scale) that then matters.
ORDERS_WELL, FAR_OFF = 0.5, 0.05

#: Krippendorff (2004) accepts tentative conclusions from .667 on.
TENTATIVE = 0.667

#: With a wider interval of a difference of tau-b the two are not called equal.
WIDE = 0.15

HALF = 0.5

#: With fewer queries than this, their number is stated with the order.
FEW_QUERIES = 20

#: A rater is an outlier with less than this share of the tau-b of at least two others.
OUTLIER_SHARE, RATERS_NEEDED = 0.67, 3


def notes(analysis: Analysis, construct: str, scorer: str, scope: str | None) -> Iterator[str]:
    """Remarks on the verdict of one scorer on one construct."""
    first = analysis.estimates.first
    whom = target(analysis, construct, scorer)
    compared = beside_a_rater(analysis, construct, scorer, scope, of=whom)
    difference = None if compared is None else compared.difference
    if scope is not None and compared is not None and difference is not None:
        yield from _on_difference(difference)
        yield from _on_ties(compared)
        yield from by_pearson(analysis, construct, scorer, scope)
    if scope is not None:
        yield from _on_the_distribution(analysis, construct, scorer, scope)
    plain = first(ORDER, construct=construct, scorer=scorer, scope=scope or "pooled")
    used = plain if difference is None else difference
    if scope is not None and used is not None and used.defined and used.n_queries < FEW_QUERIES:
        yield (
            f"That order rests on {counted(used.n_responses, 'response')} to "
            f"{counted(used.n_queries, 'query', 'queries')} only."
        )
    bias = headline_bias(analysis, construct, scorer)
    scale = analysis.context.human_scale(construct)
    if plain is not None and bias is not None and scale is not None:
        far = abs(bias.value) >= FAR_OFF * scale.width
        if plain.value >= ORDERS_WELL and far and excludes_0(bias, analysis):
            yield (
                "A high correlation with a large bias: it orders responses, but its level is not "
                "people's. Use it to compare, not to report a level."
            )
    share = first("share_at_max", construct=construct, scorer=scorer, scope="pooled")
    scale_of_scorer = analysis.scores.scale(construct, scorer)
    if not two_valued(analysis, construct, scorer) and share is not None and share.value >= HALF:
        yield (
            f"With {percent(share.value)} of its scores at the maximum, it cannot distinguish "
            "good responses from better ones there."
        )
    alpha = first(
        "krippendorff_alpha", construct=construct, level=analysis.context.level(construct)
    )
    adjudicated = analysis.options.reference == "adjudicated"
    if alpha is not None and alpha.value < TENTATIVE and not adjudicated:
        interval = f" {between(alpha)}" if alpha.has_interval else ""
        # Categories without an order have no mean.
        nominal = analysis.context.nominal([construct])
        mean = "" if nominal else ", and the mean of few raters is imprecise"
        yield (
            f"People agree little among themselves here (alpha {correlation(alpha.value)}"
            f"{interval}): one rater is an easy standard{mean}."
        )
    if difference is not None:
        yield from _on_raters(analysis, construct, scope or "pooled")
    yield from _on_other_raters(analysis, construct)
    if scale_of_scorer is None:
        yield (
            f"No scale is declared for {construct}: bias and the share at the maximum are "
            f"withheld. Declare it with --scale {construct}=MIN:MAX."
        )
    elif bias is not None and not bias.defined and plain is not None and plain.defined:
        yield f"Its bias is withheld: {bias.reason}."
    yield from _on_the_unit(analysis, construct, scorer)


def _on_the_unit(analysis: Analysis, construct: str, scorer: str) -> Iterator[str]:
    """A match in the wrong unit, with the judge it concerns, else with the first scorer."""
    data = analysis.context.whole[construct]
    speaking = data.judges or list(data.scorers)
    for e in analysis.estimates.select("ac_unit_check", construct=construct):
        concerned = [name for name in speaking if name in e.scorers] or speaking
        if e.value == 1 and scorer == concerned[0]:
            yield slip_in_words(e)


def slip_in_words(e: Estimate) -> str:
    """What an `ac_unit_check` of 1 means."""
    weight, per_unit = (float(str(e.params[name])) for name in ("lambda", "points_per_unit"))
    points = "of a point " if per_unit == 1 else ""
    return (
        f"In {e.scorers[0]} an exact match adds {weight / per_unit:g} {points}where "
        f"{100 * weight / per_unit:g} are meant: the match was left at 1 while the judge's part is "
        "in points."
    )


def _on_other_raters(analysis: Analysis, construct: str) -> Iterator[str]:
    """That differences between systems by people had to be adjusted for raters, or are withheld."""
    pairs = analysis.estimates.select(
        "system_difference", construct=construct, adjusted="rater severity"
    )
    without = [e for e in pairs if not e.defined]
    if any(e.defined for e in pairs):
        yield (
            "The systems were not rated by the same raters to the same extent: people's figures by "
            "system are adjusted for raters' severity."
        )
    if without:
        yield (
            f"People's difference is withheld for {counted(len(without), 'pair')} of systems: "
            f"{without[0].reason}."
        )


def _on_the_distribution(
    analysis: Analysis, construct: str, scorer: str, scope: str
) -> Iterator[str]:
    """How the mean of the judge's distribution compares with the number that it wrote."""
    where = {"construct": construct, "scope": scope, "measure": "pearson"}
    gain = analysis.estimates.first("expected_gain", scorer=scorer + EXPECTED, **where)
    if gain is None or not gain.defined:
        return
    pair = [
        next(e for e in compared if e.scorers[0] == name)
        for name in (scorer + EXPECTED, scorer)
        if (compared := analysis.estimates.select("agreement_where_both", scorer=name, **where))
    ]
    mean, number = (correlation(e.value) for e in pair)
    figure = f"{correlation(gain.value)} {between(gain)}".rstrip()
    yield (
        f"The mean of its distribution correlates {mean} with people where the number that it "
        f"wrote correlates {number} (difference {figure})."
    )


def _on_raters(analysis: Analysis, construct: str, scope: str) -> Iterator[str]:
    """A rater who agrees little with the others lowers the human ceiling.

    It is stated where the intervals of that rater and of the next do not overlap. Of five
    exchangeable raters that happens once in thousands of constructs, so the note needs no part in
    the correction of claims.
    """
    by_rater = analysis.estimates.select(
        "rater_against_others", construct=construct, scope=scope, measure=ORDER
    )
    ranked = sorted((e for e in by_rater if e.defined), key=lambda e: e.value)
    if len(ranked) < RATERS_NEEDED:
        return
    lowest, rest = ranked[0], ranked[1:]
    apart = lowest.has_interval and rest[0].has_interval and lowest.ci_high < rest[0].ci_low
    if apart and lowest.value < OUTLIER_SHARE * rest[0].value:
        yield (
            f"{lowest.scorers[0]} agrees little with the other raters in the order of responses "
            f"(tau-b {correlation(lowest.value)}; the others {correlation(rest[0].value)} to "
            f"{correlation(rest[-1].value)}), which lowers what a rater reaches here."
        )


def _on_difference(difference: Estimate) -> Iterator[str]:
    if not difference.has_interval:
        return
    more = "and raters " if difference.target == "raters_like_these" else ""
    includes = difference.ci_low <= 0 <= difference.ci_high
    if includes and difference.ci_high - difference.ci_low > WIDE:
        yield (
            "The interval is wide: neither an advantage nor a shortfall of a size that matters is "
            f"excluded. More rated queries {more}narrow it."
        )


def _on_ties(compared: JudgeBesideRater) -> Iterator[str]:
    """Queries in which one of the two sides gives all responses the same score."""
    shares = [e.params.get("undefined_share") for e in (compared.judge, compared.rater)]
    if any(isinstance(share, float) and share >= NOTABLE_SHARE for share in shares):
        of_judge, of_rater = (percent(float(str(share))) for share in shares)
        yield (
            f"In {of_judge} of the queries the judge has no tau-b, and in {of_rater} a rater has "
            "none, since all its scores or all of people's are equal there. The figures sum pairs "
            "over all queries, so that these are not left out."
        )


def reading(analysis: Analysis) -> str:
    """What the brackets of the verdicts are, and for how much a claim is corrected."""
    family = analysis.claims.of(VERDICT)
    text = _brackets(analysis)
    if family is None or family.comparisons < 2:
        return text
    return (
        f"{text} A difference from a rater or a bias is claimed where it holds after correction "
        f"for {family.comparisons} comparisons."
    )


def _brackets(analysis: Analysis) -> str:
    level = f"Square brackets are {analysis.options.level:.0%} intervals"
    if analysis.options.reference == "adjudicated":
        return f"{level} over queries, with the adjudicated values taken as fixed."
    text = f"{level} for these raters"
    if any(
        target(analysis, e.constructs[0], e.scorers[0]) == "raters_like_these"
        for e in analysis.estimates.select(
            "human_ceiling_difference", target="raters_like_these", measure=ORDER
        )
    ):
        text += (
            "; those of a difference from a rater like these, and of the bias beside it, are for "
            "raters like these"
        )
    return f"{text}."
