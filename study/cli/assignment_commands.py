"""The commands `ccrs assign` and `ccrs adjudicate`. Only click is imported until they run."""

import sys
from collections.abc import Callable
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
    from study.study import Study

_YES = click.option("--yes", is_flag=True, help="Store without asking for confirmation.")
_YES_HAS_NO_USE = unused_if(
    "yes", lambda given: given["dry_run"], "--dry-run stores nothing, so that nothing is asked"
)


def _has_no_use_with_items(option: str) -> Callable[..., Any]:
    return unused_if(
        option, lambda given: given["items"] is not None, "the file of --items says it"
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
    "--for",
    "kept_for",
    metavar="NAMES",
    help="Keep the open slots for the raters who join by these enrolment links, or for raters of "
    "these codes: spring,anna. With everyone, raters who have assigned work of their own may take "
    "them after it. Default: raters who have none.",
)
@click.option(
    "--items",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Give these items to these people, in place of a plan: a CSV file with the columns rater "
    "and response_id, or rater and query_id for all responses to a query.",
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
@unused_if("kept_for", lambda given: not given["open_slots"], "no open slots are created", "--open")
@_has_no_use_with_items("sample")
@_has_no_use_with_items("strata")
@_has_no_use_with_items("per_item")
@_has_no_use_with_items("overlap")
def assign(
    folder: Path,
    raters: str | None,
    kept_for: str | None,
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
      ccrs assign my-study --open --for spring
      ccrs assign my-study --items experts.csv
      ccrs assign my-study --open --per-item 2 --channel label_studio
    """
    from study.assignment.planner import assign as assign_study
    from study.cli.displays import show_assigned
    from study.facts.label_studio_address import label_studio_address
    from study.study import Study

    choices: dict[str, Any] = {
        "raters": _raters(raters),
        "kept_for": split_names(kept_for),
        "constructs": split_names(constructs),
        **chosen_settings(options),
    }
    asks = not (dry_run or yes or as_json) and _at_a_terminal()
    with Study.open(folder) as study:
        if asks:
            plan = assign_study(study, dry_run=True, **choices)
            show_assigned(plan)
            if plan.open_slots and kept_for is None and options["channel"] == "own":
                choices["kept_for"] = _kept_for(study)
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
    if kept_for is not None:
        click.echo(f"Next: ccrs serve {shell_word(folder)}")
        return
    new = " --new 10" if options["open_slots"] else ""
    click.echo(f"Next: ccrs invite {shell_word(folder)}{new}")


def _kept_for(study: "Study") -> list[str] | None:
    """Ask once whether raters with assigned work may take the open slots after it."""
    from study.assignment.kept_slots import raters_with_own_work

    with study.read() as connection:
        codes = raters_with_own_work(connection)
    if not codes:
        return None
    question = (
        f"Raters with assigned work stop at its end ({', '.join(codes[:5])}"
        f"{', ...' if len(codes) > 5 else ''}). May they take these open slots after it?"
    )
    return ["everyone"] if click.confirm(question) else None


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
