"""`python -m tests.coverage [NAME ...]` runs the simulations that are named, or all of them.

Each writes its committed table. `python -m tests.coverage.NAME --help` shows how to run a part.
"""

import argparse
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent

#: The table of each simulation that takes its place as an option; the others know theirs.
TABLES = {
    "simulation": "coverage.csv",
    "regimes": "regimes.csv",
    "corrected": "corrected.csv",
    "rater_severity": "rater_severity.csv",
    "severity_on_few_points": "severity_on_few_points.csv",
    "favored_systems": "favored_systems.csv",
    "favored_on_few_points": "favored_on_few_points.csv",
    "system_ranks": "system_ranks.csv",
    "soft_accuracy": "soft_accuracy.csv",
    "binary_rates": "binary_rates.csv",
    "cut_rates": "cut_rates.csv",
    "pass_rates": "pass_rates.csv",
    "few_of_a_class": "few_of_a_class.csv",
}
SIMULATIONS = (
    *TABLES,
    "further_rater",
    "few_queries",
    "null_studies",
    "decision_margins",
    "one_rater",
    "straight_lining",
)


def main() -> None:
    """Run the simulations one after the other; stop at the first that fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.coverage", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SIMULATIONS)}")
    names = parser.parse_args().names or SIMULATIONS
    if unknown := [name for name in names if name not in SIMULATIONS]:
        parser.error(f"{', '.join(unknown)}: there are {', '.join(SIMULATIONS)}")
    for name in names:
        out = ["--out", str(FOLDER / TABLES[name])] if name in TABLES else []
        subprocess.run([sys.executable, "-m", f"tests.coverage.{name}", *out], check=True)


if __name__ == "__main__":
    main()
