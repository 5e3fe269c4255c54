"""Checks of a report's figures against other libraries, on parts that these can compute.

`krippendorff`, `pingouin` and scipy cannot compute missing cells, continuous scores or resamples at
the size of a study. A part that is small enough for them is computed twice.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from analysis.core.arrays import FloatArray
from analysis.core.construct_data import ConstructData, construct_data
from analysis.core.query_statistic import centered, comparable
from analysis.core.tables import ScoreTable
from analysis.statistics.agreement.association import Measure, association
from analysis.statistics.agreement.repeated_measures import (
    SUBJECTS_NEEDED,
    repeated_measures_correlation,
)
from analysis.statistics.reliability.alpha import Level, krippendorff_alpha
from analysis.statistics.reliability.icc import Form, icc

#: Two figures are equal within this.
TOLERANCE = 1e-9

#: Responses in a part.
LARGEST = 1000

#: Responses in a part for pingouin's linear model, which has a column for every query.
LARGEST_WITHIN = 300

#: `krippendorff` keeps responses x values x values numbers; this many are 64 MB.
_CELLS = 8_000_000

_LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")
_MEASURES: tuple[Measure, ...] = ("pearson", "spearman", "kendall_tau_b")


@dataclass(frozen=True)
class LibraryCheck:
    """One figure computed twice; `agrees` is None where it could not be, with the reason."""

    statistic: str
    construct: str
    scorers: tuple[str, ...]
    library: str
    version: str | None
    ours: float | None
    theirs: float | None
    n: int
    agrees: bool | None
    reason: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The record of report.json's provenance."""
        return {**asdict(self), "scorers": list(self.scorers)}


def verify(scores: ScoreTable) -> list[LibraryCheck]:
    """Check agreement of people, and of each judge with them, construct by construct."""
    checks: list[LibraryCheck] = []
    for construct in scores.constructs:
        # No figure here takes a response that nobody rated.
        data = construct_data(scores, construct, queries=scores.rated_queries)
        checks += _alphas(data)
        checks += _iccs(data)
        checks += _associations(data)
    return checks


