"""Studies without effects of several kinds, each with its own random numbers.

Unless a kind states otherwise there are 5 raters, 4 systems and 20 queries, all of which people
rated, on a scale of 0 to 100 in steps of 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit

from analysis import Scale, ScoreTable
from analysis.core.arrays import BoolArray, FloatArray, IntArray
from analysis.core.probe_table import COLUMNS, DRIFT, ProbeTable

QUERY, RESPONSE, ERROR = 12.0, 15.0, 15.0
#: By how many points each system is worse than the one before, where they differ.
WORSE = 4.0
#: Noise that is drawn anew each time a judge is asked, where prompts are asked again.
AGAIN = 5.0
#: Altered prompts, with the direction in which a judge would be at fault.
PROBES = {
    "again": "either", "reordered": "either", "instruction up": "rise", "padding": "rise",
    "authority": "rise", "instruction down": "fall",
}  # fmt: skip
ROUNDS = 4


@dataclass(frozen=True)
class Design:
    """Sizes of the studies of a kind."""

    raters: int = 5
    queries: int = 20
    rated: int = 20
    systems: int = 4
    judges: int = 1
    constructs: int = 4
    worse: float = WORSE
    first: int = 1
    """Responses of each system to the first query; to every other one it has one."""
    answering: int | None = None
    """Systems that answer a query, chosen at random; None: all."""


KINDS: Mapping[str, Design] = {
    "exchangeable": Design(),
    "ten judges": Design(judges=10, constructs=1),
    "saturating": Design(),
    "equal systems": Design(queries=67, worse=0.0),
    "categories": Design(judges=2),
    "five points": Design(raters=6, queries=30, rated=30, worse=0.0),
    "altered prompts": Design(),
    "few raters": Design(raters=3, queries=8, rated=8),
    "one query dominates": Design(raters=2, systems=2, first=30, worse=0.0),
    "sparse overlap": Design(raters=3, queries=40, rated=40, systems=6, worse=0.0, answering=3),
    "at the maximum": Design(),
    "missing by quality": Design(worse=0.0),
    "thirty systems": Design(raters=3, systems=30, constructs=1, worse=0.0),
    "one rater": Design(raters=1, queries=8, rated=8),
    "ordinal": Design(raters=3),
}
#: By how many points responses are better where 85% of the values are at the maximum.
HIGH = 64.0
#: Quality at which half of the responses have no score where bad ones more often have none.
UNSCORED = 45.0


class Study(NamedTuple):
    """The tables of one study."""

    scores: ScoreTable
    probes: ProbeTable | None = None


def study(kind: str, number: int) -> Study:
    """One study of a kind."""
    rng = np.random.default_rng((list(KINDS).index(kind), number))
    design = KINDS[kind]
    constructs = [f"C{i + 1}" for i in range(design.constructs)]
    query, system = _responses(design, rng)
    parts: list[_Column] = []
    scale = Scale(0, 100)
    if kind == "categories":
        scale = Scale(1, 3, 1, "nominal")
        for construct in constructs:
            parts += _categories(design, construct, query, rng)
    elif kind == "five points":
        scale = Scale(1, 5, 1, "ordinal")
        for construct in constructs:
            parts += _five_points(design, construct, query, system, rng)
    elif kind == "ordinal":
        scale = Scale(1, 5, 1, "ordinal")
        for construct in constructs:
            points = _points(kind, design, construct, query, system, rng)
            parts += [part._replace(value=_pointed((part.value - 65) / 25)) for part in points]
    else:
        for construct in constructs:
            parts += _points(kind, design, construct, query, system, rng)
    frame = _long(parts, query, system)
    probes = None
    if kind == "altered prompts":
        frame["response_words"] = np.tile(rng.integers(20, 200, query.size), len(parts))[
            np.concatenate([part.present for part in parts])
        ]
        probes = _probes(parts, query, rng)
    return Study(ScoreTable.from_frame(frame, dict.fromkeys(constructs, scale)), probes)


def _responses(design: Design, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Query and system (n,) of each response."""
    if design.answering is not None:
        chosen = [
            np.sort(rng.permutation(design.systems)[: design.answering])
            for _ in range(design.queries)
        ]
        return np.repeat(np.arange(design.queries), design.answering), np.concatenate(chosen)
    times = np.r_[design.first, np.ones(design.queries - 1, dtype=np.int64)]
    query = np.repeat(np.arange(design.queries), design.systems * times)
    return query, np.tile(np.arange(design.systems), int(times.sum()))


class _Column(NamedTuple):
    """One scorer's values (n,) on a construct, the responses scored, and what it depends on."""

    construct: str
    scorer: str
    value: FloatArray
    present: BoolArray
    latent: FloatArray | None = None


def _points(
    kind: str,
    design: Design,
    construct: str,
    query: IntArray,
    system: IntArray,
    rng: np.random.Generator,
) -> list[_Column]:
    quality = (
        65
        + QUERY * rng.normal(size=design.queries)[query]
        + RESPONSE * rng.normal(size=query.size)
        - design.worse * system
    )
    if kind == "at the maximum":
        quality += HIGH
    columns = []
    for rater in range(design.raters):
        value = _rated(quality + ERROR * rng.normal(size=query.size))
        columns.append(_Column(construct, f"rater-{rater + 1}", value, query < design.rated))
    everywhere = np.ones(query.size, dtype=bool)
    for judge in range(design.judges):
        name, error = f"judge-{judge + 1}", rng.normal(size=query.size)
        if kind == "saturating":
            risen = 113 * (1 - np.exp(-np.maximum(quality, 0) / 32))
            value, latent = _rated(risen + 5 * error), None
        elif kind == "equal systems":
            value, latent = _rated(quality + 8 + 20 * error), None
        elif kind == "altered prompts":
            # The noise of one answer and what stays are together as large as a rater's.
            latent = quality + np.sqrt(ERROR**2 - AGAIN**2) * error
            value = _rated(latent + AGAIN * rng.normal(size=query.size))
        else:
            value, latent = _rated(quality + ERROR * error), None
        scored = everywhere
        if kind == "missing by quality":
            scored = rng.uniform(size=query.size) < expit((quality - UNSCORED) / 8)
        columns.append(_Column(construct, name, value, scored, latent))
    return columns


