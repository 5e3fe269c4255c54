"""The scale that values are understood to be on where none is declared.

Everything that depends on a scale is then computed, and the report says which one was understood
and how another one is declared.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from analysis.core.likely_scales import likely_scales
from analysis.core.scales import Scale, parse_scale

if TYPE_CHECKING:
    import pandas as pd

    from analysis.core.tables import ScoreTable


def scales_of_options(
    options: Sequence[str], constructs: Sequence[str]
) -> tuple[dict[str, Scale], dict[tuple[str, str], Scale]]:
    """Scales by construct, and by (scorer, construct), of likely options (`likely_options`)."""
    by_construct: dict[str, Scale] = {}
    by_scorer: dict[tuple[str, str], Scale] = {}
    for text in options:
        key, separator, scale = text.rpartition("=")
        scorer, _, construct = key.rpartition(":")
        if not separator:
            by_construct |= dict.fromkeys(constructs, parse_scale(scale))
        elif scorer:
            by_scorer[scorer, construct] = parse_scale(scale)
        else:
            by_construct[construct] = parse_scale(scale)
    return by_construct, by_scorer


def note_of_options(options: Sequence[str], *, in_python: bool = False) -> str:
    """A sentence on the scales that were understood, with what declares the same."""
    listed = " ".join(f"--scale {shlex.quote(text)}" for text in options)
    if in_python:
        listed = (
            f'scale="{options[0]}"' if len(options) == 1 else f"the scales {', '.join(options)}"
        )
    return (
        f"no scale is declared; the values look as if they were on that of {listed}, which is "
        "used. Declare another one if they are on it"
    )


def with_understood_scales(
    frame: pd.DataFrame,
    scores: ScoreTable,
    scales: Mapping[str, Scale],
    scorer_scales: Mapping[tuple[str, str], Scale],
    *,
    in_python: bool = False,
) -> ScoreTable:
    """The table with the scales that values without a declared one look like.

    `frame` is what `scores` was made from, with the declared scales.
    """
    options = likely_scales(scores)
    if not options:
        return scores
    by_construct, by_scorer = scales_of_options(options, scores.constructs)
    # A scale that was recognized, such as that of pass and fail, is not replaced.
    known = {key for key in scores.constructs if scores.scale(key) is not None}
    by_construct = {key: scale for key, scale in by_construct.items() if key not in known}
    by_scorer = {key: s for key, s in by_scorer.items() if scores.scale(key[1], key[0]) is None}
    found = scores.from_frame(
        frame,
        {**by_construct, **scales},
        {**by_scorer, **scorer_scales},
        construct_names=scores.construct_names,
    )
    return replace(found, warnings=(*found.warnings, note_of_options(options, in_python=in_python)))
