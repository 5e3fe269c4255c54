"""The units of the sample: queries or responses with their strata and permanent random numbers."""

import json
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

from study.assignment.permanent_random_numbers import permanent_number
from study.assignment.sampling_frame import FrameResponse, SamplingFrame
from study.assignment.score_strata import Band
from study.assignment.stratified_sample import Unit
from study.errors import StudyError, nearest
from study.schema.content import digest
from study.settings.campaign import DesignSpec

OF_RESPONSES = ("system", "judge_score")
"""Strata that are no attributes of a query."""

NONE = "(none)"
# A stratum's name has room for several of these.
_LONGEST = 60


def strata_of(design: DesignSpec) -> tuple[str, ...]:
    """Return what the sample is stratified by.

    Where responses are drawn one by one, that is the system too, so that all systems have equally
    many: a stratum of its own keeps the probabilities exact.
    """
    by_system = design.sample_of == "responses" and design.sample is not None
    if by_system and "system" not in design.strata:
        return (*design.strata, "system")
    return design.strata


def units_of(
    answers: Sequence[FrameResponse],
    frame: SamplingFrame,
    design: DesignSpec,
    seed: int,
    *,
    kept: Collection[int],
    barred: Collection[int],
    cell: Callable[[int], Hashable],
    band: Band | None,
) -> list[Unit]:
    """Return the units that are drawn from.

    Parameters
    ----------
    answers
        Responses that can be rated.
    kept
        Responses that are assigned already.
    barred
        Queries that serve for calibration.
    cell
        Query to those who may take it.
    band
        Response to the band of its judge score, where that makes strata.

    Raises
    ------
    StudyError
        A stratum is no attribute of any query.
    """
    names = strata_of(design)
    _known(names, frame)
    if design.sample_of == "queries":
        queries = dict.fromkeys(answer.query for answer in answers)
        at_work = {answer.query for answer in answers if answer.id in kept}
        return [
            Unit(
                query,
                query_number(seed, frame.questions[query].key),
                _label(names, frame.questions[query].attributes, {}),
                cell(query),
                query in at_work,
                query in barred,
            )
            for query in queries
        ]
    offsets = _offsets(answers, seed)
    units = []
    for answer in answers:
        if answer.query in barred and answer.id not in kept:
            # Queries were drawn for calibration first; what is left of responses is drawn from.
            continue
        question = frame.questions[answer.query]
        computed = {"system": "+".join(answer.systems) or NONE}
        if band is not None:
            computed["judge_score"] = band(answer.id)
        if answer.systems:
            # All responses to a query share a number, moved on by system: the responses that are
            # drawn are spread over queries, and within a system the numbers are as random.
            spread = permanent_number(seed, "responses", question.key)
            number = (spread + offsets[answer.systems]) % 1.0
        else:
            number = permanent_number(seed, "response", question.key, answer.key)
        units.append(
            Unit(
                answer.id,
                number,
                _label(names, question.attributes, computed),
                cell(answer.query),
                answer.id in kept,
            )
        )
    return units


def query_number(seed: int, key: str) -> float:
    """Return the permanent random number of a query."""
    return permanent_number(seed, "query", key)


def _known(names: Iterable[str], frame: SamplingFrame) -> None:
    attributes = {name for question in frame.questions.values() for name in question.attributes}
    for name in names:
        if name not in OF_RESPONSES and name not in attributes:
            raise StudyError(
                f"design.strata: no query has the attribute {name!r}. {nearest(name, attributes)} "
                f"Known: {', '.join(sorted(attributes)) or 'none'}.".replace(".  ", ". ")
            )


def _label(
    names: Sequence[str], attributes: Mapping[str, Any], computed: Mapping[str, str]
) -> str | None:
    if not names:
        return None
    values = {name: computed.get(name) or _word(attributes.get(name)) for name in names}
    return ", ".join(f"{_short(name)}={value}" for name, value in values.items())


def _word(value: Any) -> str:
    if value is None:
        return NONE
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return _short(text) or NONE


def _short(text: str) -> str:
    """Return a text as a name of one line; a long one is identified by its digest."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= _LONGEST else f"{line[:50]}~{digest(text.encode()).hex()[:8]}"


def _offsets(answers: Iterable[FrameResponse], seed: int) -> dict[tuple[str, ...], float]:
    """Return how far each system's numbers are moved on.

    Systems lie as evenly as van der Corput's sequence lays them, in the order of their names, so
    one that is added behind the others moves none. Responses that systems share lie anywhere.
    """
    together = {answer.systems for answer in answers if answer.systems}
    single = sorted({name for systems in together for name in systems})
    offsets = {(name,): _van_der_corput(place) for place, name in enumerate(single)}
    return {
        systems: offsets[systems]
        if len(systems) == 1
        else permanent_number(seed, "systems", *systems)
        for systems in together
    }


def _van_der_corput(place: int) -> float:
    number, share = 0.0, 0.5
    while place:
        number += share * (place & 1)
        place >>= 1
        share /= 2
    return number
