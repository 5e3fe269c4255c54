"""Is it enough? The stopping rule, agreement and all interim analyses; and the judge, apart.

Figures are computed in another process; these pages show the newest. A chart is drawn from the
figures of the table next to it, so that the table alone is enough.
"""

from typing import TYPE_CHECKING, Any

from flask import Response, abort, jsonify, redirect, render_template, request
from flask.typing import ResponseReturnValue
from sqlalchemy import select
from werkzeug.exceptions import BadRequest

from annotate_ui.web.owner.blueprint import pages
from annotate_ui.web.rate_limits import computations
from annotate_ui.web.rater_session import study
from study.facts.scorers import machine_names
from study.schema.tables import scores

if TYPE_CHECKING:
    from annotate_ui.monitoring.interim_analysis import InterimResult, Kind
    from annotate_ui.web.owner.charts import ChartInterval

_CHARTS = {"agreement": "krippendorff_alpha", "judge": "pearson"}


@pages.get("/enough")
def enough() -> ResponseReturnValue:
    """Show the newest answer of the stopping rule, agreement among people, and all analyses."""
    from annotate_ui.monitoring.interim_analysis import interim_results

    counts: dict[str, int] = {}
    for state in _stopping_states():
        for row in state["constructs"]:
            if row["half_width"] is not None:
                counts[row["construct"]] = counts.get(row["construct"], 0) + 1
    return _page(
        "enough",
        rule=study().config.stopping,
        ruling=_newest("stopping"),
        agreement=_newest("agreement"),
        analyses=interim_results(study()),
        # A chart of one interval shows nothing.
        charted={construct for construct, count in counts.items() if count > 1},
    )


@pages.get("/judge")
def judge() -> ResponseReturnValue:
    """Show the judge's agreement with raters, but only to an owner who confirms."""
    confirmed = request.args.get("shown") == "1"
    newest = _newest("judge")
    return _page(
        "judge",
        section="enough",
        result=newest if confirmed else None,
        has_result=newest is not None,
        confirmed=confirmed,
        judges=_judges(),
    )


@pages.post("/compute/<kind>")
@computations
def compute(kind: str) -> ResponseReturnValue:
    """Start an interim analysis; its page shows the result when it is there."""
    from annotate_ui.monitoring.background_job import start

    addresses = {
        "agreement": "/owner/enough#agreement",
        "judge": "/owner/judge?shown=1",
        "stopping": "/owner/enough",
    }
    if kind not in addresses:
        abort(404)
    judge = request.form.get("judge") if kind == "judge" else None
    if kind == "judge" and judge not in _judges():
        raise BadRequest
    start(study(), kind, judge)
    return redirect(addresses[kind], 303)


@pages.get("/running")
def running() -> ResponseReturnValue:
    """Tell a page's script whether figures are being computed."""
    from annotate_ui.monitoring.background_job import running as running_kind

    return jsonify({"running": running_kind(study())})


@pages.get("/chart/<kind>-<theme>.svg")
def chart(kind: str, theme: str) -> ResponseReturnValue:
    """Return the chart of the newest interim analysis."""
    from annotate_ui.web.owner import charts

    if kind not in {*_CHARTS, "stopping"} or theme not in charts.THEMES:
        abort(404)
    drawn = None
    if kind == "stopping":
        drawn = charts.narrowing(_construct(), _stopping_states(), theme)
    else:
        result = _newest("judge" if kind == "judge" else "agreement")
        rows = [] if result is None else _intervals(result, _CHARTS[kind])
        drawn = charts.intervals(rows, theme)
    if drawn is None:
        abort(404)
    return Response(drawn, mimetype="image/svg+xml")


def _page(name: str, section: str | None = None, **values: Any) -> str:
    from annotate_ui.monitoring.background_job import failure, running as running_kind

    return render_template(
        f"owner/{name}.html",
        page=section or name,
        constructs=study().config.constructs,
        running=running_kind(study()),
        failure=failure(study()),
        **values,
    )


def _newest(kind: "Kind") -> "InterimResult | None":
    from annotate_ui.monitoring.interim_analysis import newest

    return newest(study(), kind)


def _stopping_states() -> list[dict[str, Any]]:
    """Return the result of every computation of the stopping rule, the earliest first."""
    from annotate_ui.monitoring.interim_analysis import interim_results

    results = interim_results(study(), "stopping")
    return [result.stopping for result in reversed(results) if result.stopping]


def _judges() -> list[str]:
    """Return the names of judges and then of metrics, which are compared in the same way."""
    metric = select(scores.c.scorer).where(scores.c.scorer_kind == "metric").distinct()
    with study().read() as connection:
        metrics = set(connection.execute(metric).scalars())
        names = machine_names(connection) | set(study().config.combined)
        return sorted(names, key=lambda name: (name in metrics, name))


def _intervals(result: "InterimResult", statistic: str) -> list["ChartInterval"]:
    from annotate_ui.web.owner.charts import ChartInterval

    return [
        ChartInterval(f"{spec.key} {spec.name}", row["value"], row["ci_low"], row["ci_high"])
        for spec in study().config.constructs
        for row in result.of(statistic, spec.key)[:1]
    ]


def _construct() -> str:
    key = request.args.get("construct", "")
    if key not in {spec.key for spec in study().config.constructs}:
        abort(404)
    return key
