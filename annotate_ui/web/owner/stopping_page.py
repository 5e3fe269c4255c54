"""The stopping rule: how far the campaign is by it, and how the intervals have narrowed."""

from typing import Any

from flask import render_template
from flask.typing import ResponseReturnValue
from sqlalchemy import select

from annotate_ui.web.owner.blueprint import pages
from annotate_ui.web.rater_session import study
from study.schema import InterimAnalysis, table
from study.study import Study


@pages.get("/stopping")
def stopping() -> ResponseReturnValue:
    """Show the newest computation of the rule."""
    from annotate_ui.monitoring.background_job import failure, running
    from annotate_ui.monitoring.interim_analysis import newest

    served = study()
    return render_template(
        "owner/stopping.html",
        page="stopping",
        rule=served.config.stopping,
        look=newest(served, "stopping"),
        series=_series(served),
        running=running(served),
        failure=failure(served),
    )


def stops(served: Study) -> list[dict[str, Any]]:
    """Return what every computation of the rule found, the earliest first."""
    t = table(InterimAnalysis)
    with served.read() as connection:
        rows = connection.execute(
            select(t.c.result).where(t.c.kind == "stopping").order_by(t.c.id)
        ).scalars()
        return [row["stopping"] for row in rows if row.get("stopping")]


def _series(served: Study) -> set[str]:
    """Return the constructs whose intervals can be drawn: those with two or more of them."""
    seen: dict[str, int] = {}
    for state in stops(served):
        for one in state["constructs"]:
            if one["half_width"] is not None:
                seen[one["construct"]] = seen.get(one["construct"], 0) + 1
    return {key for key, count in seen.items() if count > 1}
