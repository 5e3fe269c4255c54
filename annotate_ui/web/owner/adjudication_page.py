"""Adjudication: the plan is made, shown and stored."""

from flask import redirect, render_template, request
from flask.typing import ResponseReturnValue
from sqlalchemy import func, or_, select
from werkzeug.exceptions import BadRequest

from annotate_ui.web.owner.blueprint import pages
from annotate_ui.web.owner.raters_page import rater_identities
from annotate_ui.web.rate_limits import computations
from annotate_ui.web.rater_session import study
from study.facts.ratings import ADJUDICATING, answered_constructs
from study.facts.slots import is_live
from study.schema.tables import assignments, ratings

_MOST = 1_000_000


@pages.get("/adjudication")
def adjudication() -> ResponseReturnValue:
    """Show the progress of adjudicators, and the form for a new plan."""
    with study().read() as connection:
        raters = rater_identities(connection).values()
        codes = sorted(rater.code for rater in raters if rater.left is None)
    return _page(codes=codes, plan=None)


@pages.post("/adjudication")
@computations
def plan_adjudication() -> ResponseReturnValue:
    """Show the plan without storing it."""
    from study.assignment.adjudication import adjudicate

    rater, sample, widest = _form()
    plan = adjudicate(study(), rater, sample=sample, widest=widest, dry_run=True)
    form = {"rater": rater, "sample": sample, "widest": widest}
    return _page(codes=[], form=form, plan=plan)


@pages.post("/adjudication/store")
@computations
def store_adjudication() -> ResponseReturnValue:
    """Store the plan that was shown."""
    from study.assignment.adjudication import adjudicate

    rater, sample, widest = _form()
    adjudicate(study(), rater, sample=sample, widest=widest)
    return redirect("/owner/adjudication", 303)


def _page(**values: object) -> ResponseReturnValue:
    return render_template(
        "owner/adjudication.html",
        page="adjudication",
        progress=_progress(),
        sees=study().config.rating.adjudicators_see,
        **values,
    )


def _form() -> tuple[str, int, int]:
    try:
        sample, widest = (int(request.form.get(name) or 0) for name in ("sample", "widest"))
    except ValueError:
        raise BadRequest from None
    if not (0 <= sample <= _MOST and 0 <= widest <= _MOST):
        raise BadRequest
    return request.form.get("rater", "").strip(), sample, widest


def _progress() -> list[dict[str, object]]:
    """Return responses assigned and begun, by adjudicator and stratum."""
    adjudicated = select(assignments.c.id).where(assignments.c.purpose == ADJUDICATING)
    answered = answered_constructs(ratings.c.assignment_id.in_(adjudicated))
    begun = assignments.c.id.in_(select(answered.c.assignment_id))
    with study().read() as connection:
        codes = {rater.id: rater.code for rater in rater_identities(connection).values()}
        rows = connection.execute(
            select(
                assignments.c.rater_id,
                assignments.c.stratum,
                assignments.c.inclusion_prob,
                func.count().label("responses"),
                func.count().filter(begun).label("begun"),
            )
            .where(
                assignments.c.purpose == ADJUDICATING,
                assignments.c.rater_id.is_not(None),
                # As in the progress of a rater: what was taken back counts with what it has.
                or_(is_live(), begun),
            )
            .group_by(assignments.c.rater_id, assignments.c.stratum, assignments.c.inclusion_prob)
            .order_by(assignments.c.rater_id, assignments.c.stratum)
        ).all()
    return [{**row._mapping, "rater": codes.get(row.rater_id, "")} for row in rows]
