"""What scores have in common with people's values that a person would see, such as a shift.

Such a pattern comes from how scores were made or written rather than from how good a judge is, and
is mended by its owner, so that it is named before any answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median

from analysis.core.estimates import Estimate
from analysis.core.statistic import ORDER
from analysis.decisions.facts import ScoredFacts
from study.base.scales import Scale

#: Share of the scores that a pattern of all scores has to describe.
MOST = 0.9

#: Fewest responses from which a pattern is told.
FEWEST = 10

#: Share, and number, of the scores from which another unit is told.
UNIT_SHARE, UNIT_FEWEST = 0.05, 5

#: The other scores are within this share of the scale from people's values on the median.
CLOSE = 0.1

#: From this tau-b on downwards an order counts as reversed.
REVERSED = -0.3

_UNITS = {
    10.0: "a tenth of", 100.0: "a hundredth of", 0.1: "ten times", 0.01: "a hundred times",
}  # fmt: skip


def pattern(
    scores: Sequence[float],
    people: Sequence[float],
    rows: Sequence[int],
    scale: Scale | None,
) -> str | None:
    """Describe what scores (n,) have in common with people's values (n,); None without any.

    `rows` are the positions in the table, for a pattern such as every fourth score; `scale` is the
    one that both share, if they do.
    """
    if len(scores) < FEWEST or min(people) == max(people):
        return None
    return (
        _shift(scores, people, scale)
        or _mirror(scores, people, scale)
        or _unit(scores, people, rows)
    )


def _shift(scores: Sequence[float], people: Sequence[float], scale: Scale | None) -> str | None:
    pairs = list(zip(scores, people, strict=True))
    shift, _ = Counter(round(x - y, 9) for x, y in pairs).most_common(1)[0]
    if not shift:
        return None

    def shifted(y: float) -> float:
        moved = y + shift
        return moved if scale is None else min(scale.max, max(scale.min, moved))

    found = sum(abs(x - shifted(y)) <= 1e-9 * max(1.0, abs(x)) for x, y in pairs)
    if found < MOST * len(pairs) or len({x for x, _ in pairs}) < 2:
        return None
    points = f"{abs(shift):g} point{'' if abs(shift) == 1 else 's'}"
    side = "above" if shift > 0 else "below"
    at_end = any(shifted(y) != y + shift for _, y in pairs)
    end = ", or at the end of the scale" if at_end else ""
    return f"{_how_many(found, len(pairs))} exactly {points} {side} people's value{end}"


def _mirror(scores: Sequence[float], people: Sequence[float], scale: Scale | None) -> str | None:
    pairs = list(zip(scores, people, strict=True))
    (total, found), *_ = Counter(round(x + y, 9) for x, y in pairs).most_common(1)
    ends = scale is None or abs(total - scale.min - scale.max) <= 1e-9 * scale.width
    if found < MOST * len(pairs) or not ends:
        return None
    return f"{_how_many(found, len(pairs))} people's value on the reversed scale"


def _unit(scores: Sequence[float], people: Sequence[float], rows: Sequence[int]) -> str | None:
    """Some scores are a tenth, a hundredth or the like of what the others are."""
    width = max(people) - min(people)
    pairs = list(zip(scores, people, strict=True))
    for factor, words in _UNITS.items():
        apart = [(abs(x - y), abs(x * factor - y)) for x, y in pairs]
        usual = median(min(both) for both in apart)
        near = 2.5 * max(usual, 1e-3 * width)
        candidates = [
            place
            for place, ((x, y), (plain, _)) in enumerate(zip(pairs, apart, strict=True))
            if plain > near and x and min(people) <= x * factor <= max(people) + near and y
        ]
        found = [place for place in candidates if apart[place][1] <= near]
        enough = max(UNIT_FEWEST, UNIT_SHARE * len(pairs))
        if (
            usual <= CLOSE * width
            and enough <= len(found) <= (1 - UNIT_SHARE) * len(pairs)
            and len(found) >= 0.8 * len(candidates)
        ):
            first = pairs[found[0]]
            which = _every([rows[place] for place in found], rows)
            many = (
                f"{which} ({len(found)} of {len(pairs)})"
                if which
                else f"{len(found)} of {len(pairs)} scores"
            )
            verb = "is" if which else "are"
            return (
                f"{many} {verb} {words} what the others are, such as {first[0]:g} where people "
                f"gave {first[1]:g}"
            )
    return None


def _every(found: Sequence[int], rows: Sequence[int]) -> str | None:
    """'every fourth score' where the rows that were found are those."""
    names = {2: "second", 3: "third", 4: "fourth", 5: "fifth", 6: "sixth", 8: "eighth", 10: "tenth"}
    for step, name in names.items():
        rest = found[0] % step
        step_rows = [row for row in rows if row % step == rest]
        if all(row % step == rest for row in found) and len(found) >= 0.6 * len(step_rows):
            return f"every {name} score"
    return None


def _how_many(found: int, total: int) -> str:
    if found == total:
        return "every score is"
    return f"{found} of {total} scores are"


def reversed_order(tau: Estimate | None) -> str | None:
    """Whether high scores go with low values of people."""
    if tau is None or not tau.has_interval or tau.value > REVERSED or tau.ci_high >= 0:
        return None
    return (
        "high scores go with low values of people: the scale seems to be reversed (a low score "
        "may be the good one)"
    )


def reversed_rater(against_others: Sequence[Estimate], of: ScoredFacts) -> Estimate | None:
    """The first rater whose order is shown to be opposite to that of the others.

    `against_others` are estimates `rater_against_others`. Such a rater is not used as a standard
    for a judge.
    """
    for e in against_others:
        wanted = (of.construct,), of.scope, ORDER
        if (e.constructs, e.scope, e.params.get("measure")) != wanted or not e.has_interval:
            continue
        if e.ci_high < 0:
            return e
    return None


def note_on_rater(rater: Estimate) -> str:
    """What a reader must know of a reversed rater, once in a report."""
    value, low, high = (
        f"{v:.2f}".replace("0.", ".", 1) for v in (rater.value, rater.ci_low, rater.ci_high)
    )
    tau = f"{value} [{low}, {high}]"
    return (
        f"the rater {rater.scorers[0]} orders responses in the opposite way to the others, with a "
        f"tau-b of {tau}: check whether that scale was used in reverse, or leave the rater out"
    )
