"""Options that describe a bare table, for every command that takes one."""

import click

SCALE_FORM = "[[SCORER:]CONSTRUCT=]MIN:MAX[:STEP[:LEVEL]]"

scale_option = click.option(
    "--scale",
    "scales",
    multiple=True,
    metavar=SCALE_FORM,
    help="Scale of a table's constructs; of one construct; or of one scorer there. Repeatable.",
)

kind_option = click.option(
    "--kind",
    "kinds",
    multiple=True,
    metavar="SCORER=KIND",
    help="human, adjudicated, judge or metric, where the table does not say it. Repeatable.",
)
