"""Names of a table that may be one name: written with other capital letters, or 1 and 1.0."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analysis.core.tables import ScoreTable

_NUMBER = re.compile(r"0*(\d+?)(?:\.0+)?", re.ASCII)
_NAMED = 3


def alike_names(scores: ScoreTable) -> Iterator[str]:
    """Yield a sentence for each kind of name of which several differ only in how they are written.

    Their scores are kept apart: an id "1" in one file and "1.0" in another do not meet.
    """
    from study.text import abbreviate

    pairs_of = {
        "queries": list(_alike(scores.queries)),
        "systems": list(_alike(scores.systems)),
        "scorers": list(_alike(scores.scorer_kinds)),
        "constructs": list(_alike(scores.constructs)),
    }
    if not (pairs_of["queries"] or pairs_of["systems"]):
        # Ids may be made of the names of query and system.
        pairs_of["responses"] = list(_alike(scores.frame["response_id"].cat.categories))
    for noun, pairs in pairs_of.items():
        if pairs:
            listed = "; ".join(f"{abbreviate(a)} and {abbreviate(b)}" for a, b in pairs[:_NAMED])
            more = f"; and {len(pairs) - _NAMED} more pairs" if len(pairs) > _NAMED else ""
            yield (
                f"{noun} whose names differ only in capital letters, white space, the form of "
                f"their characters or of a number count as different ones: {listed}{more}. Write "
                "them alike where they are one."
            )


def _alike(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each name with the first one that is written alike."""
    first: dict[str, str] = {}
    for name in names:
        folded = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
        match = _NUMBER.fullmatch(folded)
        earlier = first.setdefault(match[1] if match else folded, name)
        if earlier != name:
            yield earlier, name
