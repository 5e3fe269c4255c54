"""A campaign on a terminal of 80 columns."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from annotate_ui.monitoring.campaign_progress import CampaignProgress
from annotate_ui.monitoring.careless_responding import RaterSignals
from annotate_ui.monitoring.interim_analysis import InterimResult
from annotate_ui.monitoring.rater_status import RaterStatus

_SHOWN = 20
"""Of what needs a hand; `--json` has all."""
_ALSO_NUMBERS = {"can't\njudge", "to each\nside", "skipped"}


def show_campaign(progress: CampaignProgress, signals: Sequence[RaterSignals]) -> None:
    """Print what needs a hand, then the raters."""
    console = Console(highlight=False)
    hands = progress.needs_a_hand
    if not hands:
        console.print("Nothing needs a hand.")
    else:
        console.print(Text("Needs a hand", style="bold"))
    for one in hands[:_SHOWN]:
        who = "" if one.who is None else f"{one.who}: "
        console.print(Text(f"- {who}{one.words}"))
        if one.command is not None:
            console.print(Text(f"    {one.command}"))
    if len(hands) > _SHOWN:
        console.print(f"- and {len(hands) - _SHOWN} more (--json shows all)")
    if progress.raters:
        flagged = {one.rater: len(one.flagged) for one in signals}
        console.print(_raters(progress.raters, flagged))
    table = _table("construct", "values", "can't\njudge", "skipped")
    for construct in progress.constructs:
        table.add_row(
            Text(construct.construct),
            f"{construct.values:,}/{construct.expected:,}",
            f"{construct.cannot_judge:,}",
            f"{construct.skipped:,}",
        )
    console.print(table)
    after_reveal = sum(construct.after_reveal for construct in progress.constructs)
    if after_reveal:
        console.print(
            f"{after_reveal:,} value{'' if after_reveal == 1 else 's'} entered after the reveal, "
            "kept but not counted."
        )
    finished = sum(item.finished >= item.wanted for item in progress.items)
    console.print(f"{finished:,} of {len(progress.items):,} responses have all their raters.")


def show_items(progress: CampaignProgress) -> None:
    """Print the responses, those furthest from done first."""
    console = Console(highlight=False)
    table = _table("response", "query", "finished", "nobody's")
    for item in sorted(progress.items, key=lambda one: one.finished - one.wanted):
        table.add_row(
            Text(item.response),
            Text(item.query),
            f"{item.finished}/{item.wanted}",
            str(item.nobodys or ""),
        )
    console.print(table)


def show_look(found: InterimResult) -> None:
    """Print interim figures of agreement, by construct."""
    console = Console(highlight=False)
    title = "Agreement so far" if found.judge is None else f"{found.judge} beside people, so far"
    console.print(Text(f"{title} ({found.ratings:,} values)", style="bold"))
    console.print(
        Text("Not for stopping: these figures hold at one look, not at the best of many.")
    )
    if found.note is not None:
        console.print(Text(f"{found.note}."))
    table = _table("construct", "figure", "value", "interval", "queries")
    each = [one for one in found.figures if one["statistic"] == "rater_against_others"]
    for one in found.figures:
        if one in each:
            continue
        table.add_row(
            Text(", ".join(one["constructs"])),
            Text(_figure(one)),
            _number(one["value"]),
            _interval(one),
            str(one["n_queries"]),
        )
    console.print(table)
    if each:
        console.print("Each rater against the mean of the others (--json has the intervals):")
        console.print(_each_rater([one for one in each if one["scope"] == "pooled"]))
    for one in found.figures:
        if one["reason"] and one not in each:
            console.print(
                Text(f"- {', '.join(one['constructs'])}, {_figure(one)}: {one['reason']}")
            )


def show_stopping(state: Mapping[str, Any]) -> None:
    """Print how far the stopping rule is from being met."""
    console = Console(highlight=False)
    if not state["declared"]:
        console.print(
            Text(f"{state['reason']}. Declare it in [stopping] before any interim analysis.")
        )
        return
    what = (
        "mean of people's values"
        if state["quantity"] == "human_mean"
        else (f"mean of {state['judge']} minus people")
    )
    console.print(Text(f"Stopping rule: {what}, {state['level']:.0%}", style="bold"))
    table = _table("construct", "value", "to each\nside", "wanted", "queries", "more", "stop")
    for one in state["constructs"]:
        table.add_row(
            Text(one["construct"]),
            _number(one["value"]),
            _number(one["half_width"]),
            f"{one['wanted']:g}",
            f"{one['queries']}/{one['queries_assigned']}",
            "" if one["more"] is None else f"{one['more']:,}",
            "yes" if one["stop"] else "no",
        )
    console.print(table)
    for one in state["constructs"]:
        # What is only too wide stands in the table.
        if one["reason"] and not one["reason"].startswith("the interval is"):
            console.print(Text(f"- {one['construct']}: {one['reason']}"))
    verdict = "Enough is rated: you may stop." if state["stop"] else "Go on rating."
    console.print(Text(verdict))


def _raters(raters: Iterable[RaterStatus], flagged: Mapping[str, int]) -> Table:
    table = _table("rater", "part", "values", "hours", "last (UTC)", "link", "signals")
    for one in raters:
        last = "" if one.last_activity is None else f"{one.last_activity:%m-%d %H:%M}"
        table.add_row(
            Text(one.rater),
            one.phase.replace("_", " "),
            f"{one.values}/{one.values_expected}",
            f"{one.hours_active:.1f}",
            last,
            one.link,
            str(flagged.get(one.rater, 0) or ""),
        )
    return table


def _each_rater(figures: Sequence[Mapping[str, Any]]) -> Table:
    """Return each rater's correlation with the mean of the others, a column each construct."""
    constructs = list(dict.fromkeys(one["constructs"][0] for one in figures))
    table = _table("rater", *constructs)
    rows: dict[str, dict[str, str]] = {}
    for one in figures:
        rows.setdefault(one["scorers"][0], {})[one["constructs"][0]] = _number(one["value"])
    for rater, cells in rows.items():
        table.add_row(Text(rater), *(cells.get(construct, "") for construct in constructs))
    return table


def _figure(one: Mapping[str, Any]) -> str:
    names = {
        "krippendorff_alpha": "alpha",
        "icc": "ICC(A,1)",
        "human_ceiling": "a rater against others",
        "judge_against_others": "the judge against the same",
        "human_ceiling_difference": "judge minus rater",
        "pearson": "correlation",
        "bias": "bias, points",
    }
    within = ", within queries" if one["scope"] == "within_query" else ""
    return f"{names.get(one['statistic'], one['statistic'])}{within}"


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"


def _interval(one: Mapping[str, Any]) -> str:
    if one["ci_low"] is None:
        return "–"
    return f"{_number(one['ci_low'])} to {_number(one['ci_high'])}"


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    numbers = {"values", "hours", "signals", "value", "queries", "finished", "wanted", "more"}
    for name in names:
        right = name in numbers or name in _ALSO_NUMBERS
        words = name.startswith("rater") or name in {"response", "query", "figure", "construct"}
        table.add_column(
            name,
            justify="right" if right else "left",
            overflow="fold",
            no_wrap=not words,
        )
    return table
