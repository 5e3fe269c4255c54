"""Strata of the sample: attributes, systems and bands of judge scores; and the units in them."""

import json
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
from sqlalchemy import Connection

from study.assignment.sampling_frame import FrameResponse, SamplingFrame
from study.assignment.stratified_sample import Unit, permanent_number
from study.errors import StudyError, nearest
from study.facts.current_responses import current_responses
from study.facts.score_table import score_table
from study.schema.content import digest
from study.settings.design import DesignSpec
from study.study import Study

Band = Callable[[int], str]
"""Response to the name of its band."""

NO_SCORE = "(none)"


def bands(connection: Connection, study: Study, design: DesignSpec) -> Band | None:
    """Return the function from response to the band of its judge score; None without bands.

    A response's score is the mean over the judge's repeats, then over constructs.

    Raises
    ------
    StudyError
        The judge or construct is unknown, or the study has several judges and none is named.
    """
    if not design.bands:
        return None
    versions = study.construct_versions(connection)
    scores = score_table(connection, versions, config=study.config)
    name = _judge(study, design, scores)
    mine = scores[scores["scorer"] == name]
    if design.judge_construct is not None:
        mine = mine[mine["construct"] == design.judge_construct]
    each = mine.groupby(["response_id", "construct"])["value"].mean()
    means = each.groupby("response_id").mean().dropna().to_dict()
    if not means:
        raise StudyError(
            f"{name!r} has no scores that make bands; see design.judge and design.judge_construct."
        )
    current, _ = current_responses(connection)
    band_of = {
        current_response.id: _band(float(means[current_response.response_id]), design.bands)
        for current_response in current
        if current_response.response_id in means
    }
    return lambda response: band_of.get(response, NO_SCORE)


def _judge(study: Study, design: DesignSpec, scores: pd.DataFrame) -> str:
    scorers = sorted(str(name) for name in scores["scorer"].unique())
    if design.judge is not None:
        if design.judge not in scorers:
            raise StudyError(
                f"design.judge = {design.judge!r}: no scorer of that name. "
                f"{nearest(design.judge, scorers)} Known: {', '.join(scorers) or 'none'}."
            )
        return design.judge
    judges = sorted({str(n) for n in scores.loc[scores["scorer_kind"] == "judge", "scorer"]})
    if len(judges) != 1:
        raise StudyError(
            f"{study.folder} has scores of {len(judges)} judges; name in design.judge the one "
            f"whose scores make the bands. Known: {', '.join(judges) or 'none'}."
        )
    return judges[0]


def _band(score: float, starts: Sequence[float]) -> str:
    """Return the name of the band of a score; each band includes its start."""
    below = [start for start in starts if start <= score]
    above = [start for start in starts if start > score]
    if not below:
        return f"below {above[0]:g}"
    return f"{below[-1]:g} to below {above[0]:g}" if above else f"from {below[-1]:g}"


OF_RESPONSES = ("system", "judge_score")
"""Strata that are not attributes of a query."""

NONE = "(none)"
# Characters of a part of a stratum's name.
_LONGEST = 60


def strata_of(design: DesignSpec) -> tuple[str, ...]:
    """Return what the sample is stratified by.

    Where responses are drawn one by one, the system is added, so that all systems have equally
    many; a separate stratum makes the probabilities exact.
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
    assigned: Collection[int],
    barred: Collection[int],
    cell: Callable[[int], Hashable],
    band: Band | None,
) -> list[Unit]:
    """Return the units that are drawn from.

    Parameters
    ----------
    answers
        Responses that can be rated.
    assigned
        Responses that are already assigned.
    barred
        Queries used for calibration.
    cell
        Query to the raters to whom it may be assigned.
    band
        Response to the band of its judge score, if the sample is stratified by it.

    Raises
    ------
    StudyError
        A stratum is not an attribute of any query.
    """
    names = strata_of(design)
    _known(names, frame)
    if design.sample_of == "queries":
        queries = dict.fromkeys(answer.query for answer in answers)
        at_work = {answer.query for answer in answers if answer.id in assigned}
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
        if answer.query in barred and answer.id not in assigned:
            # Calibration queries were chosen first; the other responses are drawn from.
            continue
        question = frame.questions[answer.query]
        computed = {"system": "+".join(answer.systems) or NONE}
        if band is not None:
            computed["judge_score"] = band(answer.id)
        if answer.systems:
            # All responses to a query share a number, shifted by system: the drawn responses are
            # spread over queries, and the numbers within a system are still random.
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
                answer.id in assigned,
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
    """Return a text on one line; a long one is shortened and identified by its digest."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= _LONGEST else f"{line[:50]}~{digest(text.encode()).hex()[:8]}"


def _offsets(answers: Iterable[FrameResponse], seed: int) -> dict[tuple[str, ...], float]:
    """Return the shift of each system's numbers.

    The shifts are van der Corput's sequence in the order of the systems' names, which spreads them
    evenly; adding a system at the end changes no other. Shared responses have a random shift.
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
