"""Items that the owner gives to people by name: a CSV file with a row for each rater and item."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection

from study.assignment.allocation import Allocation
from study.assignment.demand import Block, Demand
from study.assignment.existing_assignments import ExistingAssignment
from study.assignment.raters import RaterProfile
from study.assignment.sample import Sample
from study.assignment.sampling_frame import FrameResponse, SamplingFrame
from study.errors import StudyError, nearest
from study.facts.find_response import find_response
from study.settings.constructs import ConstructSpec

ITEM_COLUMNS = ("response_id", "query_id")
"""What names the item: a response, or all responses to a query."""


class StatedItem(NamedTuple):
    """A row of the file."""

    place: str
    """File and line, for messages."""
    rater: str
    column: str
    """One of `ITEM_COLUMNS`."""
    item: str


def read_items(path: Path) -> list[StatedItem]:
    """Read the file; its columns are `rater` and one of `ITEM_COLUMNS`.

    Raises
    ------
    StudyError
        The file cannot be read, lacks a column, has no rows, or a cell is empty.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = csv.DictReader(stream)
            names = rows.fieldnames or ()
            items = [name for name in ITEM_COLUMNS if name in names]
            if "rater" not in names or len(items) != 1:
                raise StudyError(
                    f"{path}: the columns are {', '.join(names) or 'none'}. Name them rater and "
                    "response_id, or rater and query_id for all responses to a query."
                )
            stated = [_stated(f"{path}, line {rows.line_num}", items[0], row) for row in rows]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise StudyError(f"{path} cannot be read as CSV in UTF-8: {error}.") from None
    if not stated:
        raise StudyError(f"{path} has no rows. Give each rater and item a row.")
    return stated


def _stated(place: str, column: str, row: Mapping[str, str | None]) -> StatedItem:
    cells = {name: (row[name] or "").strip() for name in ("rater", column)}
    for name, cell in cells.items():
        if not cell:
            raise StudyError(f"{place}: {name} is empty. Enter a rater and an item in each row.")
    return StatedItem(place, cells["rater"], column, cells[column])


def stated_work(
    connection: Connection,
    stated: Sequence[StatedItem],
    people: Sequence[RaterProfile],
    frame: SamplingFrame,
    existing: Sequence[ExistingAssignment],
    sample: Sample | None,
    constructs: Sequence[ConstructSpec],
) -> tuple[Demand, Allocation]:
    """Return the missing assignments of stated items, as demand and by the index of the rater.

    Parameters
    ----------
    sample
        The responses that were drawn, among which items must be; None: all are rated.

    Raises
    ------
    StudyError
        An item does not exist, cannot be rated on the constructs, is in a language that the rater
        does not read, or is not in the sample.
    """
    places = {person.code: place for place, person in enumerate(people)}
    had: dict[tuple[int, int], set[str]] = {}
    for assignment in existing:
        if assignment.rater is not None:
            key = (assignment.rater, assignment.response)
            had.setdefault(key, set()).update(assignment.construct_keys)
    demand, shared = Demand(), Allocation()
    drawn = None if sample is None else sample.responses()
    for item in stated:
        place = places[item.rater]
        person = people[place]
        for answer in _answers(connection, item, frame):
            _check(item, answer, person, frame, drawn)
            ratable = [spec.key for spec in constructs if answer.shows(spec)]
            if not ratable:
                raise StudyError(
                    f"{item.place}: response {answer.key!r} can be rated on none of the "
                    "constructs: it lacks passages or a reference. Leave it out."
                )
            mine = had.setdefault((person.id, answer.id), set())
            keys = tuple(key for key in ratable if key not in mine)
            if not keys:
                demand.covered += 1
                continue
            mine.update(keys)
            block = Block(answer.query, (answer.id,), keys, 1, frozenset())
            demand.blocks.append(block)
            shared.blocks[place].append(block)
    return demand, shared


def _answers(connection: Connection, item: StatedItem, frame: SamplingFrame) -> list[FrameResponse]:
    """Return the responses of a row that are in use."""
    if item.column == "query_id":
        keys = {query.key: id_ for id_, query in frame.questions.items()}
        answers = [a for a in frame.answers if a.query == keys.get(item.item)]
        if item.item not in keys:
            hint = nearest(item.item, keys) or f"Its ids are such as {next(iter(keys))!r}."
            raise StudyError(f"{item.place}: the study has no query {item.item!r}. {hint}")
        if not answers:
            raise StudyError(f"{item.place}: query {item.item!r} has no response to rate.")
        return answers
    try:
        found = find_response(connection, item.item)
    except StudyError as error:
        raise StudyError(f"{item.place}: {error}") from None
    answers = [answer for answer in frame.answers if answer.id == found.id]
    if not answers:
        raise StudyError(
            f"{item.place}: response {item.item!r} was replaced by a later one, or is no output of "
            "a system. Name a response that is in use."
        )
    return answers


def _check(
    item: StatedItem,
    answer: FrameResponse,
    person: RaterProfile,
    frame: SamplingFrame,
    drawn: set[int] | None,
) -> None:
    language = frame.questions[answer.query].language
    if not person.reads(language):
        raise StudyError(
            f"{item.place}: {answer.key!r} is in {language}, which {person.code!r} does not read. "
            f"Give it to another rater, or add the language to [raters.{person.code}] in "
            "study.toml."
        )
    if drawn is not None and answer.id not in drawn:
        raise StudyError(
            f"{item.place}: {answer.key!r} is not in the random sample of design.sample, so that "
            "its probability of being rated would not be known. Leave it out."
        )
