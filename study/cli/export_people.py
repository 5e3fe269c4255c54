"""The table of people for `ccrs export`: what the rating pages know of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from study.study import Study


def people_table(study: Study) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Return columns and rows of the table of people."""
    from annotate_ui.monitoring.people import PEOPLE_COLUMNS, people_rows

    return PEOPLE_COLUMNS, people_rows(study)
