"""What an interval covers if there are failures that neither the ratings nor the judge show.

With a share p of failures, n rated responses contain none in (1 - p)^n of samples. If the judge
scores failures like all others, nothing in such a sample shows them, and no interval from it
reaches the mean that includes them. The report states how often that was in a simulation.
"""

from __future__ import annotations

from collections.abc import Sequence

from analysis.core.arrays import FloatArray
from analysis.core.context import LEVEL
from analysis.core.estimates import Estimate
from analysis.render.formatting import counted
from analysis.statistics.correction.query_sums import APART
from study.base.scales import Scale

#: Share of the responses that fail in the simulation (tests/coverage/corrected.csv).
FAILING = 0.06

#: Coverage of the corrected mean by number of rated responses. At `ENOUGH_LABELS` it is .96.
COVERS = {15: 0.69, 30: 0.84}
ENOUGH_LABELS = 75

#: Name of the coverage in the parameters of an estimate.
PARAM = "coverage_with_unseen_failures"


def coverage_with_failures(
    human: FloatArray, scale: Scale | None, level: float
) -> dict[str, float | None]:
    """The parameter of a mean of these values; empty where they lie in both halves of the scale.

    Between two simulated numbers of ratings it is the coverage of the lower one. Below the lowest
    it is that of the lowest, which is then too high.
    """
    if scale is None or level != LEVEL or not 0 < human.size < ENOUGH_LABELS:
        return {}
    unseen = max(human.min() - scale.min, scale.max - human.max())
    if unseen <= APART * scale.width:
        return {}
    size = max((size for size in COVERS if size <= human.size), default=min(COVERS))
    return {PARAM: COVERS[size]}


def stated(means: Sequence[Estimate]) -> str:
    """A sentence for the table of these means; empty where no interval is concerned."""
    concerned = [e for e in means if e.has_interval and PARAM in e.params]
    if not concerned:
        return ""
    covers = " and ".join(f"{_decimals(c)} of samples of {n}" for n, c in COVERS.items())
    return (
        f" {len(concerned)} of {counted(len(means), 'mean')}: fewer than {ENOUGH_LABELS} responses "
        "are rated, and all of them lie in one half of the scale. If "
        f"{FAILING:.0%} of all responses were failures at its other end that the judge does not "
        f"see, such an interval would cover the mean in {covers} rated responses (simulated)."
    )


def _decimals(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")
