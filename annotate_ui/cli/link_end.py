"""The option --until of the commands that create links. Only click is imported."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import click

_DAY, _MOMENT = "%Y-%m-%d", "%Y-%m-%dT%H:%M"


class _End(click.DateTime):
    """A moment in UTC; of a day its end."""

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        """Return the moment from which a link lets nobody in."""
        moment: datetime = super().convert(value, param, ctx)
        whole_day = isinstance(value, str) and "T" not in value
        return moment.replace(tzinfo=UTC) + timedelta(days=1 if whole_day else 0)


UNTIL = click.option(
    "--until",
    type=_End([_DAY, _MOMENT]),
    metavar="DATE",
    help="End of the link, as 2027-06-30 (that day included) or 2027-06-30T18:00, in UTC. "
    "Default: none.",
)


def in_time(until: datetime | None) -> str:
    """Return the end of a link in words, with a blank before, or nothing."""
    return "" if until is None else f" until {until:%Y-%m-%d %H:%M} UTC"
