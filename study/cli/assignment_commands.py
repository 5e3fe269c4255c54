"""The commands `ccrs assign` and `ccrs adjudicate`. Only click is imported until they run."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from study.cli.options import (
    AS_JSON,
    DRY_RUN,
    STUDY,
    SettingsCommand,
    chosen_settings,
    overriding_options,
    print_result,
    split_names,
)
from study.cli.unused_options import unused_if
from study.text import counted, shell_word

if TYPE_CHECKING:
    from study.assignment.adjudication import Adjudication
    from study.assignment.assignment_summary import Assigned

_YES = click.option("--yes", is_flag=True, help="Store without asking for confirmation.")
_YES_HAS_NO_USE = unused_if(
    "yes", lambda given: given["dry_run"], "--dry-run stores nothing, so that nothing is asked"
)


@click.command()
@STUDY
@click.option(
    "--rater",
    required=True,
    metavar="CODE",
    help="The adjudicator, who must have rated none of the responses. A new code is created.",
)
@click.option(
    "--sample",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    metavar="N",
    help="Responses in a random sample of the other rated responses.",
)
@click.option(
    "--widest",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    metavar="M",
    help="Responses on which raters differ most.",
)
@click.option(
    "--constructs", metavar="KEYS", help="Only these constructs: QR,CC. Default: all rated ones."
)
@DRY_RUN
@_YES
@AS_JSON
@_YES_HAS_NO_USE
def adjudicate(
    folder: Path,
    rater: str,
    sample: int,
    widest: int,
    constructs: str | None,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Assign rated responses of STUDY to an adjudicator.

    The adjudicator rates them blind first. The M responses on which raters differ most are
    included with certainty, and of the others a random sample of N, with a known probability.
    Numbers are totals: earlier assignments stay. In a terminal the plan is shown first, and
    stored after a confirmation.

    \b
    Examples:
      ccrs adjudicate my-study --rater dora --sample 50 --widest 20 --dry-run
      ccrs adjudicate my-study --rater dora --sample 100 --widest 20
    """
    from study.assignment.adjudication import adjudicate as give
    from study.study import Study

    if not sample and not widest:
        raise click.UsageError("Give --sample N, --widest M, or both.")
    keys = split_names(constructs)
    request: Any = {"sample": sample, "widest": widest, "constructs": keys}
    asks = not (dry_run or yes or as_json) and _at_a_terminal()
    with Study.open(folder) as study:
        if asks:
            plan = give(study, rater, dry_run=True, **request)
            click.echo("\n".join(lines(plan, sample, widest)))
            if (plan.new or plan.raised) and not click.confirm("Store this?"):
                click.echo("Nothing was stored.")
                return
        done = give(study, rater, dry_run=dry_run, **request)
    if as_json:
        print_result(done.as_json(), [], as_json)
        return
    if asks:
        click.echo(f"Stored {counted(done.new, 'assignment')}.")
    else:
        click.echo("\n".join(lines(done, sample, widest)))
    if dry_run:
        click.echo("Nothing was stored. Leave --dry-run out to store it.")
    else:
        click.echo(
            f"Next: ccrs invite {shell_word(folder)} {done.rater}   (their link, if they have none)"
        )


def lines(done: "Adjudication", sample: int, widest: int) -> list[str]:
    """Return the chosen numbers, and deviations from the requested ones, as lines of text."""
    text = [f"{done.rater} adjudicates {', '.join(done.constructs)}."]
    if done.widest:
        spread = "" if done.narrowest is None else f", from {done.narrowest:.0%} of the scale up"
        text.append(f"Widest ranges: {done.widest} of {done.rated} rated responses{spread}.")
    if done.widest < widest:
        text.append(
            f"Only {done.widest} of the {widest} requested: on the others people do not differ, or "
            "only one has rated."
        )
    if done.inclusion_prob is not None:
        text.append(
            f"At random: {done.random} of the other {done.random_of} "
            f"(probability {done.inclusion_prob:.3g})."
        )
    if done.random < sample:
        text.append(f"Only {done.random} of the {sample} requested: there are no more.")
    elif done.random > sample:
        text.append(
            "More than requested, so that those drawn before are still a random sample of all."
        )
    if done.sees is not None:
        text.append(
            f"After the blind value they see the scores of {done.sees} (rating.adjudicators_see)."
        )
    if done.already_assigned:
        text.append(f"Left out, since they were {done.rater}'s to rate: {done.already_assigned}.")
    text.append(f"New assignments: {done.new}. Earlier ones with a changed probability: ")
    text[-1] += f"{done.raised}."
    return text


