"""Claims that metrics read in responses, with their labels, next to sentences people marked."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import groupby

import numpy as np

from analysis.core.analysis import Analysis, LabeledText
from analysis.core.context import Context
from analysis.render.labels import quoted
from analysis.render.table import Cell, Table, TableBuilder

#: Responses for each construct, in the CSV.
LISTED = 20
#: Of these, on the page.
SHOWN = 3

# Texts of a response on the page, and characters of each.
_TEXTS = 40
_MOST = 280


def responses_to_read(
    context: Context, scorers: Collection[str]
) -> tuple[dict[str, list[str]], int]:
    """Return responses by construct, at most `LISTED` each, and how many responses have scores.

    Those in which people marked sentences come first, and of these the ones on which one of the
    scorers and people differ most.
    """
    marked = _marked(context)
    differences: dict[str, dict[str, float]] = {}
    for data, scorer, values, withheld in context.scored("all"):
        if scorer not in scorers or withheld:
            continue
        compared = values
        scale = context.human_scale(data.construct)
        if scorer in context.options.low_is_good and scale is not None:
            compared = scale.min + scale.max - values
        largest = differences.setdefault(data.construct, {})
        sizes = np.abs(compared - data.reference)
        for row in np.flatnonzero(np.isfinite(sizes)):
            key = str(data.responses[row])
            largest[key] = max(largest.get(key, 0.0), float(sizes[row]))
    chosen = {
        construct: sorted(
            largest, key=lambda key: ((construct, key) not in marked, -largest[key], key)
        )[:LISTED]
        for construct, largest in differences.items()
    }
    return chosen, len({key for largest in differences.values() for key in largest})


def _marked(context: Context) -> set[tuple[str, str]]:
    if context.marks is None:
        return set()
    rows = context.marks.first
    rows = rows[rows["marked"] == 1]
    return set(zip(rows["construct"].astype(str), rows["response_id"].astype(str), strict=True))


def labeled_claims_table(analysis: Analysis) -> Iterator[Table]:
    """The claims of some responses and the sentences that people marked in them."""
    texts = analysis.inputs.labeled_texts.by_response
    if not texts:
        return
    built = TableBuilder()
    shown: set[str] = set()
    left_out = 0
    for construct, keys in groupby(texts, key=lambda place: place[0]):
        for place in list(keys)[:SHOWN]:
            shown.add(place[1])
            left_out += max(0, len(texts[place]) - _TEXTS)
            for text in texts[place][:_TEXTS]:
                built.add(
                    construct,
                    place[1],
                    text.by,
                    text.of,
                    Cell("", quote=quoted(text.text, _MOST)),
                    Cell("", quote=quoted("; ".join(text.labels), _MOST)),
                )
    cut = f"; {left_out:,} texts of these responses are in the CSV only" if left_out else ""
    yield built.table(
        "labeled-claims",
        "Claims and their labels, next to the sentences that people marked",
        "Claims and statements as the model listed them, each with the labels that it gave, and "
        f"the texts for which it gave them. {len(shown)} of {analysis.inputs.labeled_texts.of:,} "
        f"responses with scores of people and of a metric in steps{cut}: those with marks first, "
        "then those on which a metric and people differ most. The CSV has up to "
        f"{LISTED} for each construct.",
        ("Construct", "Response", "By", "Of", "Text", "Labels"),
        heads=4,
        records=_records(texts),
    )


def _records(
    texts: Mapping[tuple[str, str], tuple[LabeledText, ...]],
) -> Iterator[dict[str, object]]:
    for (construct, response), found in texts.items():
        for text in found:
            yield {
                "construct": construct,
                "response_id": response,
                "by": text.by,
                "of": text.of,
                "text": text.text,
                "labels": "; ".join(text.labels),
            }
