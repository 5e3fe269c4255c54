"""What a study or a table of scores says about how much to rate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from analysis.cli.source import AnalysisInput

if TYPE_CHECKING:
    from analysis.planning.components import Components


def pilot_of(
    found: AnalysisInput, construct: str | None, scorer: str | None
) -> tuple[Components, int, float, str]:
    """Components of the first construct that gives some, with responses a query and the width."""
    import numpy as np

    from analysis.core.construct_data import construct_data
    from analysis.core.errors import AnalysisError
    from analysis.core.layouts import of_one_layout
    from analysis.planning.components import components_of

    scores, said = of_one_layout(found.scores)
    keys = (construct,) if construct else found.scores.constructs
    if construct and construct not in found.scores.constructs:
        there = ", ".join(found.scores.constructs)
        raise AnalysisError(f"there is no construct {construct!r}; there are {there}")
    why: list[str] = []
    for key in keys:
        data = construct_data(scores, key)
        if scorer is not None and scorer not in data.scorers:
            there = ", ".join(data.scorers) or "none"
            why.append(f"{key}: there is no judge or metric {scorer!r}; there are {there}")
            continue
        judge = scorer or next(iter(data.scorers), None)
        try:
            parts = components_of(
                data.ratings, None if judge is None else data.scorers[judge], data.query
            )
        except AnalysisError as error:
            why.append(f"{key}: {error}")
            continue
        rated = data.query[np.isfinite(data.ratings).any(axis=1)]
        per_query = max(1, round(rated.size / max(1, len(set(rated.tolist())))))
        scale = found.scores.scale(key)
        width = float(np.nanmax(data.ratings) - np.nanmin(data.ratings))
        width = width if scale is None else scale.width
        note = f"Components: from {found.name}, {key}{f' and {judge}' if judge else ''}"
        note = note if said is None else f"{note}. {said}"
        return parts, per_query, width, note
    raise AnalysisError("\n".join(["no construct can serve as pilot", *why]))


def overridden(pilot: Components, text: str) -> Components:
    """The pilot's components with those replaced that are stated."""
    from dataclasses import replace

    from analysis.planning.components import parse_components

    stated = parse_components(text)
    names = [part.partition("=")[0].strip() for part in text.split(",") if part.strip()]
    return replace(pilot, **{name: getattr(stated, name) for name in names})


def reading_minutes(folder: Path) -> float:
    """Minutes to read a response of a study; 1 where it has no texts."""
    from study import Study
    from study.assignment.reading_time import words_a_response

    with Study.open(folder) as study:
        config = study.config
        with study.read() as connection:
            words = words_a_response(connection, config.constructs)
    return words / config.rating.words_per_minute if words else 1.0
