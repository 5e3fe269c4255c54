"""Raters who agree with one another: a judge that never differs gets the best answers."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from ccrs_study import evaluate

RANK = ("no", "unlikely", "open", "likely", "yes")
SHAPES = {"one response a query": (60, 1), "three responses a query": (30, 3)}


def values(kind: str, n: int, rng: np.random.Generator) -> "np.ndarray[Any, np.dtype[np.float64]]":
    """People's values: pass or fail, three grades, or tens of points."""
    if kind == "tens":
        return np.asarray(10.0 * rng.integers(0, 11, n))
    return rng.integers(0, {"verdicts": 2, "grades": 3, "categories": 3}[kind], n).astype(float)


def answers(kind: str, people: Any, judge: Any, raters: int, shape: str) -> dict[Any, str]:
    queries, each = SHAPES[shape]
    columns = {f"rater{i}": people for i in range(raters)} | {"llm": judge}
    table = pd.DataFrame(columns)
    if kind == "categories":
        table = table.map(lambda value: ("billing", "refund", "other")[int(value)])
    table["question"] = np.repeat([f"q{i}" for i in range(queries)], each)
    given: dict[str, Any] = {} if kind == "categories" else {"scale": (people.min(), people.max())}
    if each > 1:
        given["query"] = "question"
    found = evaluate(
        table.drop(columns=[] if each > 1 else ["question"]),
        judge="llm", human=[f"rater{i}" for i in range(raters)], **given,
    )  # fmt: skip
    asked = [d for d in found.decisions if d["construct"] is None]
    return {(d["use"], d["target"]): d["answer"] for d in asked if d["answer"] in RANK}


@pytest.mark.parametrize("kind", ["verdicts", "grades", "tens", "categories"])
@pytest.mark.parametrize("raters", [2, 3])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_judge_that_never_differs_is_answered_best(kind: str, raters: int, shape: str) -> None:
    rng = np.random.default_rng(3)
    people = values(kind, int(np.prod(SHAPES[shape])), rng)
    worse = people.copy()
    places = rng.choice(people.size, 3, replace=False)
    top = people.max()
    worse[places] = np.where(worse[places] == top, worse[places] - top / 2, top)
    if kind in {"verdicts", "categories"}:
        worse[places] = (people[places] + 1) % (top + 1)
    best = answers(kind, people, people.copy(), raters, shape)
    others = answers(kind, people, worse, raters, shape)
    for use, answer in others.items():
        assert RANK.index(best[use]) >= RANK.index(answer), use
    assert set(best.values()) <= {"yes"}
