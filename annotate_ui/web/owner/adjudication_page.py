"""Who adjudicates what: planned, shown, and stored."""

from flask import redirect, render_template, request
from flask.typing import ResponseReturnValue
from sqlalchemy import func, select
from werkzeug.exceptions import BadRequest

from annotate_ui.web.owner.blueprint import pages
from annotate_ui.web.owner.rater_ids import everybody
from annotate_ui.web.rate_limits import computations
from annotate_ui.web.rater_session import study
from study.schema import Assignment, Rating, table

_MOST = 1_000_000


@pages.get("/adjudication")
def adjudication() -> ResponseReturnValue:
    """Show who adjudicates how much, and ask for more."""
    with study().read() as connection:
        people = sorted(p.code for p in everybody(connection).values() if p.left is None)
    given = {"rater": "", "sample": 0, "widest": 0}
    return _page(people=people, given=given, plan=None)


@pages.post("/adjudication")
@computations
def plan_adjudication() -> ResponseReturnValue:
    """Show what would be stored."""
    from study.assignment.adjudication import adjudicate

    rater, sample, widest = _asked()
    plan = adjudicate(study(), rater, sample=sample, widest=widest, dry_run=True)
    given = {"rater": rater, "sample": sample, "widest": widest}
    return _page(people=[], given=given, plan=plan)


@pages.post("/adjudication/store")
@computations
def store_adjudication() -> ResponseReturnValue:
    """Store the plan that was shown."""
    from study.assignment.adjudication import adjudicate

    rater, sample, widest = _asked()
    adjudicate(study(), rater, sample=sample, widest=widest)
    return redirect("/owner/adjudication", 303)


def _page(**more: object) -> ResponseReturnValue:
    return render_template(
        "owner/adjudication.html",
        page="adjudication",
        progress=_progress(),
        sees=study().config.rating.adjudicators_see,
        **more,
    )


def _asked() -> tuple[str, int, int]:
    try:
        sample, widest = (int(request.form.get(name) or 0) for name in ("sample", "widest"))
    except ValueError:
        raise BadRequest from None
    if not (0 <= sample <= _MOST and 0 <= widest <= _MOST):
        raise BadRequest
    return request.form.get("rater", "").strip(), sample, widest


def _progress() -> list[dict[str, object]]:
    """Return, by adjudicator and stratum, how many responses there are and how many are begun."""
    a, g = table(Assignment), table(Rating)
    begun = select(g.c.assignment_id).where(g.c.assignment_id == a.c.id).exists()
    with study().read() as connection:
        codes = {one.id: one.code for one in everybody(connection).values()}
        rows = connection.execute(
            select(
                a.c.rater_id,
                a.c.stratum,
                a.c.inclusion_prob,
                func.count().label("responses"),
                func.count().filter(begun).label("begun"),
            )
            .where(a.c.purpose == "adjudication", a.c.rater_id.is_not(None))
            .group_by(a.c.rater_id, a.c.stratum, a.c.inclusion_prob)
            .order_by(a.c.rater_id, a.c.stratum)
        ).all()
    return [{**row._mapping, "rater": codes.get(row.rater_id, "")} for row in rows]
