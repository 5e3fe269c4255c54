"""Scales of values that were words, such as good, ok and bad."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from study.base.scales import Scale

PairScales = dict[tuple[str, str], Scale]


def with_word_scales(
    frame: pd.DataFrame, scales: Mapping[str, Scale], scorer_scales: Mapping[tuple[str, str], Scale]
) -> tuple[dict[str, Scale], PairScales]:
    """Return the declared scales, with those of words where none is declared.

    `frame.attrs["word_scales"]` has lowest and highest value, step and level by construct and
    scorer. Words for two values that have an order need none: such values are recognized. A scale
    is that of the construct where all of its scorers use the words, else that of the scorers.
    """
    by_construct, by_scorer = dict(scales), dict(scorer_scales)
    for construct, words_by_scorer in frame.attrs.get("word_scales", {}).items():
        if construct in scales:
            continue
        found = {
            scorer: Scale(low, high, step, level)
            for scorer, (low, high, step, level) in words_by_scorer.items()
            if level == "nominal" or (low, high, step) != (0, 1, 1)
        }
        scorers = set(frame.loc[frame["construct"] == construct, "scorer"])
        if len(set(found.values())) == 1 and scorers <= found.keys():
            by_construct[construct] = next(iter(found.values()))
        for scorer, scale in found.items():
            by_scorer.setdefault((scorer, construct), scale)
    return by_construct, by_scorer