def _design_options() -> list[click.Option]:
    from study.settings.design import DesignSpec

    return overriding_options(DesignSpec)


@click.command(cls=SettingsCommand, settings=_design_options)
@STUDY
@click.option(
    "--raters",
    metavar="CODES",
    help="Codes of the raters (anna,ben,cara), or their number (6: rater-1 to rater-6). "
    "Default: the study's raters.",
)
@click.option(
    "--open",
    "open_slots",
    is_flag=True,
    help="Create K open slots for each response (--per-item K); raters who join are given them.",
)
@click.option(
    "--channel",
    type=click.Choice(["own", "label_studio"]),
    default="own",
    help="Where the open slots are rated: the project's own pages, or Label Studio.",
)
@click.option("--constructs", metavar="KEYS", help="Only these constructs: QR,CC.")
@DRY_RUN
@_YES
@AS_JSON
@_YES_HAS_NO_USE
def assign(
    folder: Path,
    raters: str | None,
    constructs: str | None,
    dry_run: bool,
    yes: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Assign responses of STUDY to raters.

    Assignments are balanced and reproducible from the study's seed, and are added to existing
    ones. Options of the same name override the settings under [design] in study.toml. In a
    terminal the plan is shown first, and stored after a confirmation.

    \b
    Examples:
      ccrs assign my-study --raters anna,ben,cara --per-item 2
      ccrs assign my-study --raters 6 --dry-run
      ccrs assign my-study --sample 200 --strata domain
      ccrs assign my-study --calibration 3 --checks 5 --repeats 0.1
      ccrs assign my-study --open --per-item 3
      ccrs assign my-study --open --per-item 2 --channel label_studio
    """
    from study.assignment.planner import assign as assign_study
    from study.cli.displays import show_assigned
    from study.facts.label_studio_address import label_studio_address
    from study.study import Study

    choices = {
        "raters": _raters(raters),
        "constructs": split_names(constructs),
        **chosen_settings(options),
    }
    asks = not (dry_run or yes or as_json) and _at_a_terminal()
    with Study.open(folder) as study:
        if asks:
            plan = assign_study(study, dry_run=True, **choices)
            show_assigned(plan)
            if plan.anything and not click.confirm("Store this?"):
                click.echo("Nothing was stored.")
                return
        done = assign_study(study, dry_run=dry_run, replace_imported=yes or asks, **choices)
        with study.read() as connection:
            to_server = "" if label_studio_address(connection, study.config) else " --url URL"
    if as_json:
        print_result(done.as_json(), [], as_json)
        return
    if not asks:
        show_assigned(done)
    if dry_run:
        click.echo("Nothing was stored. Leave --dry-run out to store it.")
        return
    stored = _stored(done)
    if stored:
        click.echo(f"Stored {' and '.join(stored)}.")
    if options["channel"] == "label_studio":
        click.echo(f"Next: ccrs label-studio push {shell_word(folder)}{to_server}")
        return
    if options["open_slots"] and not done.open_slots:
        # The plan's last line names the command that adds slots.
        return
    new = " --new 10" if options["open_slots"] else ""
    click.echo(f"Next: ccrs invite {shell_word(folder)}{new}")


def _at_a_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _raters(text: str | None) -> list[str] | int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit()):
        return split_names(text)
    # int refuses thousands of digits; ten are too many already, and are refused with a word.
    return int(text[:10])


def _stored(done: "Assigned") -> list[str]:
    parts = []
    if done.open_slots:
        parts.append(counted(done.open_slots, "open slot"))
    if done.assignments or done.further:
        parts.append(counted(done.assignments + sum(done.further.values()), "assignment"))
    if done.comparisons is not None and done.comparisons.comparisons:
        parts.append(counted(done.comparisons.comparisons, "comparison"))
    if done.updated:
        parts.append(f"{counted(done.updated, 'probability', 'probabilities')} of before")
    return parts
