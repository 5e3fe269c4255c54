"""The multitrait-multimethod matrix as a heat map."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.estimates import to_frame
from analysis.render.figure import Figure
from analysis.render.formatting import counted
from analysis.render.heat_map import described, heat_map

#: Constructs by methods drawn; a larger matrix is in estimates.csv.
VARIABLES_DRAWN = 20


def multitrait(analysis: Analysis) -> Iterator[Figure]:
    """Methods in blocks; the correlations of one construct across methods stand out."""
    found = analysis.estimates.select("mtmm_correlation")
    variables = list(
        dict.fromkeys(
            variable
            for e in found
            for variable in zip((e.params["first"], e.params["second"]), e.constructs, strict=True)
        )
    )
    if not 3 <= len(variables) <= VARIABLES_DRAWN:
        return
    # Pairs come in the order of the variables, of which the last one only stands second.
    place = {variable: i for i, variable in enumerate(variables)}
    values = np.full((len(variables), len(variables)), np.inf)
    strong = set()
    for e in found:
        first, second = zip((e.params["first"], e.params["second"]), e.constructs, strict=True)
        i, j = sorted((place[first], place[second]))
        values[j, i] = e.value
        if e.params["kind"] == "monotrait_heteromethod":
            strong.add((j, i))
    names = [f"{trait}, {method}" for method, trait in variables]
    low = min(e.n_responses for e in found)
    high = max(e.n_responses for e in found)
    common = found[0].params["items"] == "common"
    over = (
        f"over the {counted(low, 'response')} that have every value"
        if common
        else f"each over the {low:,} to {high:,} responses with its two values"
    )
    pairs = [
        (f"{e.constructs[0]} of {e.params['first']}", f"{e.constructs[1]} of {e.params['second']}")
        for e in found
    ]
    yield Figure(
        key="multitrait",
        title="Does a construct agree with itself across methods, more than with other constructs?",
        caption=(
            f"Multitrait-multimethod matrix: Pearson correlations {over}. In frames and bold: one "
            "construct by two methods (convergent); they should exceed the other figures of "
            "their row and column. Blocks on the diagonal: different constructs by one method. "
            "People: a response's human reference, whose constructs may share halo."
        ),
        drawings=(
            heat_map(
                "multitrait", ("Constructs by method",), names[1:], names[:-1],
                values[1:, :-1], described(pairs, [e.value for e in found]),
                strong=lambda i, j: (i + 1, j) in strong,
            ),
        ),
        data=to_frame(found),
        wide=True,
    )  # fmt: skip
