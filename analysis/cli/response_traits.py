"""What a report tells of rated responses beside their scores: layout, and what supports them."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_FEWEST = 3
"""Passages below which the supporting one has no place to speak of."""


def response_traits(connection: Any, responses: Collection[str]) -> pd.DataFrame:
    """Return `markdown` (1 or 0) and `support` for these responses, by their ids.

    `support` is the place of the passage that shares most words with the reference (else with the
    response), from 0, the first, to 1, the last; NaN where there are fewer than three passages.
    """
    import pandas as pd

    from judge.perturbations.length_and_layout import has_markdown
    from judge.perturbations.position import supporting
    from study.facts.current_responses import RESPONSE_COLUMNS, current_responses, response_rows

    wanted = set(responses)
    known = current_responses(connection)[0] if wanted else []
    chosen = [one for one in known if one.response_id in wanted]
    found: dict[str, tuple[float, float]] = {}
    for values in response_rows(connection, chosen):
        row = dict(zip(RESPONSE_COLUMNS, values, strict=True))
        if row["response_id"] not in wanted or row["response_id"] in found:
            continue
        texts = [text for text, _ in row["passages"]]
        references = row["references"]
        answer = references[0] if references else row["response"]
        place = supporting(texts, answer) if len(texts) >= _FEWEST else None
        support = float("nan") if place is None else place / (len(texts) - 1)
        found[row["response_id"]] = (float(has_markdown(row["response"])), support)
    return pd.DataFrame.from_dict(found, orient="index", columns=["markdown", "support"])
