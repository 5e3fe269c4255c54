"""The plan of an assignment and the status of a study, in tables that fit 80 columns."""

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from study.assignment.imported_values import described
from study.facts.label_studio_left import behind_line
from study.facts.rating_progress import RaterProgress, RatingProgress
from study.facts.score_counts import ScorerStatus
from study.status import Status
from study.text import counted

if TYPE_CHECKING:
    from study.assignment.assignment_summary import Assigned, LeftOver


def show_status(status: Status) -> None:
    """Print it on standard output."""
    console = Console(highlight=False)
    console.print(Text(status.name, style="bold"))
    console.print(
        ", ".join(
            f"{count} {singular if count == 1 else plural}"
            for count, singular, plural in (
                (status.queries, "query", "queries"),
                (status.responses, "response", "responses"),
                (status.passages, "passage", "passages"),
                (len(status.systems), "system", "systems"),
                (status.preferences, "preference", "preferences"),
            )
        )
    )
    for system, outputs in status.systems.items():
        console.print(Text(f"  {system}: {counted(outputs, 'output')}"))
    if status.training or status.checks:
        console.print(
            f"In addition: {status.training} to train raters with, {status.checks} to check them."
        )
    if status.responses_without_passages:
        console.print(f"Responses without passages: {status.responses_without_passages:,}.")
    if status.queries_without_reference:
        console.print(f"Queries without a reference answer: {status.queries_without_reference:,}.")
    if status.rating is not None:
        _show_rating(console, status.rating)
    if status.scorers:
        console.print(_scorers(status.scorers))
    for name, words in status.combined.items():
        console.print(Text(f"{name}: {words}."))
    for reason, count in status.left_out.items():
        console.print(
            f"{count} value{' is' if count == 1 else 's are'} not in the score table: {reason}."
        )
    if status.edited:
        console.print(
            f"{status.edited} rating{' was' if status.edited == 1 else 's were'} changed after "
            "the rater had seen more. The earlier value counts; the report shows both."
        )
    console.print(Text(f"Next: {status.next_step}"))


def _show_rating(console: Console, rating: RatingProgress) -> None:
    share = rating.values / rating.values_expected if rating.values_expected else 1.0
    line = f"{rating.values:,} of {counted(rating.values_expected, 'value')} rated ({share:.0%})"
    if rating.open_slots:
        line += f"; {counted(rating.open_slots, 'open slot')} left"
    if rating.open_elsewhere:
        line += f"; {rating.open_elsewhere:,} kept for Label Studio and not rated"
    console.print(f"{line}.")
    if rating.raters:
        console.print(_raters(rating.raters))
        behind = behind_line({rater.rater: rater.label_studio_left for rater in rating.raters})
        if behind is not None:
            console.print(Text(behind))
    if rating.after_reveal:
        console.print(
            f"{counted(rating.after_reveal, 'value')} entered after "
            "the reveal, kept but not counted."
        )
    if rating.seen_more:
        console.print(
            f"{counted(rating.seen_more, 'value was', 'values were')} given by raters who had been "
            "shown more of the query before."
        )
    if rating.passages_unopened:
        share = rating.passages_unopened / rating.passages_shown
        console.print(
            f"{rating.passages_unopened:,} of {counted(rating.passages_shown, 'value')} "
            f"({share:.0%}) on constructs that need the passages "
            f"{'was' if rating.passages_unopened == 1 else 'were'} given before any passage was "
            "opened."
        )
    if rating.recognized:
        answers = ", ".join(f"{count} {answer}" for answer, count in rating.recognized.items())
        console.print(f"Raters who reported that they recognized a system: {answers}.")


