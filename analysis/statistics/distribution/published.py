"""The figures of the CCRS paper (arXiv:2506.20128v1), for comparison with a report's.

Figures only: means, counts, correlations, ties, shape, pairwise differences with their p values,
and the hypotheses, by system A to F and by construct. Points are on 0 to 100.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

#: The systems of the paper, which a report's systems are matched with by name.
SYSTEMS = ("A", "B", "C", "D", "E", "F")

SOURCE = "arXiv:2506.20128v1"

#: Responses of each system behind every figure.
RESPONSES = 4719


def published_p(construct: str, pair: str) -> tuple[float, float | None]:
    """p of a pair's difference in tables 20 to 24, and the bound that it is printed below, if any.

    Examples
    --------
    >>> published_p("CC", "AC")
    (0.0, 0.0001)
    """
    figures = published("table20_24_pairwise")[construct][pair]
    return figures["p"], figures["p_is_below"]


def every_table() -> dict[str, Any]:
    """All tables as plain values, as in published.json."""
    return dict(_everything())


@cache
def _everything() -> dict[str, Any]:
    text = files("analysis.statistics.distribution").joinpath("published.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def published(table: str) -> Any:
    """One of the paper's tables as plain values; KeyError names those there are.

    Tables by system, then construct, then figure (13, 18 and 20 to 24 by construct first).
    """
    tables = _everything()
    if table not in tables:
        raise KeyError(f"no table {table!r}; there are {', '.join(tables)}")
    return tables[table]


def published_figure(table: str, system: str, construct: str, name: str = "") -> float | None:
    """One figure of a system and construct; None where the paper has none.

    Examples
    --------
    >>> published_figure("table13_ties_pct", "A", "QR")
    62.5
    """
    value: Any = published(table)
    by_construct = table in {"table13_ties_pct", "table18_ragchecker_ties_pct"}
    for key in (construct, system) if by_construct else (system, construct):
        value = value.get(key) if isinstance(value, dict) else None
    if name and isinstance(value, dict):
        value = value.get(name)
    return float(value) if isinstance(value, (int, float)) else None
