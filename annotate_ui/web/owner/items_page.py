"""All responses: how many raters have finished each, and the range of their values."""

from dataclasses import dataclass
from typing import Any

from flask import render_template
from flask.typing import ResponseReturnValue

from annotate_ui.web.owner.blueprint import pages
from annotate_ui.web.owner.paging import requested_page
from annotate_ui.web.owner.snapshot_cache import current_snapshot
from annotate_ui.web.rater_session import study
from study.facts.current_responses import current_responses
from study.study import Study


@dataclass(frozen=True)
class ItemRow:
    """A response in the list."""

    id: int | None
    """Null where no page shows it."""
    response: str
    query: str
    finished: int
    required: int
    widest: float | None
    """Largest range on a construct, as a share of its scale."""
    ranges: dict[str, tuple[float, float]]
    """By construct, the lowest and the highest value."""


@pages.get("/items")
def items() -> ResponseReturnValue:
    """List the responses, those on which people differ most first."""
    rows = _items(study())
    shown, number, count = requested_page(rows)
    return render_template(
        "owner/items.html",
        page="items",
        items=shown,
        total=len(rows),
        constructs=[spec.key for spec in study().config.constructs],
        number=number,
        count=count,
    )


def _items(served: Study) -> list[ItemRow]:
    import pandas as pd

    from study.assignment.adjudication_sample import people_differ

    lengths = {spec.key: spec.scale.max - spec.scale.min for spec in served.config.constructs}
    differ = people_differ(served.score_table(), lengths)
    by_response: dict[str, list[Any]] = {}
    for row in differ.itertuples():
        by_response.setdefault(str(row.response_id), []).append(row)
    with served.read() as connection:
        current, _ = current_responses(connection)
    ids = {response.response_id: response.id for response in current}
    items = []
    for item in current_snapshot().progress.items:
        rows = by_response.get(item.response, [])
        ranges = [row.range for row in rows if not pd.isna(row.range)]
        items.append(
            ItemRow(
                ids.get(item.response),
                item.response,
                item.query,
                item.finished,
                item.required,
                max(ranges, default=None),
                {row.construct: (row.low, row.high) for row in rows if row.people > 1},
            )
        )
    items.sort(key=lambda item: -1.0 if item.widest is None else item.widest, reverse=True)
    return items
