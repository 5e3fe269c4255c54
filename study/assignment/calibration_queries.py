"""The queries that every rater has first, to find a common standard."""

from collections.abc import Callable, Collection, Iterable

from study.assignment.existing_assignments import ExistingAssignment
from study.assignment.sampling_frame import FrameResponse, SamplingFrame
from study.assignment.sampling_strata import query_number


def calibration_queries(
    wanted: int,
    answers: Iterable[FrameResponse],
    frame: SamplingFrame,
    existing: Iterable[ExistingAssignment],
    seed: int,
    *,
    spoken_for: Collection[int],
    readable: Callable[[int], bool],
    everything: bool,
) -> tuple[list[int], list[str]]:
    """Return the calibration queries and a remark where they are fewer than wanted.

    Those that somebody has already stay. Further ones come from the other end of the permanent
    random numbers than the sample, so that they were never in a smaller one.

    Parameters
    ----------
    answers
        Responses that can be rated.
    spoken_for
        Queries that are drawn for rating.
    readable
        Whether all raters can read a query.
    everything
        All other queries are rated, so one at least is left for that.
    """
    stored, at_work = set(), set(spoken_for)
    for assignment in existing:
        if assignment.purpose == "calibration":
            stored.add(assignment.query)
        elif assignment.purpose == "main":
            at_work.add(assignment.query)

    def number(query: int) -> float:
        return query_number(seed, frame.questions[query].key)

    queries = dict.fromkeys(answer.query for answer in answers)
    free = [q for q in queries if q not in stored and q not in at_work and readable(q)]
    if everything and not at_work and free:
        free.remove(min(free, key=number))
    free.sort(key=number, reverse=True)
    chosen = sorted(stored, key=number, reverse=True) + free[: max(wanted - len(stored), 0)]
    if len(chosen) >= wanted:
        return chosen, []
    return chosen, [
        f"Calibration: {len(chosen)} of {wanted} queries; no others are free that every rater "
        "can read and that are not drawn for rating."
    ]