def _raters(raters: list[RaterProgress]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("rater", overflow="fold", min_width=5)
    for name in ("responses", "values", "can't\njudge", "skipped", "late"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("last (UTC)", "link"):
        table.add_column(name, no_wrap=True)
    for progress in raters:
        activity = progress.last_activity
        last = "" if activity is None else f"{activity:%Y-%m-%d %H:%M}"
        table.add_row(
            Text(progress.rater),
            f"{progress.responses_done}/{progress.responses}",
            f"{progress.values}/{progress.values_expected}",
            str(progress.cannot_judge),
            str(progress.skipped),
            str(progress.late),
            last,
            progress.link,
        )
    return table


def _scorers(scorers: list[ScorerStatus]) -> Table:
    table = Table("construct", "scorer", "kind", "values", "missing", box=None, pad_edge=False)
    for scorer in scorers:
        missing = ", ".join(f"{n} {reason}" for reason, n in scorer.missing.items())
        cells = (scorer.construct, scorer.scorer, scorer.kind, str(scorer.values), missing)
        table.add_row(*(Text(cell) for cell in cells))
    return table


_STRATA_SHOWN = 20
_NAMED = 5
_TITLES = {
    "calibration": "calibration",
    "main": "main",
    "check": "checks",
    "repeat": "repeats",
    "training": "training",
    "adjudication": "adjudication",
}


def show_assigned(plan: "Assigned") -> None:
    """Print what is or would be assigned, to whom, and what is left out and why."""
    console = Console(highlight=False)
    _show_sample(console, plan)
    _show_totals(console, plan)
    if plan.raters:
        console.print(_loads(plan))
        purposes = _purposes(plan)
        if len(purposes) > 1:
            console.print("Hours of reading by purpose:")
            console.print(_hours_by_purpose(plan, purposes))
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
    for item in plan.left_over:
        console.print(Text(_left_over(item)))
    for note in plan.notes:
        console.print(Text(note))
    if plan.replaces_imported:
        console.print(
            Text(
                "Values given here replace imported ones of the same raters in all tables: "
                f"{described(plan.replaces_imported)}."
            )
        )
    _show_comparisons(console, plan)
    _show_left_out(console, plan)


def _show_totals(console: Console, plan: "Assigned") -> None:
    each = f"{counted(plan.per_item, 'rater')} each"
    new = (
        counted(plan.open_slots, "open slot")
        if plan.open_slots
        else counted(plan.assignments, "assignment")
    )
    if plan.assignments or plan.open_slots:
        whole = (plan.assignments or plan.open_slots) == plan.responses * plan.per_item
        shared = f", {each}" if whole else ""
        console.print(
            f"{counted(plan.responses, 'response')} to "
            f"{counted(plan.queries, 'query', 'queries')}{shared}: {new}"
        )
        if plan.covered:
            console.print(f"Assigned already, with {each}: {counted(plan.covered, 'response')}.")
    elif plan.covered and not plan.left_over:
        console.print(
            f"Nothing to assign: {counted(plan.covered, 'response')} "
            f"{'has' if plan.covered == 1 else 'have'} {each}."
        )
    if plan.further:
        purposes = ", ".join(f"{n:,} for {_TITLES[name]}" for name, n in plan.further.items())
        console.print(f"Further assignments: {purposes}.")
    if plan.updated:
        console.print(
            f"Existing assignments with a changed inclusion probability: "
            f"{counted(plan.updated, 'assignment')}."
        )


def _show_sample(console: Console, plan: "Assigned") -> None:
    drawn, units = sum(s.drawn for s in plan.sample), sum(s.units for s in plan.sample)
    if drawn == units and len(plan.sample) < 2:
        return
    console.print(f"Sample: {drawn:,} of {units:,} {plan.sample_of}")
    if len(plan.sample) < 2:
        return
    rows = Table(box=None, pad_edge=False)
    rows.add_column("stratum", overflow="fold")
    for title in ("there", "drawn", "probability"):
        rows.add_column(title, justify="right", no_wrap=True)
    for drawn_stratum in plan.sample[:_STRATA_SHOWN]:
        chance = (
            f"{drawn_stratum.probability:.3f}"
            if drawn_stratum.probability is not None
            else "several"
        )
        share = chance if drawn_stratum.drawn else "-"
        rows.add_row(
            Text(drawn_stratum.stratum or "all"),
            f"{drawn_stratum.units:,}",
            f"{drawn_stratum.drawn:,}",
            share,
        )
    console.print(rows)
    if len(plan.sample) > _STRATA_SHOWN:
        more = len(plan.sample) - _STRATA_SHOWN
        console.print(f"and {counted(more, 'more stratum', 'more strata')}; --json has them all.")


def _loads(plan: "Assigned") -> Table:
    rows = Table(box=None, pad_edge=False)
    rows.add_column("rater", overflow="fold")
    for title in ("queries", "responses", "of them new", "hours of reading"):
        rows.add_column(title, justify="right", no_wrap=True)
    for load in plan.raters:
        counts = (load.queries, load.responses, load.new_responses)
        rows.add_row(Text(load.rater), *(f"{n:,}" for n in counts), _hours(load.hours))
    return rows


def _purposes(plan: "Assigned") -> list[str]:
    present = {purpose for load in plan.raters for purpose in load.hours_by_purpose}
    return [purpose for purpose in _TITLES if purpose in present]


def _hours_by_purpose(plan: "Assigned", purposes: list[str]) -> Table:
    rows = Table(box=None, pad_edge=False)
    rows.add_column("rater", overflow="fold")
    for purpose in purposes:
        rows.add_column(_TITLES[purpose], justify="right", no_wrap=True)
    for load in plan.raters:
        hours = (load.hours_by_purpose.get(purpose, 0.0) for purpose in purposes)
        rows.add_row(Text(load.rater), *map(_hours, hours))
    return rows


def _left_over(group: "LeftOver") -> str:
    names = ", ".join(group.queries[:_NAMED])
    more = f" and {len(group.queries) - _NAMED} more" if len(group.queries) > _NAMED else ""
    return (
        f"Left over, since {group.reason}: {counted(group.responses, 'response')} to "
        f"{counted(len(group.queries), 'query', 'queries')} ({names}{more}). "
        f"It takes {_hours(group.hours)} more rater hours."
    )


def _show_comparisons(console: Console, plan: "Assigned") -> None:
    compared = plan.comparisons
    if compared is None:
        return
    console.print(
        f"Pairs of responses: {compared.pairs:,} drawn, "
        f"{counted(compared.comparisons, 'new comparison')}."
    )
    pairs = ", ".join(f"{systems}: {count:,}" for systems, count in compared.by_systems.items())
    if pairs:
        console.print(Text(f"Pairs by systems: {pairs}."))
    shared = ", ".join(f"{rater}: {count:,}" for rater, count in compared.by_rater.items())
    if shared:
        console.print(Text(f"Comparisons by rater: {shared}."))
    if compared.short:
        console.print(f"No rater is free for {counted(compared.short, 'comparison')}.")
    if compared.comparisons and not compared.connected:
        console.print("Raters are not all linked through shared pairs.")
    for item in compared.left_out:
        console.print(
            Text(
                f"Not compared on {item['construct']}: {counted(item['pairs'], 'pair')}, "
                f"since {item['reason']}."
            )
        )


def _show_left_out(console: Console, plan: "Assigned") -> None:
    for item in plan.left_out:
        console.print(
            Text(
                f"Not rated on {item['construct']}: {counted(item['responses'], 'response')}, "
                f"since {item['reason']}."
            )
        )
    if plan.unratable:
        first = ", ".join(plan.unratable[:_NAMED])
        more = f" and {len(plan.unratable) - _NAMED} more" if len(plan.unratable) > _NAMED else ""
        console.print(
            Text(
                f"Not assigned, since no construct can be rated: "
                f"{counted(len(plan.unratable), 'response')} ({first}{more})."
            )
        )


def _hours(hours: float) -> str:
    # A positive number is never shown as 0.
    return "<0.1" if 0 < hours < 0.05 else f"{hours:.1f}"
