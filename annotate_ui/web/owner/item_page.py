"""One response with everything that helps to settle it: texts, ratings, comments, and the form."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import abort, redirect, render_template, request
from flask.typing import ResponseReturnValue
from sqlalchemy import Connection, select

from annotate_ui.participants.languages import language_of
from annotate_ui.web.owner.blueprint import pages
from annotate_ui.web.rater_session import study
from annotate_ui.web.text_format import chosen_text_format_context
from study.errors import StudyError
from study.facts.counted_marks import marks_of_response
from study.facts.ratings import (
    is_rejected,
    newest_ratings,
    ratings_that_count,
    settled_values,
)
from study.facts.slots import OWN_CHANNEL
from study.schema.tables import (
    assignments,
    passages,
    queries,
    raters,
    ratings,
    response_passages,
    responses,
    scores,
)
from study.types import storable

_ADJUDICATOR = "owner"


@dataclass(frozen=True)
class Dispute:
    """What raters say of a response on one construct, and what was settled."""

    key: str
    name: str
    low_end: float
    high_end: float
    """Ends of the scale."""
    people: int
    low: float
    high: float
    settled: tuple[Any, ...]
    """Rows of `settled_values`, the newest last."""

    @property
    def differs(self) -> bool:
        """Whether there are different values."""
        return self.low < self.high


@dataclass(frozen=True)
class MarkedSentence:
    """A sentence of the response, and the raters who marked it for a construct."""

    construct: str
    text: str
    raters: tuple[str, ...]
    asked: int
    """Raters who marked sentences of the response for it, or none of them."""


@dataclass(frozen=True)
class RaterWork:
    """What one rater entered for the response in one assignment."""

    code: str
    rater: str
    assignment: str
    """Public ids."""
    purpose: str
    rejected: bool


@pages.get("/items/<int:response_id>")
def item(response_id: int) -> ResponseReturnValue:
    """Show the texts and the ratings of one response."""
    with study().read() as connection:
        row = _response(connection, response_id)
        listed = connection.execute(
            select(passages.c.text)
            .join_from(response_passages, passages)
            .where(response_passages.c.response_id == response_id)
            .order_by(response_passages.c.position)
        ).scalars()
        disputes = _disputes(connection, response_id)
        values = _all_revisions(connection, response_id)
        imported = _imported(connection, response_id)
        marked = _marked(connection, row)
        work = _work(connection, response_id)
        shown = list(listed)
    settled = [row for dispute in disputes for row in dispute.settled]
    return render_template(
        "owner/item.html",
        **chosen_text_format_context(),
        page="items",
        is_rejected=is_rejected,
        item=row,
        language=language_of(row.attributes, study().config),
        passages=shown,
        values=values,
        imported=imported,
        marked=marked,
        work=work,
        disputes=disputes,
        adjudicator=settled[-1].code if settled else _ADJUDICATOR,
    )


@pages.post("/items/<int:response_id>/settle")
def settle_item(response_id: int) -> ResponseReturnValue:
    """Store the values that the owner has settled on."""
    from annotate_ui.tasks.settlement import settle

    with study().read() as connection:
        _response(connection, response_id)
    values = {}
    for spec in study().config.constructs:
        entered = request.form.get(f"value-{spec.key}", "").strip()
        if entered:
            values[spec.key] = _number(spec.key, entered)
    try:
        comment = storable(request.form.get("comment", "").replace("\r\n", "\n").strip())
        code = storable(request.form.get("rater", "").strip())
    except ValueError as error:
        raise StudyError(f"The text {error}. Nothing was stored.") from None
    settle(study(), response_id, code, values, comment or None)
    return redirect(f"/owner/items/{response_id}#settle", 303)


def _number(key: str, entered: str) -> float:
    try:
        return float(entered.replace(",", ".").replace("\u2212", "-"))
    except ValueError:
        raise StudyError(f"{key}: {entered!r} is not a number. Nothing was stored.") from None


def _response(connection: Connection, response_id: int) -> Any:
    # No key of a database is larger.
    if response_id >= 2**31:
        abort(404)
    row = connection.execute(
        select(
            responses.c.id,
            responses.c.key,
            responses.c.text,
            queries.c.key.label("query"),
            queries.c.text.label("question"),
            queries.c.references,
            queries.c.attributes,
        )
        .join_from(responses, queries, responses.c.query_id == queries.c.id)
        .where(responses.c.id == response_id)
    ).one_or_none()
    if row is None:
        abort(404)
    return row


def _all_revisions(connection: Connection, response_id: int) -> Sequence[Any]:
    return connection.execute(
        select(
            raters.c.code,
            raters.c.public_id,
            assignments.c.purpose,
            ratings.c.construct_key,
            ratings.c.revision,
            ratings.c.value,
            ratings.c.status,
            ratings.c.reason,
            ratings.c.comment,
            ratings.c.flags,
            ratings.c.after_reveal,
            ratings.c.created_at,
        )
        .join_from(ratings, assignments, ratings.c.assignment_id == assignments.c.id)
        .join(raters, assignments.c.rater_id == raters.c.id)
        .where(assignments.c.response_id == response_id)
        .order_by(ratings.c.construct_key, raters.c.code, assignments.c.id, ratings.c.revision)
    ).all()


def _work(connection: Connection, response_id: int) -> list[RaterWork]:
    """Return the work that can be rejected, or was."""
    on_this = select(assignments.c.id).where(
        assignments.c.response_id == response_id,
        assignments.c.channel == OWN_CHANNEL,
        assignments.c.purpose != "training",
    )
    newest = newest_ratings(ratings.c.assignment_id.in_(on_this))
    rows = connection.execute(
        select(
            raters.c.code,
            raters.c.public_id.label("rater"),
            assignments.c.public_id.label("assignment"),
            assignments.c.purpose,
            newest.c.status,
            newest.c.reason,
        )
        .join_from(newest, assignments, newest.c.assignment_id == assignments.c.id)
        .join(raters, assignments.c.rater_id == raters.c.id)
        .order_by(raters.c.code, assignments.c.id)
    )
    work: dict[str, RaterWork] = {}
    for row in rows:
        before = work.get(row.assignment)
        rejected = is_rejected(row) or (before is not None and before.rejected)
        work[row.assignment] = RaterWork(row.code, row.rater, row.assignment, row.purpose, rejected)
    return list(work.values())


def _imported(connection: Connection, response_id: int) -> Sequence[Any]:
    return connection.execute(
        select(scores)
        .where(
            scores.c.response_id == response_id,
            scores.c.scorer_kind == "human",
            scores.c.repeat == 0,
        )
        .order_by(scores.c.construct_key, scores.c.scorer)
    ).all()


def _marked(connection: Connection, response: Any) -> list[MarkedSentence]:
    """Return the marked sentences by construct, in the order of the response."""
    asked: Counter[str] = Counter()
    by_sentence: dict[tuple[str, int, int], list[str]] = {}
    for row in marks_of_response(connection, response.id):
        asked[row.construct_key] += 1
        for start, end in row.ranges:
            by_sentence.setdefault((row.construct_key, start, end), []).append(row.code)
    return [
        MarkedSentence(key, response.text[start:end], tuple(codes), asked[key])
        for (key, start, end), codes in sorted(by_sentence.items())
    ]


def _disputes(connection: Connection, response_id: int) -> list[Dispute]:
    """Return the constructs on which the response has values, in the order of study.toml."""
    values = _values(connection, response_id)
    settled: dict[str, list[Any]] = {}
    chosen = settled_values().where(assignments.c.response_id == response_id)
    for row in connection.execute(chosen):
        settled.setdefault(row.construct_key, []).append(row)
    return [
        Dispute(
            spec.key,
            spec.name,
            spec.scale.min,
            spec.scale.max,
            len(values[spec.key]),
            min(values[spec.key]),
            max(values[spec.key]),
            tuple(settled.get(spec.key, ())),
        )
        for spec in study().config.constructs
        if spec.key in values
    ]


def _values(connection: Connection, response_id: int) -> Mapping[str, list[float]]:
    """Return the values of raters, given here or imported, that count, by construct."""
    main = select(assignments.c.id).where(
        assignments.c.response_id == response_id,
        assignments.c.purpose == "main",
        assignments.c.rater_id.is_not(None),
    )
    values: dict[str, list[float]] = {}
    for row in _imported(connection, response_id):
        if row.value is not None:
            values.setdefault(row.construct_key, []).append(row.value)
    for rating in ratings_that_count(connection, ratings.c.assignment_id.in_(main)):
        if rating.value is not None:
            values.setdefault(rating.construct_key, []).append(rating.value)
    return values
