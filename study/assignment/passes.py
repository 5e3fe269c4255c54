"""Rounds: where raters go through everything once for each construct, in which order."""

from collections.abc import Iterable

from study.assignment.permanent_random_numbers import permanent_number
from study.settings.constructs import ConstructSpec

Rounds = dict[str, int]
"""Construct to the round in which it is rated."""


def rounds_of(constructs: Iterable[ConstructSpec], seed: int, rater: str | None) -> Rounds:
    """Return the rounds of a rater: what needs less to be shown comes first.

    Constructs that are shown alike come in an order of the rater's own, which the seed decides;
    open slots, which may be anybody's, have one order.
    """

    def turn(construct: ConstructSpec) -> tuple[int, float]:
        stage = 3 if "reference" in construct.sees else 2 if "context" in construct.sees else 1
        return stage, permanent_number(seed, "round", rater or "", construct.key)

    return {spec.key: place for place, spec in enumerate(sorted(constructs, key=turn))}
