"""The words for what the database and the figures name by a key."""

from datetime import datetime

from annotate_ui.web.i18n.translation import gettext as _
from annotate_ui.web.owner.blueprint import pages


@pages.app_template_filter("moment")
def moment(at: datetime | str | None) -> str:
    """Return a time in UTC as text."""
    found = datetime.fromisoformat(at) if isinstance(at, str) else at
    return "" if found is None else found.strftime("%Y-%m-%d %H:%M")


@pages.app_template_filter("phase")
def phase(key: str) -> str:
    """Return the part of the work that a rater is in."""
    words = {
        "left": _("has left"),
        "consent": _("consent"),
        "instructions": _("instructions"),
        "training": _("training"),
        "training_failed": _("training failed"),
        "calibration": _("calibration"),
        "main": _("main part"),
        "comparisons": _("comparisons"),
        "repeats": _("repeats"),
        "adjudication": _("adjudication"),
        "waiting": _("nothing to rate yet"),
        "done": _("done"),
    }
    return words.get(key, key)


@pages.app_template_filter("signal")
def signal(key: str) -> str:
    """Return what a signal is about."""
    words = {
        "straight_lining": _("same value over and over"),
        "little_variation": _("little variation"),
        "too_fast": _("very fast"),
        "checks_missed": _("checks missed"),
        "low_agreement": _("far from the others"),
        "many_missing": _("many without a value"),
    }
    return words.get(key, key)


@pages.app_template_filter("purpose")
def purpose(key: str) -> str:
    """Return what an assignment is for, or why there is no value."""
    words = {
        "main": _("main part"),
        "repeat": _("repeat"),
        "calibration": _("calibration"),
        "training": _("training"),
        "check": _("check"),
        "adjudication": _("adjudication"),
        "cannot_judge": _("cannot judge"),
        "skipped": _("skipped"),
        "withdrawn": _("withdrawn"),
    }
    return words.get(key, key)


@pages.app_template_filter("statistic")
def statistic(key: str) -> str:
    """Return a figure's name."""
    words = {
        "pearson": _("correlation"),
        "bias": _("bias (points)"),
        "human_ceiling": _("a rater against the others"),
        "judge_against_others": _("the judge against the same others"),
        "human_ceiling_difference": _("difference of the two"),
    }
    return words.get(key, key)


@pages.app_template_filter("scope")
def scope(key: str) -> str:
    """Return what a figure is taken over."""
    words = {"pooled": _("all responses"), "within_query": _("responses to one question")}
    return words.get(key, key)
