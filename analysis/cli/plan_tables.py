"""The tables that `ccrs plan` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from analysis.planning.power import PowerPlan
    from analysis.planning.simulation import WidthPlan


def print_plan(widths: WidthPlan | None, power: PowerPlan | None, notes: Sequence[str]) -> None:
    """Print the tables, then the notes on what was simulated."""
    if widths is not None:
        _print_widths(widths)
    if power is not None:
        if widths is not None:
            click.echo()
        _print_power(power)
    for note in notes:
        click.echo(note)


def _print_widths(plan: WidthPlan) -> None:
    """How many queries each wanted width needs."""
    from analysis.planning.curve import caption

    table = _table("figure", "± wanted", "raters", "queries", "responses", "ratings", "hours")
    before = None
    smallest = min(cell.queries for cell in plan.cells)
    remarks = []
    for answer in plan.answers:
        first = answer.statistic != before
        before = answer.statistic
        cells = [answer.statistic if first else "", f"{answer.wanted:g}" if first else ""]
        cells.append(str(answer.raters))
        if answer.queries is None:
            table.add_row(*cells, "-", "", "", "")
            remarks.append(f"{answer.statistic}: {answer.reason}")
        else:
            few = "≤ " if answer.queries == smallest else ""
            table.add_row(
                *cells,
                f"{few}{answer.queries:,}",
                f"{answer.responses:,}",
                f"{answer.ratings:,}",
                _hours(answer.hours),
            )
    _print(table, *remarks, caption(plan))


def _print_power(plan: PowerPlan) -> None:
    """The power of each claim by design, and from how many queries it is the wanted one."""
    from analysis.planning.power_curve import caption
    from analysis.render.formatting import counted

    counts = sorted({cell.queries for cell in plan.cells})
    table = _table("claim", "raters", *(f"{count:,}" for count in counts), "queries", "ratings")
    by_design = {(c.claim, c.raters, c.queries): c for c in plan.cells}
    before, remarks = None, []
    for answer in plan.answers:
        cells = [by_design[answer.claim, answer.raters, count] for count in counts]
        name = _named(answer.claim, answer.effect) if answer.claim != before else ""
        before = answer.claim
        shares = ["-" if cell.reason else f"{cell.power:.0%}" for cell in cells]
        few = "≤ " if answer.queries == counts[0] else ""
        numbers = (
            ("-", "")
            if answer.queries is None
            else (f"{few}{answer.queries:,}", f"{answer.ratings:,}")
        )
        table.add_row(name, str(answer.raters), *shares, *numbers)
        if cells[0].reason:
            raters = counted(answer.raters, "rater")
            remarks.append(f"{answer.claim} with {raters} {cells[0].reason}")
    smallest = []
    for claim, effect in plan.claims.items():
        least = plan.smallest(claim)
        whom = "" if least is None else least.target.replace("_", " ")
        smallest.append(
            f"{_named(claim, effect)}: no design has a power of {plan.settings.assurance:.0%}"
            if least is None
            else f"{_named(claim, effect)}: {least.queries:,} queries and "
            f"{counted(least.raters, 'rater')}, "
            f"{least.ratings:,} ratings, {_hours(least.hours)} hours, for {whom}"
        )
    title = f"The fewest ratings for a power of {plan.settings.assurance:.0%}:"
    _print(table, *remarks, title, *smallest, caption(plan))


def _named(claim: str, effect: float | None) -> str:
    return claim if effect is None else f"{claim} {effect:g}"


def _hours(hours: float | None) -> str:
    return f"{hours:,.0f}" if (hours or 0) >= 10 else f"{hours:.1f}"


def _table(first: str, *others: str) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column(first, overflow="fold", no_wrap=True)
    for name in others:
        table.add_column(name, justify="right", overflow="fold", no_wrap=True)
    return table


def _print(table: Table, *lines: str) -> None:
    from rich.console import Console

    console = Console(width=80, highlight=False)
    console.print(table)
    for line in lines:
        console.print(line, markup=False, soft_wrap=False)
