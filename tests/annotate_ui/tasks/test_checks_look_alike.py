"""An attentive rater, who sees pages and their order, cannot tell attention checks."""

from collections import Counter
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from sqlalchemy import select

from annotate_ui.tasks.passes import Pass
from annotate_ui.tasks.steps import rater_work
from study import Study
from study.assignment.planner import assign
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, PassageRow, ResponseRow
from study.schema.tables import raters as rater_table, response_passages
from tests.annotate_ui.designed_campaign import configure, go_through
from tests.annotate_ui.rated_campaign import give
from tests.annotate_ui.tasks.test_onboarding import enrol

pytestmark = pytest.mark.slow

# Raters guess by the rarest appearance among their queries, and by place.
GUESSES = ("rarest", "most responses", "first", "last")


def fill(study: Study, systems: Sequence[int]) -> None:
    """Import queries with these numbers of systems, which retrieve passages of their own.

    Every third query has no reference, so that its responses are rated on fewer constructs.
    """
    rows: list[LocatedRow] = []
    for query, number in enumerate(systems):
        for system in range(number):
            words = " ".join([f"word{query}"] * 6 + [f"word{query}of{system}"] * 6)
            row = ResponseRow(
                query_id=f"q{query}",
                query=f"question {query}",
                system=f"s{system}",
                response=words,
                passages=(PassageRow(text=f"shared {query}"), PassageRow(text=words[::-1])),
                references=("reference",) if query % 3 else (),
            )
            rows.append(LocatedRow(len(rows) + 1, row))
    import_rows(study, rows, source="t", sha256=uuid4().hex, importer="responses")


def appearance(connection: Any, pass_: Pass) -> tuple[Any, ...]:
    """Return what the pages of a query show of its form, the marks of shared passages included."""
    steps = tuple(
        (step.part, step.part_count, step.response_number, step.response_count,
         frozenset(step.construct_keys), step.stage.fields, step.item.layout)
        for step in pass_.steps
    )  # fmt: skip
    shown: list[frozenset[int]] = []
    marks = []
    for item in pass_.items:
        of_response = select(response_passages.c.passage_id).where(
            response_passages.c.response_id == item.response_id
        )
        passages = frozenset(connection.execute(of_response).scalars())
        marks.append(tuple(len(passages & earlier) for earlier in shown))
        shown.append(passages)
    return steps, tuple(marks)


def guessed(looks: Sequence[Any], number: int, how: str, rng: np.random.Generator) -> set[int]:
    """Return the places that a rater takes for the checks, of which they know the number."""
    often = Counter(looks)
    keys = {
        "rarest": lambda place: often[looks[place]],
        "most responses": lambda place: -len(looks[place][1]),
        "first": lambda place: place,
        "last": lambda place: -place,
    }
    shuffled = [int(place) for place in rng.permutation(len(looks))]
    return set(sorted(shuffled, key=keys[how])[:number])


def shares(campaigns: Sequence[tuple[list[Any], set[int]]]) -> dict[str, tuple[float, float]]:
    """Return for each way of guessing how many guesses are right, in deviations from chance."""
    rng = np.random.default_rng(1)
    found = {}
    for how in GUESSES:
        right, expected, variance = 0, 0.0, 0.0
        for looks, checks in campaigns:
            n, k = len(looks), len(checks)
            right += len(guessed(looks, k, how, rng) & checks)
            expected += k * k / n
            variance += k * (k / n) * (1 - k / n) * (n - k) / max(n - 1, 1)
        found[how] = (right / sum(len(checks) for _, checks in campaigns),
                      (right - expected) / variance**0.5)  # fmt: skip
    return found


def seen(study: Study, code: str) -> tuple[list[Any], set[int]]:
    with study.read() as connection:
        rater = connection.execute(
            select(rater_table.c.id).where(rater_table.c.code == code)
        ).scalar_one()
        passes = [
            p for p in rater_work(connection, study.config, rater).passes if p.phase == "main"
        ]
        looks = [appearance(connection, pass_) for pass_ in passes]
    checks = {
        place
        for place, pass_ in enumerate(passes)
        if any(item.purpose == "check" for item in pass_.items)
    }
    return looks, checks


STAGED, UNSTAGED = None, ("QR",)
"""Constructs of a campaign: all, which are rated in three stages, or one."""


def test_checks_of_named_raters_are_guessed_no_better_than_by_chance(study: Study) -> None:
    forms = [[systems] * 30 for systems in (1, 2, 3, 4)] + [[1 + q % 3 for q in range(30)]]
    campaigns = []
    for number, systems in enumerate(forms):
        made = Study.create(
            study.folder.parent / f"of-{number}", f'name = "{number}"\nseed = {number}\n'
        )
        fill(made, systems)
        layout: Any = "side_by_side" if number == 3 else "single"
        assign(
            made, 4, per_item=2, checks=4, sample=24, layout=layout,
            constructs=UNSTAGED if number == 1 else STAGED,
        )  # fmt: skip
        campaigns += [seen(made, f"rater-{rater}") for rater in range(1, 5)]
        made.close()
    assert all(len(checks) == 4 for _, checks in campaigns)
    told = shares(campaigns)
    assert max(deviations for _, deviations in told.values()) < 2.5, told


@pytest.mark.parametrize("systems", [1, 3])
def test_checks_among_open_slots_are_guessed_no_better_than_by_chance(
    study: Study, systems: int
) -> None:
    fill(study, [systems] * 14)
    configure(study, design={"checks": 2})
    for _ in range(4):
        give(study, None, keys=["QR", "AC"], queries=[f"q{query}" for query in range(10)])
    campaigns = []
    for number in range(8):
        go_through(study, enrol(study, f"r{number}", 4))
        campaigns.append(seen(study, f"r{number}"))
    assert all(len(checks) == 2 for _, checks in campaigns)
    told = shares(campaigns)
    assert max(deviations for _, deviations in told.values()) < 2.5, told
