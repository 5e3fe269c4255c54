"""Agreement so far. Figures are computed in another process; these pages show the newest.

A chart is drawn from the same figures as the table beside it, so that nobody needs to see it.
"""

from typing import TYPE_CHECKING

from flask import Response, abort, jsonify, redirect, render_template, request
from flask.typing import ResponseReturnValue
from sqlalchemy import select
from werkzeug.exceptions import BadRequest

from annotate_ui.web.owner.blueprint import pages
from annotate_ui.web.rate_limits import computations
from annotate_ui.web.rater_session import study
from study.facts.scorers import machine_names
from study.schema import Score, table

if TYPE_CHECKING:
    from annotate_ui.monitoring.interim_analysis import InterimResult
    from annotate_ui.web.owner.charts import ChartInterval

_CHARTS = {"agreement": "krippendorff_alpha", "judge": "pearson"}


@pages.get("/agreement")
def agreement() -> ResponseReturnValue:
    """Show how far people agree, by the newest look."""
    from annotate_ui.monitoring.background_job import failure, running
    from annotate_ui.monitoring.interim_analysis import newest

    served = study()
    return render_template(
        "owner/agreement.html",
        page="agreement",
        look=newest(served, "agreement"),
        constructs=served.config.constructs,
        running=running(served),
        failure=failure(served),
    )


@pages.get("/judge")
def judge() -> ResponseReturnValue:
    """Ask whether the owner wants to see the judge's agreement with raters at all."""
    from annotate_ui.monitoring.background_job import failure, running
    from annotate_ui.monitoring.interim_analysis import newest

    served = study()
    # The figures are shown only after the button was pressed.
    shown = request.args.get("shown") == "1"
    return render_template(
        "owner/judge.html",
        page="agreement",
        look=newest(served, "judge") if shown else None,
        before=newest(served, "judge") is not None,
        shown=shown,
        judges=_judges(),
        constructs=served.config.constructs,
        running=running(served),
        failure=failure(served),
    )


@pages.post("/compute/<kind>")
@computations
def compute(kind: str) -> ResponseReturnValue:
    """Have a look computed; the page shows it when it is there."""
    from annotate_ui.monitoring.background_job import start

    back = {
        "agreement": "/owner/agreement",
        "judge": "/owner/judge?shown=1",
        "stopping": "/owner/stopping",
    }
    if kind not in back:
        abort(404)
    named = request.form.get("judge") if kind == "judge" else None
    if kind == "judge" and named not in _judges():
        raise BadRequest
    start(study(), kind, named)
    return redirect(back[kind], 303)


@pages.get("/running")
def running() -> ResponseReturnValue:
    """Tell a page's script whether figures are being computed."""
    from annotate_ui.monitoring.background_job import running as what

    return jsonify({"running": what(study())})


@pages.get("/chart/<kind>-<theme>.svg")
def chart(kind: str, theme: str) -> ResponseReturnValue:
    """Return the chart of the newest interim analysis."""
    from annotate_ui.monitoring.interim_analysis import newest
    from annotate_ui.web.owner import charts

    if kind not in {*_CHARTS, "stopping"} or theme not in charts.THEMES:
        abort(404)
    drawn = None
    if kind == "stopping":
        drawn = charts.narrowing(_construct(), _stops(), theme)
    else:
        look = newest(study(), "judge" if kind == "judge" else "agreement")
        drawn = None if look is None else charts.intervals(_rows(look, _CHARTS[kind]), theme)
    if drawn is None:
        abort(404)
    return Response(drawn, mimetype="image/svg+xml")


def _judges() -> list[str]:
    """Return judges, and then metrics, which may be looked at in the same way."""
    score = table(Score)
    metric = select(score.c.scorer).where(score.c.scorer_kind == "metric").distinct()
    with study().read() as connection:
        metrics = set(connection.execute(metric).scalars())
        names = machine_names(connection) | set(study().config.juries)
        return sorted(names, key=lambda name: (name in metrics, name))


def _rows(look: "InterimResult", statistic: str) -> list["ChartInterval"]:
    from annotate_ui.web.owner.charts import ChartInterval

    names = {one.key: one.name for one in study().config.constructs}
    rows = []
    for key, name in names.items():
        for one in look.of(statistic, key)[:1]:
            rows.append(ChartInterval(f"{key} {name}", one["value"], one["ci_low"], one["ci_high"]))
    return rows


def _construct() -> str:
    key = request.args.get("construct", "")
    if key not in {one.key for one in study().config.constructs}:
        abort(404)
    return key


def _stops() -> list[dict[str, object]]:
    from annotate_ui.web.owner.stopping_page import stops

    return stops(study())
