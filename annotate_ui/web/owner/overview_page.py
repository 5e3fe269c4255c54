"""The overview: action items, progress, and whether the campaign is paused."""

from flask import redirect, render_template, request
from flask.typing import ResponseReturnValue

from annotate_ui.web.owner.blueprint import pages
from annotate_ui.web.owner.raters_page import rater_identities
from annotate_ui.web.owner.snapshot_cache import current_snapshot
from annotate_ui.web.rater_session import study
from study.errors import StudyError
from study.types import storable


@pages.get("")
def overview() -> ResponseReturnValue:
    """Show the state of the campaign."""
    from annotate_ui.participation import paused

    with study().read() as connection:
        message = paused(connection)
        ids = {code: rater.public_id for code, rater in rater_identities(connection).items()}
    snapshot = current_snapshot()
    return render_template(
        "owner/overview.html",
        page="overview",
        progress=snapshot.progress,
        at=snapshot.at,
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
    """Resume the campaign."""
    from annotate_ui.participation import resume as resume_study

    resume_study(study())
    return redirect("/owner", 303)
