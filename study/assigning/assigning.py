"""Assigning: what is missing is planned, shown, and stored."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from pydantic import ValidationError
from sqlalchemy import Connection, func, insert, select, text

from study.assigning.needs import Block, Needs, needs
from study.assigning.planning import Loads, choose_raters, connected
from study.assigning.reading_time import Reading
from study.campaign import Study
from study.constructs import ConstructSpec
from study.errors import StudyError, nearest
from study.nouns import (
    Assignment,
    AssignmentBase,
    JudgeRun,
    Rater,
    RaterBase,
    Response,
    Score,
    table,
)

# Any number that no other program locks.
_ASSIGNING = 0x63637261


@dataclass(frozen=True)
class RaterLoad:
    """What a rater has to do, with what they had before."""

    rater: str
    queries: int
    responses: int
    new_responses: int
    hours: float
    """Reading alone, at the study's words_per_minute."""


@dataclass(frozen=True)
class Assigned:
    """What was assigned, or would be."""

    stored: bool
    per_item: int
    queries: int
    responses: int
    assignments: int
    """New ones."""
    open_slots: int
    """New slots that nobody has yet."""
    covered: int
    """Responses that had all their raters before."""
    raters: list[RaterLoad]
    slot_hours: float
    """Reading of everything once, which is what one rater of open slots could come to."""
    connected: bool
    left_out: list[dict[str, Any]] = field(default_factory=list)
    """construct, reason, responses: what can't be rated on a construct, and why."""
    unratable: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return the figures as plain objects for JSON."""
        return asdict(self)


def assign(
    study: Study,
    raters: Sequence[str] | int | None = None,
    *,
    per_item: int = 3,
    open_slots: bool = False,
    split_queries: bool = False,
    constructs: Sequence[str] | None = None,
    dry_run: bool = False,
) -> Assigned:
    """Give each response in use to `per_item` raters, adding to what is assigned already.

    Parameters
    ----------
    raters
        Codes, or a number (rater-1 to rater-N); new ones are made. None: the study's raters.
    per_item
        Raters a response.
    open_slots
        Make slots without a rater instead; whoever joins is handed them under a lease.
    split_queries
        Assign each response by itself. Otherwise all responses to a query go to the same raters.
    constructs
        Keys of the constructs to rate; all unless given.
    dry_run
        Store nothing.

    Raises
    ------
    StudyError
        There are no responses, too few raters, an unknown construct, or a code that is none.
    """
    if per_item < 1:
        raise StudyError(f"{per_item} raters an item: give 1 or more.")
    specs = _specs(study, constructs)
    opening = study.read if dry_run else study.write
    with opening() as connection:
        if connection.dialect.name == "postgresql" and not dry_run:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ASSIGNING})
        found = needs(connection, specs, per_item, split_queries=split_queries)
        if not found.blocks and not found.covered:
            raise _nothing_to_rate(study, found)
        reading = Reading(connection, specs)
        rng = np.random.default_rng([study.config.seed, _count(connection)])
        codes = {} if open_slots else _raters(connection, study, raters, dry_run)
        if open_slots:
            rows = _slots(connection, found.blocks, rng)
        else:
            _enough(codes, found.blocks, per_item)
            rows = _named(
                connection, found.blocks, list(codes.values()), reading, rng, split_queries
            )
        for row in rows:
            AssignmentBase.model_validate({k: row[k] for k in ("construct_keys", "position")})
            row["config_hash"] = study.config_hash
        result = _result(connection, study, found, rows, codes, reading, per_item, not dry_run)
        if rows and not dry_run:
            connection.execute(insert(table(Assignment)), rows)
        return result


def _specs(study: Study, constructs: Sequence[str] | None) -> list[ConstructSpec]:
    known = {spec.key: spec for spec in study.config.constructs}
    if constructs is None:
        return list(known.values())
    for key in constructs:
        if key not in known:
            hint = nearest(key, known)
            raise StudyError(
                f"{key!r} is no construct of {study.config.name!r}. {hint} "
                f"Known: {', '.join(known)}.".replace(".  ", ". ")
            )
    return [spec for key, spec in known.items() if key in constructs]


def _nothing_to_rate(study: Study, found: Needs) -> StudyError:
    if not found.unratable:
        return StudyError(
            f"{study.folder} holds no responses. Bring them in with "
            f"`ccrs import {study.folder} RESPONSES`."
        )
    reasons = ", ".join(f"{key}: {reason}" for key, reason in found.left_out)
    return StudyError(f"No response can be rated on these constructs ({reasons}).")


def _raters(
    connection: Connection, study: Study, raters: Sequence[str] | int | None, dry_run: bool
) -> dict[str, int]:
    """Return the codes of the raters with their database keys; new ones are made."""
    w = table(Rater)
    stored = {row.code: row.id for row in connection.execute(select(w.c.id, w.c.code))}
    if raters is None:
        if not stored:
            raise StudyError(
                f"{study.folder} has no raters yet. Name them: --raters anna,ben,cara, "
                "or how many: --raters 3."
            )
        codes = sorted(stored)
    elif isinstance(raters, int):
        if raters < 1:
            raise StudyError(f"{raters} raters: give 1 or more.")
        codes = [f"rater-{number}" for number in range(1, raters + 1)]
    else:
        codes = list(raters)
        twice = sorted({code for code in codes if codes.count(code) > 1})
        if twice:
            raise StudyError(f"Rater {twice[0]!r} is named twice; name each once.")
    found: dict[str, int] = {}
    machines = _machines(connection)
    for index, code in enumerate(codes):
        if code in machines:
            raise StudyError(
                f"{code!r} is the name of a judge or metric of {study.folder}; "
                "choose another code for the rater."
            )
        try:
            noun = RaterBase.model_validate({"code": code})
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
            raise StudyError(f"Rater code {code!r}: {problem}.") from None
        if code in stored:
            found[code] = stored[code]
        elif dry_run:
            # Stands for a rater who isn't stored.
            found[code] = -1 - index
        else:
            made = insert(w).values(**noun.model_dump()).returning(w.c.id)
            found[code] = connection.execute(made).scalar_one()
    return found


def _machines(connection: Connection) -> set[str]:
    """Return names of scorers that are no people; a rater of that name would be mixed with it."""
    s, run = table(Score), table(JudgeRun)
    imported = select(s.c.scorer).where(s.c.scorer_kind.in_(("judge", "metric"))).distinct()
    return {
        *connection.execute(imported).scalars(),
        *connection.execute(select(run.c.name)).scalars(),
    }


def _enough(codes: dict[str, int], blocks: Sequence[Block], per_item: int) -> None:
    everybody = set(codes.values())
    for block in blocks:
        free = len(everybody - block.taken_by)
        if free < block.need:
            raise StudyError(
                f"{per_item} raters an item take {block.need} further raters for some responses, "
                f"and {free} of the {len(everybody)} named are free for them. Name more raters, "
                "or lower --per-item."
            )


def _named(
    connection: Connection,
    blocks: Sequence[Block],
    raters: list[int],
    reading: Reading,
    rng: np.random.Generator,
    split_queries: bool,
) -> list[dict[str, Any]]:
    held = _held(connection)
    loads = Loads(
        units=[_units(held.get(rater, {}), split_queries) for rater in raters],
        words=np.array([_words(reading, held.get(rater, {})) for rater in raters], dtype=float),
        shared=np.zeros((len(raters), len(raters)), dtype=np.int64),
    )
    for i, one in enumerate(loads.units):
        for j, other in enumerate(loads.units):
            if i != j:
                loads.shared[i, j] = len(one & other)
    words = [float(reading.words(block.query, block.responses)) for block in blocks]
    units = [block.responses[0] if split_queries else block.query for block in blocks]
    chosen = choose_raters(blocks, units, raters, words, loads, rng)
    by_rater: dict[int, dict[int, list[tuple[int, Block]]]] = defaultdict(dict)
    for block, places in zip(blocks, chosen, strict=True):
        for place in places:
            mine = by_rater[place].setdefault(block.query, [])
            mine += [(response, block) for response in block.responses]
    rows = []
    last = _last_positions(connection)
    for place in range(len(raters)):
        position = last.get(raters[place], -1)
        queries = list(by_rater.get(place, {}).values())
        for index in rng.permutation(len(queries)):
            mine = queries[index]
            for response, block in (mine[i] for i in rng.permutation(len(mine))):
                position += 1
                rows.append(_row(raters[place], response, block, position, rng))
    return rows


def _slots(
    connection: Connection, blocks: Sequence[Block], rng: np.random.Generator
) -> list[dict[str, Any]]:
    position = _last_positions(connection).get(None, -1)
    rows = []
    for index in rng.permutation(len(blocks)):
        block = blocks[index]
        for _ in range(block.need):
            for response in block.responses:
                position += 1
                rows.append(_row(None, response, block, position, rng))
    return rows


def _row(
    rater: int | None, response: int, block: Block, position: int, rng: np.random.Generator
) -> dict[str, Any]:
    keys = block.construct_keys
    return {
        "rater_id": rater,
        "response_id": response,
        # The order of constructs within a stage is part of the design, so it is stored.
        "construct_keys": [keys[i] for i in rng.permutation(len(keys))],
        "purpose": "main",
        "position": position,
        "repeat": 0,
        "channel": "own",
        "inclusion_prob": 1.0,
    }


def _result(
    connection: Connection,
    study: Study,
    found: Needs,
    rows: list[dict[str, Any]],
    codes: dict[str, int],
    reading: Reading,
    per_item: int,
    stored: bool,
) -> Assigned:
    held = _held(connection)
    new: dict[int | None, int] = defaultdict(int)
    query_of = {response: block.query for block in found.blocks for response in block.responses}
    for row in rows:
        new[row["rater_id"]] += 1
        if row["rater_id"] is not None:
            mine = held.setdefault(row["rater_id"], {})
            mine.setdefault(query_of[row["response_id"]], set()).add(row["response_id"])
    per_hour = study.config.rating.words_per_minute * 60
    names = {key: code for code, key in codes.items()}
    loads = [
        RaterLoad(
            rater=names[key],
            queries=len(held.get(key, {})),
            responses=sum(len(responses) for responses in held.get(key, {}).values()),
            new_responses=new[key],
            hours=_words(reading, held.get(key, {})) / per_hour,
        )
        for key in names
    ]
    everything: dict[int, set[int]] = defaultdict(set)
    for response, query in query_of.items():
        everything[query].add(response)
    return Assigned(
        stored=stored,
        per_item=per_item,
        queries=len(everything),
        responses=len(query_of),
        assignments=len(rows) - new[None],
        open_slots=new[None],
        covered=found.covered,
        raters=loads,
        slot_hours=_words(reading, everything) / per_hour if new[None] else 0.0,
        connected=connected(
            (rater, response)
            for rater, mine in held.items()
            for responses in mine.values()
            for response in responses
        ),
        left_out=[
            {"construct": key, "reason": reason, "responses": count}
            for (key, reason), count in sorted(found.left_out.items())
        ],
        unratable=found.unratable,
    )


def _held(connection: Connection) -> dict[int, dict[int, set[int]]]:
    """Return rater to query to responses, as assigned so far."""
    a, r = table(Assignment), table(Response)
    found: dict[int, dict[int, set[int]]] = {}
    rows = connection.execute(
        select(a.c.rater_id, r.c.query_id, r.c.id)
        .join_from(a, r, a.c.response_id == r.c.id)
        .where(a.c.rater_id.is_not(None), a.c.purpose == "main")
    )
    for rater, query, response in rows:
        found.setdefault(rater, {}).setdefault(query, set()).add(response)
    return found


def _units(held: dict[int, set[int]], split_queries: bool) -> set[int]:
    return set().union(*held.values()) if split_queries else set(held)


def _words(reading: Reading, responses: dict[int, set[int]]) -> int:
    return sum(reading.words(query, mine) for query, mine in responses.items())


def _last_positions(connection: Connection) -> dict[int | None, int]:
    a = table(Assignment)
    rows = connection.execute(select(a.c.rater_id, func.max(a.c.position)).group_by(a.c.rater_id))
    return {rater: int(position) for rater, position in rows}


def _count(connection: Connection) -> int:
    return int(connection.execute(select(func.count()).select_from(table(Assignment))).scalar_one())
