"""Importing 30,000 responses with 20 distinct passages each (JSON lines, about 760 MB)."""

import json
import random
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.measuring import run_command

QUERIES, SYSTEMS, PASSAGES, LENGTH = 5_000, 6, 20, 1_200
WORDS = [f"word{number:04d}" for number in range(3_000)]

IMPORT = """
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from study import Study, import_file
with TemporaryDirectory(dir=Path(sys.argv[1]).parent) as folder:
    study = Study.create(Path(folder) / "study")
    summary = import_file(study, sys.argv[1])
    assert summary.added["responses"] == int(sys.argv[2]), summary
    assert summary.added["passages"] == int(sys.argv[3]), summary
    study.close()
"""


def main() -> None:
    """Print median and peak memory; the aims are 30 s and 500 MB on 2 cores."""
    responses = QUERIES * SYSTEMS
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "responses.jsonl"
        write(path)
        size = path.stat().st_size / 1e6
        command = [sys.executable, "-c", IMPORT, str(path), str(responses)]
        measured = run_command([*command, str(responses * PASSAGES)], runs=3, warm_up=0)
        print(f"{responses} responses, {responses * PASSAGES} passages, {size:.0f} MB: {measured}")


def write(path: Path) -> None:
    """Write the file: every passage another text."""
    draw = random.Random(20261121)
    text = " ".join(draw.choices(WORDS, k=400_000))
    with path.open("w", encoding="utf-8") as stream:
        for query in range(QUERIES):
            for system in range(SYSTEMS):
                places = [draw.randrange(len(text) - LENGTH) for _ in range(PASSAGES)]
                row = {
                    "response_id": f"q{query}-{system}",
                    "query_id": f"q{query}",
                    "query": f"What of {query}?",
                    "system": f"system-{system}",
                    "response": text[places[0] : places[0] + 600],
                    "references": [f"The answer is {query}."],
                    "passages": [
                        f"{query}-{system}-{rank}: {text[place : place + LENGTH]}"
                        for rank, place in enumerate(places)
                    ],
                }
                stream.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
