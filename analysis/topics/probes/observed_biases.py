"""Judge minus people by what a response looks like and by whose it is: biases seen without a call.

What is seen may have other causes: a layout may go with better answers, and a judge that errs by
level errs by whatever goes with it. Probes alter one thing alone. By length see `judge_error`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from analysis.core.arrays import BoolArray, FloatArray
from analysis.core.construct_data import ConstructData
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.probe_table import ProbeTable
from analysis.core.statistic import Statistic
from analysis.statistics.probes import difference_of_means

THIRD = 1 / 3


def observed_biases(context: Context) -> Iterator[Estimate]:
    """Differences of judge minus people: layout, place of the supporting passage, own family."""
    probes = context.probes
    if probes is None:
        return
    for data, scorer, values, withheld in context.scored("judges"):
        if withheld:
            continue
        error = values - data.reference
        record: dict[str, Any] = {
            "constructs": (data.construct,),
            "scorers": (scorer, *data.raters),
            "target": "these_raters",
            "n_raters": len(data.raters),
        }
        yield from _by_traits(context, probes, data, error, record)
        yield from _own_family(context, probes, data, scorer, error, record)


def _by_traits(
    context: Context,
    probes: ProbeTable,
    data: ConstructData,
    error: FloatArray,
    record: dict[str, Any],
) -> Iterator[Estimate]:
    if probes.traits is None:
        return
    marked = _trait(probes.traits["markdown"], data)
    if np.isfinite(marked).any():
        yield _difference(
            context, "error_by_layout", data, error, marked == 1, marked == 0,
            ("those with Markdown", "those without"), record,
        )  # fmt: skip
    place = _trait(probes.traits["support"], data)
    if not np.isfinite(place).any():
        return
    first, last = place < THIRD, place > 1 - THIRD
    middle = np.isfinite(place) & ~first & ~last
    for name, first_group, second_group, names in (
        ("last_minus_first", last, first, ("those supported last", "those supported first")),
        (
            "middle_minus_ends",
            middle,
            first | last,
            ("those supported midway", "the others"),
        ),
    ):
        yield _difference(
            context,
            "error_by_support",
            data,
            error,
            first_group,
            second_group,
            names,
            record,
            contrast=name,
        )


def _own_family(
    context: Context,
    probes: ProbeTable,
    data: ConstructData,
    scorer: str,
    error: FloatArray,
    record: dict[str, Any],
) -> Iterator[Estimate]:
    family = probes.scorer_families.get(scorer)
    if family is None or not probes.system_families:
        return
    of = [probes.system_families.get(system) for system in data.systems]
    in_family = np.array([system_family == family for system_family in of], dtype=bool)
    others = np.array([system_family not in {None, family} for system_family in of], dtype=bool)
    produced = data.produced
    mine = np.asarray(produced[:, in_family].any(axis=1) & ~produced[:, ~in_family].any(axis=1))
    theirs = np.asarray(produced[:, others].any(axis=1) & ~produced[:, ~others].any(axis=1))
    names = (f"systems of the family {family}", "systems of another family")
    systems = tuple(
        name for name, system_family in zip(data.systems, in_family, strict=True) if system_family
    )
    yield _difference(
        context, "self_preference", data, error, mine, theirs, names,
        {**record, "systems": systems}, family=family,
    )  # fmt: skip


def _difference(
    context: Context,
    name: str,
    data: ConstructData,
    error: FloatArray,
    first: BoolArray,
    second: BoolArray,
    names: tuple[str, str],
    record: dict[str, Any],
    **params: str,
) -> Estimate:
    statistic = difference_of_means(error, first, second, data.query, data.n_queries, names)
    return context.estimate(name, statistic, **record, params=params)


def _trait(column: pd.Series[Any], data: ConstructData) -> FloatArray:
    values = column.reindex(list(data.responses))
    return values.to_numpy(dtype=np.float64)


STATISTICS = (
    Statistic(
        "error_by_layout",
        "Markdown",
        "mean of judge minus people of responses with Markdown (list, heading, quote, emphasis, "
        "code) minus that of responses without",
        observed_biases,
        better="0",
        targets=("these_raters",),
    ),
    Statistic(
        "error_by_support",
        "Supporting passage",
        "mean of judge minus people by the place of the passage that shares most content words "
        "with the reference (else the response), of three passages or more; params.contrast "
        "last_minus_first (thirds), or middle_minus_ends",
        observed_biases,
        better="0",
        targets=("these_raters",),
        source="Liu et al. 2024",
    ),
    Statistic(
        "self_preference",
        "Judge's own family",
        "mean of judge minus people of systems of the judge's own family (`systems`, "
        "params.family) minus that of systems of other known families",
        observed_biases,
        better="0",
        targets=("these_raters",),
        source="Panickssery et al. 2024",
    ),
)
