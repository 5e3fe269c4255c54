"""Places of systems by a scorer that the simultaneous intervals of their differences leave."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.table_of import Line, TableOf, TableRow, each, formatted, spread
from analysis.statistics.discrimination.ranks import ranks_of_differences
from analysis.topics.discrimination.figures import name_of

#: Scorers with a column; the CSV has all.
SCORERS_SHOWN = 6


def system_ranks(differences: Iterable[Estimate]) -> Iterator[Estimate]:
    """`system_rank` of each system, from the records of `system_difference`."""
    tables: dict[tuple[object, ...], list[Estimate]] = {}
    for e in differences:
        key = (e.constructs, e.scorers, e.params["on"], e.params.get("of"))
        tables.setdefault(key, []).append(e)
    for pairs in tables.values():
        yield from _ranked(pairs)


def _ranked(pairs: list[Estimate]) -> Iterator[Estimate]:
    leading = pairs[0]
    systems = list(dict.fromkeys(name for e in pairs for name in e.systems))
    kept = {key: leading.params[key] for key in ("on", "of", "adjusted") if key in leading.params}
    common: dict[str, Any] = {
        "constructs": leading.constructs,
        "scorers": leading.scorers,
        "scope": leading.scope,
        "target": leading.target,
        "n_raters": leading.n_raters,
        # Each response is in as many pairs as there are other systems.
        "n_responses": round(sum(e.n_responses for e in pairs) / (len(systems) - 1)),
        "n_queries": max(e.n_queries for e in pairs),
    }
    undefined = next((e for e in pairs if not e.defined), None)
    if undefined is not None:
        reason = f"{' and '.join(undefined.systems)} are not compared: {undefined.reason}"
        for name in systems:
            yield Estimate("system_rank", systems=(name,), reason=reason, params=kept, **common)
        return
    place = {name: at for at, name in enumerate(systems)}
    first, second = (np.array([place[e.systems[side]] for e in pairs]) for side in (0, 1))
    point, low, high = (
        np.array([getattr(e, field) for e in pairs]) for field in ("value", "ci_low", "ci_high")
    )
    ranked = ranks_of_differences(first, second, point, low, high)
    with_interval = next((e for e in pairs if e.has_interval), None)
    for name, rank in zip(systems, ranked, strict=True):
        places: dict[str, Any] = {"reason": leading.reason}
        if with_interval is not None:
            places = {
                "ci_low": float(rank.best),
                "ci_high": float(rank.worst),
                "ci_level": with_interval.ci_level,
                "method": with_interval.method,
            }
        params = {**kept, "group": rank.group, "systems": len(systems)}
        yield Estimate(
            "system_rank",
            systems=(name,),
            value=float(rank.rank),
            params=params,
            **places,
            **common,
        )


def _scorers(analysis: Analysis) -> list[str]:
    """Whose ranks there are, people first."""
    names = dict.fromkeys(name_of(analysis, e) for e in analysis.estimates.select("system_rank"))
    return sorted(names, key=lambda name: analysis.scorer_kinds.get(name) in {"judge", "metric"})


def _shown(analysis: Analysis) -> Iterable[TableRow]:
    shown = _scorers(analysis)[:SCORERS_SHOWN]
    return each("system_rank", keep=lambda e: name_of(analysis, e) in shown)(analysis)


def _more(analysis: Analysis, _rows: Line) -> str:
    all_scorers = len(_scorers(analysis))
    more = f" The first {SCORERS_SHOWN} of {all_scorers} scorers."
    return more if all_scorers > SCORERS_SHOWN else ""


ranks_of_systems = TableOf(
    "system-ranks",
    "Systems in order",
    "{system_rank} of the system by its mean difference from the others. Brackets: the places that "
    "remain possible, from the simultaneous intervals of all differences of a construct and "
    "scorer, so that all true places are covered at once.",
    _shown,
    ("construct", "system",
     spread(formatted("system_rank", ".0f"), lambda row: name_of(row.analysis, row.estimate),
            lambda row: row.analysis.scorer_kinds.get(row.scorer) in {"judge", "metric"})),
    note=_more,
)  # fmt: skip
