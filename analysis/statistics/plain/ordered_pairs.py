"""Kendall's tau-b and the share of pairs ordered alike, with their values without each response."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

#: Values that differ by a smaller share of their size are equal, as in `core.query_statistic`.
NOISE = 1e-12


@dataclass(frozen=True)
class OrderedPairs:
    """Sums over the pairs of n responses, and those that each response (n,) takes part in.

    `score` is the concordant minus the discordant pairs, `untied_x` and `untied_y` the pairs that
    x and y do not tie.
    """

    score: float
    untied_x: float
    untied_y: float
    score_of: list[int]
    untied_x_of: list[int]
    untied_y_of: list[int]
    trials: int
    """Independent comparisons that a perfect order rests on."""

    @property
    def tau_b(self) -> float:
        """NaN where one side is constant."""
        return _tau_b(self.score, self.untied_x, self.untied_y)

    @property
    def concordance(self) -> float:
        """NaN where y is constant."""
        return _concordance(self.score, self.untied_y)

    @property
    def tau_b_without_each(self) -> list[float]:
        """(n,)"""
        return [
            _tau_b(self.score - s, self.untied_x - x, self.untied_y - y)
            for s, x, y in zip(self.score_of, self.untied_x_of, self.untied_y_of, strict=True)
        ]

    @property
    def concordance_without_each(self) -> list[float]:
        """(n,)"""
        return [
            _concordance(self.score - s, self.untied_y - y)
            for s, y in zip(self.score_of, self.untied_y_of, strict=True)
        ]


def _tau_b(score: float, untied_x: float, untied_y: float) -> float:
    scale = math.sqrt(untied_x * untied_y)
    return score / scale if scale > 0 else math.nan


def _concordance(score: float, untied_y: float) -> float:
    return (score + untied_y) / (2 * untied_y) if untied_y > 0 else math.nan


def ordered_pairs(x: Sequence[float], y: Sequence[float]) -> OrderedPairs:
    """Count the pairs of responses with values x, y (n,) by their order."""
    n = len(x)
    x_code, y_code = codes(x), codes(y)
    x_counts, y_counts = Counter(x_code), Counter(y_code)
    score_of = [0] * n
    ascending = sorted(range(n), key=x_code.__getitem__)
    for order, sign in ((ascending, 1), (ascending[::-1], -1)):
        _compare_with_earlier(order, x_code, y_code, len(y_counts), sign, score_of)
    untied_x_of = [n - x_counts[code] for code in x_code]
    untied_y_of = [n - y_counts[code] for code in y_code]
    most = max(max(x_counts.values(), default=0), max(y_counts.values(), default=0))
    return OrderedPairs(
        sum(score_of) / 2,
        sum(untied_x_of) / 2,
        sum(untied_y_of) / 2,
        score_of,
        untied_x_of,
        untied_y_of,
        min(n, 2 * (n - most)),
    )


def _compare_with_earlier(
    order: Sequence[int],
    x_code: Sequence[int],
    y_code: Sequence[int],
    size: int,
    sign: int,
    score_of: list[int],
) -> None:
    """Add to each point's score its order with the points of earlier x.

    A Fenwick tree counts the earlier points by their y.
    """
    tree, column, total, start = [0] * (size + 1), [0] * size, 0, 0
    while start < len(order):
        end = start
        while end < len(order) and x_code[order[end]] == x_code[order[start]]:
            end += 1
        # Points tied in x are compared with those before them, then all entered together.
        for i in order[start:end]:
            code = k = y_code[i]
            below = 0
            while k > 0:
                below += tree[k]
                k -= k & -k
            score_of[i] += sign * (2 * below + column[code] - total)
        for i in order[start:end]:
            column[y_code[i]] += 1
            k = y_code[i] + 1
            while k <= size:
                tree[k] += 1
                k += k & -k
        total += end - start
        start = end


def codes(values: Sequence[float]) -> list[int]:
    """Ranks of distinct values from 0; those that differ by float noise only share one."""
    code_of: dict[float, int] = {}
    code, last = -1, math.nan
    for value in sorted(set(values)):
        if not value - last <= NOISE * max(abs(value), abs(last)):
            code += 1
        code_of[value], last = code, value
    return [code_of[value] for value in values]
