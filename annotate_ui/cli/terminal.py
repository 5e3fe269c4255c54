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
from annotate_ui.participants.enrolment_links import LinkState
from study.facts.label_studio_left import behind_line
from study.text import counted

_MOST_ITEMS = 20
"""Action items that are printed; `--json` has all."""
_NUMBERS = {
    *("values", "hours", "signals", "value", "queries", "finished", "target", "more"),
    *("joined", "slots left"),
    *("can't\njudge", "to each\nside", "skipped", "vacant"),
}
_TEXTS = {"enrolment link", "rater", "response", "query", "figure", "construct"}
_FIGURES = {
    "krippendorff_alpha": "alpha",
    "icc": "ICC(A,1)",
    "human_ceiling": "a rater, with the others",
    "judge_against_others": "the judge, with the same raters",
    "human_ceiling_difference": "judge minus rater",
    "kendall_tau_b": "tau-b",
    "pearson": "correlation",
    "bias": "bias, points",
}


def show_campaign(progress: CampaignProgress, signals: Sequence[RaterSignals]) -> None:
    """Print the action items, then the progress by rater and construct."""
    console = Console(highlight=False)
    items = progress.action_items
    if not items:
        console.print("No action is needed.")
    else:
        console.print(Text("Action needed", style="bold"))
    for item in items[:_MOST_ITEMS]:
        subject = "" if item.subject is None else f"{item.subject}: "
        console.print(Text(f"- {subject}{item.text}"))
        if item.command is not None:
            console.print(Text(f"    {item.command}"))
    if len(items) > _MOST_ITEMS:
        console.print(f"- and {len(items) - _MOST_ITEMS} more (--json shows all)")
    if progress.raters:
        flagged = {rater.rater: len(rater.flagged) for rater in signals}
        console.print(_raters(progress.raters, flagged))
        behind = behind_line({rater.rater: rater.label_studio_left for rater in progress.raters})
        if behind is not None:
            console.print(Text(behind))
    table = _table("construct", "values", "can't\njudge", "skipped")
    for construct in progress.constructs:
        table.add_row(
            Text(construct.construct),
            f"{construct.values:,}/{construct.expected:,}",
            f"{construct.cannot_judge:,}",
            f"{construct.skipped:,}",
        )
    console.print(table)
    if progress.links:
        console.print(_links(progress.links))
    after_reveal = sum(construct.after_reveal for construct in progress.constructs)
    if after_reveal:
        console.print(
            f"{counted(after_reveal, 'value')} entered after the reveal, kept but not counted."
        )
    finished = sum(item.finished >= item.required for item in progress.items)
    console.print(
        f"{finished:,} of {counted(len(progress.items), 'response')} "
        f"{'has all its' if finished == 1 else 'have all their'} raters."
    )


def show_items(progress: CampaignProgress) -> None:
    """Print the responses, those that lack most raters first."""
    table = _table("response", "query", "finished", "vacant")
    for item in sorted(progress.items, key=lambda item: item.finished - item.required):
        table.add_row(
            Text(item.response),
            Text(item.query),
            f"{item.finished}/{item.required}",
            str(item.vacant or ""),
        )
    Console(highlight=False).print(table)


def show_agreement(result: InterimResult) -> None:
    """Print interim figures of agreement, by construct."""
    console = Console(highlight=False)
    subject = "Agreement" if result.judge is None else f"Agreement of {result.judge} with people"
    console.print(Text(f"{subject} so far ({result.ratings:,} values)", style="bold"))
    console.print(
        Text("Not for stopping: the intervals are valid at one moment, not at the best of many.")
    )
    if result.note is not None:
        console.print(Text(f"{result.note}."))
    table = _table("construct", "figure", "value", "interval", "queries")
    by_rater = [row for row in result.figures if row["statistic"] == "rater_against_others"]
    others = [row for row in result.figures if row["statistic"] != "rater_against_others"]
    for row in others:
        table.add_row(
            Text(", ".join(row["constructs"])),
            Text(_figure(row)),
            _number(row["value"]),
            _interval(row),
            str(row["n_queries"]),
        )
    console.print(table)
    if by_rater:
        console.print("Each rater with the mean of the others (--json has the intervals):")
        console.print(_by_rater([row for row in by_rater if row["scope"] == "pooled"]))
    for row in others:
        if row["reason"]:
            console.print(
                Text(f"- {', '.join(row['constructs'])}, {_figure(row)}: {row['reason']}")
            )


