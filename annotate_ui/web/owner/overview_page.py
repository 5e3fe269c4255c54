"""First what needs a hand, then how far the campaign is, and whether it is paused."""

from flask import redirect, render_template, request
from flask.typing import ResponseReturnValue
from sqlalchemy import select

from annotate_ui.web.owner.blueprint import pages
from annotate_ui.web.owner.monitored import watched
from annotate_ui.web.owner.rater_ids import everybody
from annotate_ui.web.rater_session import study
from study.errors import StudyError
from study.schema import InterimAnalysis, table
from study.types import storable


@pages.get("")
def overview() -> ResponseReturnValue:
    """Show how the campaign goes."""
    from annotate_ui.participation import paused

    served = study()
    with served.read() as connection:
        message = paused(connection)
        ids = {code: one.public_id for code, one in everybody(connection).items()}
    seen = watched()
    return render_template(
        "owner/overview.html",
        page="overview",
        progress=seen.progress,
        at=seen.at,
        paused=message,
        ids=ids,
    )


@pages.post("/pause")
def pause() -> ResponseReturnValue:
    """Open nothing new to raters from now on."""
    from annotate_ui.participation import pause as pause_study

    try:
        message = storable(request.form.get("message", "").strip())
    except ValueError as error:
        raise StudyError(f"The message {error}.") from None
    pause_study(study(), message)
    return redirect("/owner", 303)


@pages.post("/resume")
def resume() -> ResponseReturnValue:
    """Take the campaign up again."""
    from annotate_ui.participation import resume as resume_study

    resume_study(study())
    return redirect("/owner", 303)


@pages.get("/interim-analyses")
def interim_analyses() -> ResponseReturnValue:
    """List who looked at interim figures, and when."""
    t = table(InterimAnalysis)
    with study().read() as connection:
        rows = connection.execute(
            select(t.c.kind, t.c.requested_in, t.c.ratings, t.c.created_at).order_by(t.c.id.desc())
        ).all()
    return render_template("owner/interim_analyses.html", page="interim_analyses", analyses=rows)
