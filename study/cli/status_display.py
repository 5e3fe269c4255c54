"""A study's status in words and tables that fit a terminal of 80 columns."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from study.facts.rating_progress import RaterProgress, RatingProgress
from study.status import ScorerStatus, Status


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
        console.print(Text(f"  {system}: {outputs} outputs"))
    if status.training or status.checks:
        console.print(
            f"Beside them {status.training} to train raters with, {status.checks} to check them."
        )
    if status.responses_without_passages:
        console.print(f"{status.responses_without_passages} responses have no passages.")
    if status.queries_without_reference:
        console.print(f"{status.queries_without_reference} queries have no reference answer.")
    if status.rating is not None:
        _show_rating(console, status.rating)
    if status.scorers:
        console.print(_scorers(status.scorers))
    for name, words in status.juries.items():
        console.print(Text(f"{name}: {words}."))
    for reason, count in status.left_out.items():
        console.print(
            f"{count} value{' is' if count == 1 else 's are'} not in the score table: {reason}."
        )
    if status.edited:
        console.print(
            f"{status.edited} rating{' was' if status.edited == 1 else 's were'} changed after "
            "the rater had been shown more. What was said before counts; the report has both."
        )
    console.print(Text(f"Next: {status.next_step}"))


def _show_rating(console: Console, rating: RatingProgress) -> None:
    share = rating.values / rating.values_expected if rating.values_expected else 1.0
    line = f"{rating.values:,} of {rating.values_expected:,} values rated ({share:.0%})"
    if rating.open_slots:
        line += f"; {rating.open_slots:,} open slot{'' if rating.open_slots == 1 else 's'} left"
    if rating.open_elsewhere:
        line += f"; {rating.open_elsewhere:,} kept for Label Studio and not rated"
    console.print(f"{line}.")
    if rating.raters:
        console.print(_raters(rating.raters))
    if rating.after_reveal:
        console.print(
            f"{rating.after_reveal:,} value{'' if rating.after_reveal == 1 else 's'} entered after "
            "the reveal, kept but not counted."
        )
    if rating.seen_more:
        console.print(
            f"{rating.seen_more:,} values were given by raters who had been shown more of the "
            "query before."
        )
    if rating.recognized:
        answers = ", ".join(f"{count} {answer}" for answer, count in rating.recognized.items())
        console.print(f"Raters who say that they recognized a system: {answers}.")


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