def _rated(value: FloatArray) -> FloatArray:
    return np.asarray(np.clip(5 * np.round(value / 5), 0, 100))


def _categories(
    design: Design, construct: str, query: IntArray, rng: np.random.Generator
) -> list[_Column]:
    """Each scorer chooses one of three categories; which, depends on the response and on chance."""
    utility = rng.normal(size=(design.queries, 3))[query] + 1.5 * rng.normal(size=(query.size, 3))
    names = [f"rater-{i + 1}" for i in range(design.raters)]
    names += [f"judge-{i + 1}" for i in range(design.judges)]
    everywhere = np.ones(query.size, dtype=bool)
    return [
        _Column(
            construct,
            name,
            1.0 + np.argmax(utility + rng.gumbel(size=utility.shape), axis=1),
            everywhere,
        )
        for name in names
    ]


def _five_points(
    design: Design, construct: str, query: IntArray, system: IntArray, rng: np.random.Generator
) -> list[_Column]:
    """Raters who differ in severity, two of them for each response, half of them mostly for the
    first two systems; the judge is more lenient than they are.
    """
    quality = 0.6 * rng.normal(size=design.queries)[query] + 0.8 * rng.normal(size=query.size)
    severity = 0.7 * rng.normal(size=design.raters)
    first_half = np.arange(design.raters) < design.raters / 2
    weight = np.where((system < design.systems / 2)[:, None] == first_half, 4.0, 1.0)
    # The two largest of these are two draws without replacement, with these weights.
    order = np.log(weight) + rng.gumbel(size=weight.shape)
    rated = order >= np.sort(order, axis=1)[:, -2:-1]
    columns = [
        _Column(
            construct,
            f"rater-{rater + 1}",
            _pointed(quality - severity[rater] + 0.8 * rng.normal(size=query.size)),
            rated[:, rater],
        )
        for rater in range(design.raters)
    ]
    judged = _pointed(quality + 0.5 + rng.normal(size=query.size))
    return [*columns, _Column(construct, "judge-1", judged, np.ones(query.size, dtype=bool))]


def _pointed(latent: FloatArray) -> FloatArray:
    return np.asarray(1.0 + np.searchsorted([-1.2, -0.4, 0.4, 1.2], latent))


def _long(parts: Sequence[_Column], query: IntArray, system: IntArray) -> pd.DataFrame:
    """A row for each value that is present."""
    present = np.concatenate([part.present for part in parts])
    base = {
        "response_id": np.array([f"r{i}" for i in range(query.size)], dtype=object),
        "query_id": np.array([f"q{i}" for i in query], dtype=object),
        "system": np.array([f"s{i}" for i in system], dtype=object),
    }
    columns = {name: np.tile(values, len(parts))[present] for name, values in base.items()}
    kinds = ["judge" if part.scorer.startswith("judge") else "human" for part in parts]
    of_parts = {
        "construct": [part.construct for part in parts],
        "scorer": [part.scorer for part in parts],
        "scorer_kind": kinds,
    }
    for name, values in of_parts.items():
        columns[name] = np.repeat(np.array(values, dtype=object), query.size)[present]
    columns["value"] = np.concatenate([part.value for part in parts])[present]
    return pd.DataFrame(columns)


def _probes(parts: Sequence[_Column], query: IntArray, rng: np.random.Generator) -> ProbeTable:
    """Prompts that are altered or asked again, and traits of responses, without any effect."""
    rows = []
    probed = np.flatnonzero(np.arange(query.size) % 2 == 0)
    # A round asks about fewer responses than a probe does.
    in_round = probed[:20]
    for part in parts:
        if part.latent is None:
            continue
        asked = [(probe, fault, "probe", 0, probed) for probe, fault in PROBES.items()]
        asked += [(DRIFT, "either", DRIFT, number, in_round) for number in range(ROUNDS)]
        for probe, fault, kind, number, responses in asked:
            value = _rated(part.latent + AGAIN * rng.normal(size=query.size))
            rows += [
                (part.scorer, "m", "p", kind, probe, number, fault, f"r{i}", f"q{query[i]}",
                 part.construct, value[i], None, "m")
                for i in responses
            ]  # fmt: skip
    table = ProbeTable.from_frame(pd.DataFrame(rows, columns=list(COLUMNS)))
    traits = pd.DataFrame(
        {
            "markdown": rng.integers(0, 2, query.size).astype(float),
            "support": rng.uniform(size=query.size),
        },
        index=pd.Index([f"r{i}" for i in range(query.size)], name="response_id"),
    )
    return replace(
        table,
        traits=traits,
        scorer_families={"judge-1": "a"},
        system_families={"s0": "a", "s1": "b", "s2": "b", "s3": "c"},
    )