def _alphas(data: ConstructData) -> Iterator[LibraryCheck]:
    rated = data.ratings[np.isfinite(data.ratings).sum(axis=1) >= 2]
    if not rated.size:
        return
    distinct = np.unique(rated[np.isfinite(rated)]).size
    part = rated[: min(LARGEST, _CELLS // max(1, distinct**2))]
    for level in _LEVELS:
        name = f"krippendorff_alpha ({level})"
        if len(part) < 2:
            reason = f"{distinct} distinct values are too many for the library"
            yield _skipped(name, data, data.raters, "krippendorff", reason)
            continue
        yield _compared(
            name,
            data,
            data.raters,
            "krippendorff",
            krippendorff_alpha(part, level),
            lambda level=level: _krippendorff(comparable(part), level),  # type: ignore[misc]
            len(part),
        )


def _krippendorff(values: FloatArray, level: Level) -> float:
    import krippendorff

    return float(krippendorff.alpha(reliability_data=values.T, level_of_measurement=level))


def _iccs(data: ConstructData) -> Iterator[LibraryCheck]:
    if len(data.raters) < 2:
        return
    complete = data.ratings[np.isfinite(data.ratings).all(axis=1)][:LARGEST]
    for form in ("A,1", "A,k"):
        name = f"icc ({form})"
        if len(complete) < 5:
            reason = f"{len(complete)} responses were rated by all; the library needs 5"
            yield _skipped(name, data, data.raters, "pingouin", reason)
            continue
        ours = icc(complete, "A,1" if form == "A,1" else "A,k", float(len(data.raters)))
        yield _compared(
            name,
            data,
            data.raters,
            "pingouin",
            ours,
            # Less their median: its sums of squares lose the digits of values around 1e9.
            lambda form=form: _pingouin(centered(complete), form),  # type: ignore[misc]
            len(complete),
        )


def _pingouin(values: FloatArray, form: Form) -> float:
    import pandas as pd
    import pingouin

    n, k = values.shape
    frame = pd.DataFrame(
        {
            "response": np.repeat(np.arange(n), k),
            "rater": np.tile(np.arange(k), n),
            "value": values.ravel(),
        }
    )
    table = pingouin.intraclass_corr(frame, "response", "rater", "value")
    # Named ICC2 and ICC2k up to version 0.5, ICC(A,1) and ICC(A,k) later.
    names = {"A,1": ["ICC(A,1)", "ICC2"], "A,k": ["ICC(A,k)", "ICC2k"]}[form]
    return float(table.loc[table["Type"].isin(names), "ICC"].iloc[0])


def _associations(data: ConstructData) -> Iterator[LibraryCheck]:
    if not data.raters:
        return
    from scipy import stats

    theirs: dict[Measure, Callable[..., Any]] = {
        "pearson": stats.pearsonr,
        "spearman": stats.spearmanr,
        "kendall_tau_b": stats.kendalltau,
    }
    for scorer, values in data.scorers.items():
        both = np.flatnonzero(np.isfinite(values) & np.isfinite(data.reference))[:LARGEST]
        # Means of raters differ by float noise where they are equal; scipy takes noise for order.
        x, y = comparable(values[both]), comparable(data.reference[both])
        for measure in _MEASURES:
            ours = association(measure, x, y, np.zeros(x.size, dtype=np.int64)).point
            if math.isnan(ours):
                continue
            yield _compared(
                measure,
                data,
                (scorer,),
                "scipy",
                ours,
                lambda measure=measure, x=x, y=y: float(theirs[measure](x, y)[0]),  # type: ignore[misc]
                x.size,
            )
        yield from _within_queries(data, scorer, values)


def _within_queries(data: ConstructData, scorer: str, values: FloatArray) -> Iterator[LibraryCheck]:
    """Pearson within queries against pingouin's repeated-measures correlation."""
    both = np.flatnonzero(np.isfinite(values) & np.isfinite(data.reference))[:LARGEST_WITHIN]
    part = values[both], data.reference[both], data.query[both]
    ours = association("pearson", *part, "within_query").point
    size = np.bincount(part[2])
    if math.isnan(ours) or np.count_nonzero(size > 1) < SUBJECTS_NEEDED:
        return
    yield _compared(
        "repeated_measures_correlation",
        data,
        (scorer,),
        "pingouin",
        ours,
        lambda: repeated_measures_correlation(*part).r,
        int(size[size > 1].sum()),
    )


def _compared(
    statistic: str,
    data: ConstructData,
    scorers: tuple[str, ...],
    library: str,
    ours: float,
    theirs: Callable[[], float],
    n: int,
) -> LibraryCheck:
    with warnings.catch_warnings():
        # Their warnings do not concern the reader of a report.
        warnings.simplefilter("ignore")
        try:
            other = theirs()
        except Exception as error:  # noqa: BLE001  (a library may refuse in any way)
            reason = f"{library} refused: {type(error).__name__}: {error}".splitlines()[0]
            return _skipped(statistic, data, scorers, library, reason, n)
    if math.isnan(ours) or math.isnan(other):
        undefined = math.isnan(ours) and math.isnan(other)
        return LibraryCheck(
            statistic,
            data.construct,
            scorers,
            library,
            _version(library),
            None if math.isnan(ours) else ours,
            None if math.isnan(other) else other,
            n,
            None if undefined or math.isnan(ours) else False,
            "undefined on this part",
        )
    close = math.isclose(ours, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return LibraryCheck(
        statistic, data.construct, scorers, library, _version(library), ours, other, n, close
    )


def _skipped(
    statistic: str,
    data: ConstructData,
    scorers: tuple[str, ...],
    library: str,
    reason: str,
    n: int = 0,
) -> LibraryCheck:
    return LibraryCheck(
        statistic, data.construct, scorers, library, _version(library), None, None, n, None, reason
    )


def _version(library: str) -> str | None:
    return version(library)
