"""What a scorer took: answers, tokens, seconds and cost of its run, or of its members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

Run = Mapping[str, Any]

MEMBERS, NO_MODEL, NOT_KNOWN = "as its members", "asks no model", "not known"


def spent(
    run: Run | None, members: Sequence[str], scores: pd.DataFrame, responses: int
) -> dict[str, Any]:
    """Return what a scorer took, as columns of the CSV; without what is not known."""
    if run is not None:
        total, tokens = run["account"]["account"], run["account"]["tokens"]
        both = sum(tokens.get(kind, 0) for kind in ("prompt", "completion"))
        return {
            "counted_by": "calls of the run",
            "answers": total["answered"],
            "answers_a_response": total["answered"] / responses,
            **{f"{kind}_tokens": number for kind, number in tokens.items()},
            "tokens_a_response": both / responses if tokens else None,
            "calls": total["calls"],
            "unended": total["unended"],
            "seconds": total["seconds"] if total["calls"] else None,
            "cost": total["cost"],
            "unpriced": total["unpriced"],
        }
    if members:
        return {"counted_by": f"{MEMBERS}: {', '.join(members)}"}
    if (scores["source"] == "own").all():
        return {"counted_by": NO_MODEL, "answers": 0, "cost": 0.0}
    return {"counted_by": NOT_KNOWN}


def duration(seconds: float) -> str:
    """A number of seconds, in minutes or hours where these are many."""
    if seconds < 90:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
