"""What raters enter: values a day, the distribution of their values, and the time an item takes.

A chart is drawn from the figures of the table next to it, so that the table alone is enough.
"""

from datetime import date, timedelta
from typing import TYPE_CHECKING

from flask import Response, abort, render_template, request
from flask.typing import ResponseReturnValue

from annotate_ui.web.owner.blueprint import pages
from annotate_ui.web.owner.raters_page import rater_here, rater_identities
from annotate_ui.web.owner.snapshot_cache import current_snapshot
from annotate_ui.web.rater_session import study

if TYPE_CHECKING:
    from annotate_ui.monitoring.activity import RaterActivity

_DAYS = 7


@pages.get("/activity")
def activity() -> ResponseReturnValue:
    """Show the values of each day and rater, and the time that a response takes."""
    from annotate_ui.monitoring.activity import values_a_day

    with study().read() as connection:
        ids = {code: rater.public_id for code, rater in rater_identities(connection).items()}
    snapshot = current_snapshot()
    found = snapshot.progress.activity
    by_day = values_a_day(found)
    today = snapshot.at.date()
    return render_template(
        "owner/activity.html",
        page="activity",
        at=snapshot.at,
        activity=found,
        by_day=by_day,
        ids=ids,
        week=[today - timedelta(days=back) for back in reversed(range(_DAYS))],
    )


@pages.get("/chart/days-<theme>.svg")
def days_chart(theme: str) -> ResponseReturnValue:
    """Return the chart of values a day, of all raters or of one."""
    from annotate_ui.monitoring.activity import values_a_day
    from annotate_ui.web.owner import charts

    by_day: dict[date, int] = {}
    if "rater" in request.args:
        rater_activity = _activity(request.args["rater"])
        by_day = dict(rater_activity.days) if rater_activity else {}
    else:
        by_day = values_a_day(current_snapshot().progress.activity)
    return _image(charts.days(by_day, theme) if theme in charts.THEMES else None)


@pages.get("/chart/values-<theme>.svg")
def values_chart(theme: str) -> ResponseReturnValue:
    """Return the chart of a rater's values on a construct beside those of others."""
    from annotate_ui.web.owner import charts

    rater_activity = _activity(request.args.get("rater", ""))
    spec = study().config.construct_spec(request.args.get("construct", ""))
    if rater_activity is None or spec is None or theme not in charts.THEMES:
        abort(404)
    own, others = (
        part.get(spec.key, ()) for part in (rater_activity.values, rater_activity.others)
    )
    return _image(charts.distribution(spec.scale, own, others, theme))


def _activity(public_id: str) -> "RaterActivity | None":
    code = rater_here(public_id).code
    return next((a for a in current_snapshot().progress.activity if a.rater == code), None)


def _image(drawn: str | None) -> ResponseReturnValue:
    if drawn is None:
        abort(404)
    return Response(drawn, mimetype="image/svg+xml")
