"""The command `ccrs adjudicate`. Only click is imported until it runs."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from study.cli.options import AS_JSON, DRY_RUN, STUDY, show, split_names

if TYPE_CHECKING:
    from study.assignment.adjudication import Adjudication


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
@AS_JSON
def adjudicate(
    folder: Path,
    rater: str,
    sample: int,
    widest: int,
    constructs: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Assign rated responses of STUDY to an adjudicator.

    The adjudicator rates them blind first. The M responses on which raters differ most are
    included with certainty, and of the others a random sample of N, with a known probability.
    Numbers are totals: earlier assignments stay.

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
    with Study.open(folder) as study:
        done = give(study, rater, sample=sample, widest=widest, constructs=keys, dry_run=dry_run)
    if as_json:
        show(done.as_json(), [], as_json)
        return
    for line in lines(done, sample, widest):
        click.echo(line)
    if dry_run:
        click.echo("Nothing was stored. Leave --dry-run out to store it.")
    else:
        click.echo(f"Next: ccrs invite {folder} {done.rater}   (their link, if they have none)")


def lines(done: "Adjudication", sample: int, widest: int) -> list[str]:
    """Return what was chosen, and what turned out other than asked, as lines of text."""
    text = [f"{done.rater} adjudicates {', '.join(done.constructs)}."]
    if done.widest:
        spread = "" if done.narrowest is None else f", from {done.narrowest:.0%} of the scale up"
        text.append(f"Widest ranges: {done.widest} of {done.rated} rated responses{spread}.")
    if done.widest < widest:
        text.append(
            f"Only {done.widest} of the {widest} asked for: on the others people do not differ, or "
            "only one has rated."
        )
    if done.inclusion_prob is not None:
        text.append(
            f"At random: {done.random} of the other {done.random_of} "
            f"(probability {done.inclusion_prob:.3g})."
        )
    if done.random < sample:
        text.append(f"Only {done.random} of the {sample} asked for: there are no more.")
    elif done.random > sample:
        text.append(
            "More than asked for, so that those drawn before still are a random sample of all."
        )
    if done.sees is not None:
        text.append(
            f"After the blind value they see what {done.sees} said, too (rating.adjudicators_see)."
        )
    if done.already_assigned:
        text.append(f"Left out, since they were {done.rater}'s to rate: {done.already_assigned}.")
    text.append(f"New assignments: {done.new}. Earlier ones with another probability: ")
    text[-1] += f"{done.raised}."
    return text
