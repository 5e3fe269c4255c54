"""Whether the scores have what hypotheses name."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from analysis.core.errors import AnalysisError, did_you_mean
from ccrs_base.hypotheses import Hypothesis


def check_hypotheses(
    hypotheses: Sequence[Hypothesis],
    systems: Collection[str],
    constructs: Collection[str],
    scorers: Collection[str],
) -> None:
    """Check that hypotheses have different names and that the scores have what they name.

    Raises
    ------
    AnalysisError
        Two hypotheses have one name, or a name is not in the scores; the message lists theirs.
    """
    names = [hypothesis.name for hypothesis in hypotheses]
    for name in names:
        if names.count(name) > 1:
            raise AnalysisError(f"two hypotheses are called {name!r}; give one another name")
    for hypothesis in hypotheses:
        references = [("system", name, systems) for pair in hypothesis.pairs for name in pair]
        references += [("construct", name, constructs) for name in hypothesis.constructs]
        if hypothesis.scorer is not None:
            references.append(("scorer", hypothesis.scorer, scorers))
        for noun, name, present in references:
            if name not in present:
                listed = ", ".join(present) or "none"
                raise AnalysisError(
                    f"hypothesis {hypothesis.name!r}: unknown {noun} {name!r}; the scores have "
                    f"{listed}.{did_you_mean(name, present)}"
                )