def show_stopping(state: Mapping[str, Any]) -> None:
    """Print how far the stopping rule is from being met."""
    console = Console(highlight=False)
    if not state["declared"]:
        console.print(
            Text(f"{state['reason']}. Declare it in [stopping] before any interim analysis.")
        )
        return
    quantity = (
        "mean of people's values"
        if state["quantity"] == "human_mean"
        else f"mean of {state['judge']} minus people"
    )
    console.print(Text(f"Stopping rule: {quantity}, {state['level']:.0%}", style="bold"))
    table = _table("construct", "value", "to each\nside", "target", "queries", "more", "stop")
    for row in state["constructs"]:
        table.add_row(
            Text(row["construct"]),
            _number(row["value"]),
            _number(row["half_width"]),
            f"{row['target']:g}",
            f"{row['queries']}/{row['queries_assigned']}",
            "" if row["more_queries"] is None else f"{row['more_queries']:,}",
            "yes" if row["stop"] else "no",
        )
    console.print(table)
    for row in state["constructs"]:
        # The table shows which intervals are too wide.
        if row["reason"] and not row["reason"].startswith("the interval is"):
            console.print(Text(f"- {row['construct']}: {row['reason']}"))
    verdict = "Enough is rated: you may stop." if state["stop"] else "Not enough is rated yet."
    console.print(Text(verdict))


def _raters(raters: Iterable[RaterStatus], flagged: Mapping[str, int]) -> Table:
    table = _table("rater", "phase", "values", "hours", "last (UTC)", "link", "signals")
    for rater in raters:
        last = "" if rater.last_activity is None else f"{rater.last_activity:%m-%d %H:%M}"
        table.add_row(
            Text(rater.rater),
            rater.phase.replace("_", " "),
            f"{rater.values}/{rater.values_expected}",
            f"{rater.hours_active:.1f}",
            last,
            rater.link,
            str(flagged.get(rater.rater, 0) or ""),
        )
    return table


def _links(links: Iterable[LinkState]) -> Table:
    table = _table("enrolment link", "state", "joined", "slots left")
    for link in links:
        state = "closed" if link.closed else "open" if link.open else "full"
        joined = f"{link.counted}/{link.quota}"
        slots = "" if link.free_slots is None else str(link.free_slots)
        table.add_row(Text(link.name), state, joined, slots)
    return table


def _by_rater(figures: Sequence[Mapping[str, Any]]) -> Table:
    """Return each rater's correlation with the mean of the others, a column each construct."""
    constructs = list(dict.fromkeys(row["constructs"][0] for row in figures))
    table = _table("rater", *constructs)
    cells_by_rater: dict[str, dict[str, str]] = {}
    for row in figures:
        cells = cells_by_rater.setdefault(row["scorers"][0], {})
        cells[row["constructs"][0]] = _number(row["value"])
    for rater, cells in cells_by_rater.items():
        table.add_row(Text(rater), *(cells.get(construct, "") for construct in constructs))
    return table


def _figure(row: Mapping[str, Any]) -> str:
    within = ", within queries" if row["scope"] == "within_query" else ""
    measure = row["params"].get("measure")
    by = f", {_FIGURES.get(measure, measure)}" if measure else ""
    return f"{_FIGURES.get(row['statistic'], row['statistic'])}{by}{within}"


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"


def _interval(row: Mapping[str, Any]) -> str:
    if row["ci_low"] is None:
        return "–"
    return f"{_number(row['ci_low'])} to {_number(row['ci_high'])}"


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in names:
        justify: Any = "right" if name in _NUMBERS else "left"
        table.add_column(name, justify=justify, overflow="fold", no_wrap=name not in _TEXTS)
    return table
