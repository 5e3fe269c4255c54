"""Which pairs of responses are compared, by whom, and which of the two is shown first.

`ccrs assign` calls `comparison_rows` with an open connection and stores the rows it returns with
`store_comparisons`; both do nothing where `design.comparisons` is 0.

Pairs are drawn by `study.assignment.response_pairs` and given to raters by
`study.assignment.pair_allocation`.
"""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from sqlalchemy import Connection, func, insert, select

from study.assignment.load_balance import connected
from study.assignment.pair_allocation import ExistingComparison, PairRaters
from study.assignment.response_pairs import Pair, all_pairs, draw
from study.schema import Comparison, ComparisonBase, table
from study.settings.constructs import ConstructSpec
from study.study import Study

# Any number that no other plan of the same seed uses.
_COMPARING = 0x70616972


@dataclass(frozen=True)
class ComparisonsPlanned:
    """What is compared: the figures that the command shows."""

    pairs: int = 0
    """Pairs of responses drawn, with those drawn before."""
    comparisons: int = 0
    """New ones: a pair, a construct and a rater."""
    short: int = 0
    """Comparisons for which no rater is free."""
    connected: bool = True
    """All raters are linked through pairs that they share."""
    by_rater: dict[str, int] = field(default_factory=dict)
    """Code to number of comparisons, those given before included."""
    by_systems: dict[str, int] = field(default_factory=dict)
    """`A / B` to number of pairs of responses drawn."""
    left_out: list[dict[str, Any]] = field(default_factory=list)
    """construct, reason, pairs: what can't be compared on a construct, and why."""

    def as_json(self) -> dict[str, Any]:
        """Return the figures as plain objects for JSON."""
        return asdict(self)


def comparison_rows(
    connection: Connection,
    study: Study,
    raters: Mapping[str, int],
    *,
    per_item: int,
    drawn: Mapping[int, float] | None = None,
    barred: Mapping[int, Container[int]] | None = None,
) -> tuple[list[dict[str, Any]], ComparisonsPlanned]:
    """Plan what is missing until each drawn pair has `per_item` raters on each construct.

    Parameters
    ----------
    connection
        The transaction of the assigning; nothing is written by it here.
    raters
        Codes with database keys; in a dry run a new rater's may be any negative number.
    per_item
        Raters of each pair and construct.
    drawn
        Queries that pairs are drawn from, with the probability of each to be among them; all
        answered queries unless given. The probabilities of the pairs are multiplied by it.
    barred
        Rater (database key) to queries that this rater must not be given.

    Returns
    -------
    tuple
        Rows for `store_comparisons`, each rater's behind what they have already, and what the
        command says of them.
    """
    design = study.config.design
    if not design.comparisons:
        return [], ComparisonsPlanned()
    keys = design.comparison_constructs
    specs = [c for c in study.config.constructs if not keys or c.key in keys]
    existing = _existing_comparisons(connection)
    pairs = all_pairs(connection, study.config.seed, specs, drawn)
    probability, by_systems = draw(pairs, design.comparisons, {h.pair for h in existing})
    chosen = [pair for pair in pairs if pair.name in probability]
    for pair in chosen:
        if drawn is not None:
            probability[pair.name] *= drawn[pair.query]
    rng = np.random.default_rng([study.config.seed, _COMPARING, len(existing)])
    plan = PairRaters(list(raters.values()), existing, chosen, barred or {}, rng)
    left_out: Counter[tuple[str, str]] = Counter()
    for index in rng.permutation(len(chosen)):
        plan.give(chosen[index], specs, per_item, left_out)
    rows = _in_order(plan.given, specs, probability, _last_positions(connection), rng)
    for row in rows:
        row["config_hash"] = study.config_hash
    return rows, ComparisonsPlanned(
        pairs=len(chosen),
        comparisons=len(rows),
        short=plan.short,
        connected=connected((rater, hash(pair)) for rater, pair in plan.who_has_what()),
        by_rater={code: plan.comparisons[rater] for code, rater in raters.items()},
        by_systems={" / ".join(systems): count for systems, count in sorted(by_systems.items())},
        left_out=[
            {"construct": key, "reason": reason, "pairs": count}
            for (key, reason), count in sorted(left_out.items())
        ],
    )


def store_comparisons(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Store the rows of a plan."""
    if not rows:
        return
    for row in rows:
        fields = {name: row[name] for name in ComparisonBase.model_fields if name in row}
        ComparisonBase.model_validate(fields)
    connection.execute(insert(table(Comparison)), [dict(row) for row in rows])


def _in_order(
    allocated: Iterable[tuple[int, Pair, str, bool]],
    specs: Sequence[ConstructSpec],
    probability: Mapping[frozenset[int], float],
    last: Mapping[int, int],
    rng: np.random.Generator,
) -> list[dict[str, Any]]:
    """Return rows in each rater's order: queries shuffled, and no field before it must be seen."""
    shown = {spec.key: ("reference" in spec.sees, "context" in spec.sees) for spec in specs}
    by_rater: dict[int, dict[int, list[tuple[int, Pair, str, bool]]]] = {}
    for comparison in allocated:
        by_rater.setdefault(comparison[0], {}).setdefault(comparison[1].query, []).append(
            comparison
        )
    rows = []
    for rater, queries in by_rater.items():
        position = last.get(rater, -1)
        work = list(queries.values())
        for index in rng.permutation(len(work)):
            mine = [work[index][i] for i in rng.permutation(len(work[index]))]
            for _, pair, key, swapped in sorted(mine, key=lambda comparison: shown[comparison[2]]):
                position += 1
                rows.append(
                    {
                        "rater_id": rater,
                        "query_id": pair.query,
                        "response_a_id": pair.a,
                        "response_b_id": pair.b,
                        "construct_key": key,
                        "position": position,
                        "swapped": swapped,
                        "inclusion_prob": probability[pair.name],
                        "stratum": None,
                    }
                )
    return rows


def _existing_comparisons(connection: Connection) -> list[ExistingComparison]:
    c = table(Comparison)
    rows = connection.execute(
        select(
            c.c.rater_id,
            c.c.response_a_id,
            c.c.response_b_id,
            c.c.construct_key,
            c.c.swapped,
            c.c.released_at,
        ).order_by(c.c.id)
    )
    return [
        ExistingComparison(
            row.rater_id,
            frozenset((row.response_a_id, row.response_b_id)),
            row.construct_key,
            row.response_b_id if row.swapped else row.response_a_id,
            row.released_at is None,
        )
        for row in rows
    ]


def _last_positions(connection: Connection) -> dict[int, int]:
    c = table(Comparison)
    rows = connection.execute(select(c.c.rater_id, func.max(c.c.position)).group_by(c.c.rater_id))
    return {rater: int(position) for rater, position in rows}
