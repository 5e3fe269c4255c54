"""Who is who to the recruiter, for paying people; what raters wrote, and the owner's replies."""

from flask import abort, redirect, render_template, request
from flask.typing import ResponseReturnValue

from annotate_ui.web.owner.blueprint import pages
from annotate_ui.web.owner.paging import requested_page
from annotate_ui.web.owner.snapshot_cache import current_snapshot
from annotate_ui.web.rater_session import study
from study.facts.rating_rows import rating_rows


@pages.get("/people")
def people() -> ResponseReturnValue:
    """List the people with their recruiter's id, hours and code."""
    from annotate_ui.monitoring.people import people as everybody

    snapshot = current_snapshot()
    statuses, signals = snapshot.progress.raters, list(snapshot.signals.values())
    return render_template(
        "owner/people.html",
        page="people",
        people=everybody(study(), statuses, signals),
        at=snapshot.at,
    )


@pages.get("/comments")
def comments() -> ResponseReturnValue:
    """List all comments and remarks, the newest first."""
    with study().read() as connection:
        said = [row for row in rating_rows(connection, study().config) if row.has_words]
    said.sort(key=lambda row: row.last_saved_at, reverse=True)
    shown, number, count = requested_page(said)
    return render_template(
        "owner/comments.html",
        page="comments",
        said=shown,
        total=len(said),
        number=number,
        count=count,
    )


@pages.post("/comments")
def reply_to_comment() -> ResponseReturnValue:
    """Store the owner's words on a comment."""
    from annotate_ui.tasks.replies import NoSuchCommentError, reply

    assignment, construct = (request.form.get(name, "") for name in ("assignment", "construct"))
    if "\x00" in assignment + construct:
        abort(404)
    try:
        reply(study(), assignment, construct, request.form.get("words", ""))
    except NoSuchCommentError:
        abort(404)
    page = request.args.get("page", 1, type=int)
    return redirect(f"/owner/comments?page={page}#comment-{assignment}-{construct}", 303)
