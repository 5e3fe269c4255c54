"""The study's scores as `analysis` takes them, with the scales that study.toml declares."""

import pandas as pd

from analysis.core.context import Context
from analysis.core.layouts import of_one_layout
from analysis.core.options import Options
from analysis.core.scales import Scale
from analysis.core.tables import ScoreTable
from study.errors import StudyError, nearest
from study.study import Study

#: Resamples are only drawn from 500 queries on; figures of a look can do with fewer than a report.
_RESAMPLES = 500


def people_and(study: Study, frame: pd.DataFrame, judge: str | None = None) -> Context | None:
    """Return people's values for analysis, with those of one judge if it is named.

    None where people gave no value. Where they rated in two layouts, which are never pooled, the
    one with more values is taken, and the context says so in `layout_left_out`.

    Raises
    ------
    StudyError
        There is no such judge.
    """
    config = study.config
    human = frame["scorer_kind"] == "human"
    if judge is not None:
        machines = frame.loc[frame["scorer_kind"].isin(["judge", "metric"]), "scorer"].unique()
        if judge not in machines:
            hint = nearest(judge, machines) or f"There are: {', '.join(machines) or 'none'}."
            raise StudyError(f"Unknown judge {judge!r} in {study.folder}. {hint}")
    if not frame.loc[human, "value"].notna().any():
        return None
    scales = {c.key: Scale(**c.scale.model_dump()) for c in config.constructs}
    own = {
        (name, key): Scale(**scale.model_dump())
        for name in frame["scorer"].unique()
        if (scale := config.own_scale(name)) is not None
        for key in scales
    }
    names = {c.key: c.name for c in config.constructs}
    rows = frame[human | (frame["scorer"] == judge)] if judge is not None else frame[human]
    table, left_out = of_one_layout(ScoreTable.from_frame(rows, scales, own, names))
    options = Options(resamples=_RESAMPLES, seed=config.seed, level=config.analysis.ci_level)
    return Context(table, None, options, layout_left_out=left_out and left_out.split(";")[0])
