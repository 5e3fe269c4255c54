"""Whether the responses to a query are so short that one page shows them next to each other."""

import unicodedata
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, select

from study.assignment.demand import Block
from study.schema.tables import responses
from study.text import counted

MOST_COLUMNS = 3
"""Responses that fit next to the panel in a window of 1280 pixels."""
LONGEST = 900
"""Letters of a response that fit in such a column without scrolling far; wide ones count twice."""
SHARE = 0.9
"""Share of queries from which on the other layout is suggested."""


def layout_note(connection: Connection, blocks: Sequence[Block]) -> list[str]:
    """Return that the layout `side_by_side` would take fewer pages, if it would.

    `blocks` are what is about to be assigned, a response a page. Empty where queries have one
    response, or more or longer ones than fit on a page.
    """
    several = [block for block in blocks if len(block.responses) > 1]
    pages = sum(len(block.responses) for block in blocks)
    if not several:
        return []
    texts = {
        row.id: row.text for row in connection.execute(select(responses.c.id, responses.c.text))
    }
    fitting = sum(_fits(texts[response] for response in block.responses) for block in several)
    if fitting < SHARE * len(several):
        return []
    return [
        f"The responses to {fitting:,} of {counted(len(several), 'query', 'queries')} are short "
        "enough for one page. "
        f'layout = "side_by_side" in [design] takes {counted(len(blocks), "page")} a stage in '
        f"place of {pages:,}. Choose before the first rating: ratings of two layouts are not "
        "pooled."
    ]


def _fits(texts: Iterable[str]) -> bool:
    lengths = [sum(_width(sign) for sign in text) for text in texts]
    return len(lengths) <= MOST_COLUMNS and max(lengths) <= LONGEST


def _width(sign: str) -> int:
    return 2 if unicodedata.east_asian_width(sign) in {"W", "F"} else 1
