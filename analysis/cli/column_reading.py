"""Reading the named columns of a file, with the scales that an analysis knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from study.base.scales import Scale
    from study.importing.score_columns.judgment_table import JudgmentTable
    from study.importing.score_columns.named_columns import NamedColumns


def read_named_columns(
    path: Path,
    columns: NamedColumns,
    scales: Mapping[str, Scale],
    scorer_scales: Mapping[tuple[str, str], Scale],
    values: Mapping[str, float | None] | None = None,
) -> JudgmentTable:
    """Read the named columns of a file; see `study.importing.score_columns.reading`.

    Raises
    ------
    InputError
        With every fault of the file: its row, its column and the remedy.
    """
    from study.importing.score_columns import reading

    return reading.read_named_columns(
        path,
        columns,
        values=values,
        scales=scales,
        scorer_scales=scorer_scales,
        looks_like=looks_like_scale,
    )


def looks_like_scale(values: Sequence[float]) -> str | None:
    """A usual scale that values look as if they were on."""
    import numpy as np

    from analysis.core.likely_scales import looks_like

    return looks_like(np.asarray(values, dtype=float))
