"""The command `ccrs assign`. Only click is imported until it runs."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.table import Table

    from study.assigning.result import Assigned, RaterLoad


@click.command()
@click.argument("folder", metavar="STUDY", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--raters",
    metavar="CODES",
    help="Codes of the raters (anna,ben,cara), or how many there are to be (6: rater-1 to "
    "rater-6). Default: the study's raters.",
)
@click.option(
    "--per-item",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    metavar="K",
    help="Raters for each response.",
)
@click.option(
    "--open",
    "open_slots",
    is_flag=True,
    help="Make K open slots a response instead, handed under a lease to whoever joins.",
)
@click.option(
    "--split-queries",
    is_flag=True,
    help="Assign each response by itself; otherwise all responses to a query go to the same "
    "raters.",
)
@click.option("--constructs", metavar="KEYS", help="Only these constructs: QR,CC.")
@click.option("--dry-run", is_flag=True, help="Show the plan and store nothing.")
@click.option("--yes", is_flag=True, help="Store without asking first.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a program to read.")
def assign(
    folder: Path,
    raters: str | None,
    per_item: int,
    open_slots: bool,
    split_queries: bool,
    constructs: str | None,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Decide who rates what in STUDY: seeded, balanced, and added to what is assigned already.

    In a terminal the plan is shown first and stored on a yes.

    \b
    Examples:
      ccrs assign my-study --raters anna,ben,cara --per-item 2
      ccrs assign my-study --raters 6 --dry-run
      ccrs assign my-study --open --per-item 3
    """
    from study.assigning.assigning import assign as assign_study
    from study.campaign import Study

    if open_slots and raters is not None:
        raise click.UsageError("--open makes slots for whoever joins; leave --raters out.")
    options: dict[str, Any] = {
        "raters": _raters(raters),
        "per_item": per_item,
        "open_slots": open_slots,
        "split_queries": split_queries,
        "constructs": None if constructs is None else _list(constructs),
    }
    study = Study.open(folder)
    asks = not (dry_run or yes or as_json) and _at_a_terminal()
    if asks:
        plan = assign_study(study, dry_run=True, **options)
        _show(plan)
        if (plan.assignments or plan.open_slots) and not click.confirm("Store this?"):
            click.echo("Nothing was stored.")
            return
    done = assign_study(study, dry_run=dry_run, **options)
    if as_json:
        import json

        click.echo(json.dumps(done.as_json(), ensure_ascii=False, indent=1))
        return
    if not asks:
        _show(done)
    if dry_run:
        click.echo("Nothing was stored. Leave --dry-run out to store it.")
        return
    if done.open_slots:
        click.echo(f"Stored {_counted(done.open_slots, 'open slot')}.")
    elif done.assignments:
        click.echo(f"Stored {_counted(done.assignments, 'assignment')}.")
    new = " --new 10" if open_slots else ""
    click.echo(f"Next: ccrs invite {folder}{new}")


def _at_a_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _raters(text: str | None) -> list[str] | int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit()):
        return _list(text)
    # int refuses thousands of digits; ten are too many already, and are refused with a word.
    return int(text[:10])


def _list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _show(plan: "Assigned") -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    each = f"{_counted(plan.per_item, 'rater')} each"
    if plan.assignments or plan.open_slots:
        console.print(
            f"{_counted(plan.responses, 'response')} to "
            f"{_counted(plan.queries, 'query', 'queries')}, {each}: "
            + (
                _counted(plan.open_slots, "open slot")
                if plan.open_slots
                else _counted(plan.assignments, "assignment")
            )
        )
        if plan.covered:
            console.print(f"Assigned already, with {each}: {_counted(plan.covered, 'response')}.")
    else:
        console.print(
            f"Nothing to assign: {_counted(plan.covered, 'response')} "
            f"{'has' if plan.covered == 1 else 'have'} {each}."
        )
    if plan.raters:
        console.print(_loads(plan.raters))
        console.print("Hours are for reading alone; deciding and typing come on top.")
    elif plan.open_slots:
        console.print(
            f"Reading everything once takes {_hours(plan.slot_hours)} hours; "
            "deciding and typing come on top."
        )
    if plan.raters and not plan.connected:
        console.print(
            "Raters are not all linked through shared responses: their severities can't be "
            "compared. A higher --per-item or fewer raters links them."
        )
    for one in plan.left_out:
        console.print(
            Text(
                f"Not rated on {one['construct']}: {_counted(one['responses'], 'response')}, "
                f"since {one['reason']}."
            )
        )
    if plan.unratable:
        first = ", ".join(plan.unratable[:5])
        more = f" and {len(plan.unratable) - 5} more" if len(plan.unratable) > 5 else ""
        console.print(
            Text(
                f"Not assigned, since no construct can be rated: "
                f"{_counted(len(plan.unratable), 'response')} ({first}{more})."
            )
        )


def _loads(loads: "list[RaterLoad]") -> "Table":
    from rich.table import Table
    from rich.text import Text

    rows = Table(box=None, pad_edge=False)
    rows.add_column("rater", overflow="fold")
    for title in ("queries", "responses", "of them new", "hours of reading"):
        rows.add_column(title, justify="right", no_wrap=True)
    for load in loads:
        counts = (load.queries, load.responses, load.new_responses)
        rows.add_row(Text(load.rater), *(f"{n:,}" for n in counts), _hours(load.hours))
    return rows


def _counted(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def _hours(hours: float) -> str:
    # What is there is never shown as nothing.
    return "<0.1" if 0 < hours < 0.05 else f"{hours:.1f}"
