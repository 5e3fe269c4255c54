"""Checking a score table of 150,000 rows."""

from analysis.core.tables import ScoreTable
from study.base.scales import Scale
from tests.analysis.scores import simulated
from tests.benchmarks.measuring import median_seconds

CONSTRUCTS = ("A", "B", "C", "D", "E")


def main() -> None:
    """Print the median; the aim is 0.3 s on 2 cores."""
    frame = simulated(queries=2500, systems=6, raters=1, constructs=CONSTRUCTS)
    scales = {construct: Scale() for construct in CONSTRUCTS}
    seconds = median_seconds(lambda: ScoreTable.from_frame(frame, scales))
    print(f"{len(frame):,} rows: {seconds:.2f} s")


if __name__ == "__main__":
    main()
