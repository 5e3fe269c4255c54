"""Template filters: texts for keys of the database and of figures."""

from datetime import datetime

from annotate_ui.web.i18n.translation import gettext, mark
from annotate_ui.web.owner.blueprint import pages

_LABELS = {
    "phase": {
        "left": mark("has left"),
        "consent": mark("consent"),
        "instructions": mark("instructions"),
        "training": mark("training"),
        "training_failed": mark("training failed"),
        "calibration": mark("calibration"),
        "main": mark("main part"),
        "comparisons": mark("comparisons"),
        "repeats": mark("repeats"),
        "adjudication": mark("adjudication"),
        "waiting": mark("nothing to rate yet"),
        "done": mark("done"),
    },
    "signal": {
        "straight_lining": mark("long runs of one value"),
        "little_variation": mark("little variation"),
        "too_fast": mark("very fast"),
        "checks_missed": mark("checks missed"),
        "low_agreement": mark("low agreement with others"),
        "many_missing": mark("many values missing"),
    },
    "purpose": {
        "main": mark("main part"),
        "repeat": mark("repeat"),
        "calibration": mark("calibration"),
        "training": mark("training"),
        "check": mark("check"),
        "adjudication": mark("adjudication"),
    },
    "value_status": {
        "cannot_judge": mark("cannot judge"),
        "skipped": mark("skipped"),
        "withdrawn": mark("withdrawn"),
    },
    "statistic": {
        "pearson": mark("correlation"),
        "bias": mark("bias (points)"),
        "human_ceiling": mark("a rater and the other raters"),
        "judge_against_others": mark("the judge and the same raters"),
        "human_ceiling_difference": mark("difference of the two"),
    },
    "scope": {
        "pooled": mark("all responses"),
        "within_query": mark("responses to one question"),
    },
    "analysis": {
        "agreement": mark("agreement among people"),
        "judge": mark("judge compared with raters"),
        "stopping": mark("the stopping rule"),
    },
    "requested_in": {
        "page": mark("these pages"),
        "command": mark("command"),
    },
}


@pages.app_template_filter("label")
def label(key: str, kind: str) -> str:
    """Return the text for a key of a kind, such as the phase `main`."""
    text = _LABELS[kind].get(key)
    return key if text is None else gettext(text)


@pages.app_template_filter("moment")
def moment(at: datetime | str | None) -> str:
    """Return a time in UTC as text."""
    time = datetime.fromisoformat(at) if isinstance(at, str) else at
    return "" if time is None else time.strftime("%Y-%m-%d %H:%M")
