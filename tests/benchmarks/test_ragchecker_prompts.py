"""The benchmark of RAGChecker's prompts on a few queries, and its committed result."""

import json
from pathlib import Path

from tests.benchmarks import ragchecker_prompts as benchmark


def test_ratios_are_within_what_is_allowed(tmp_path: Path) -> None:
    found = benchmark.compared(tmp_path, queries=2)
    for name, most in benchmark.ALLOWED.items():
        assert found["ratios"][name] <= most, name
    committed = json.loads(Path(benchmark.__file__).with_suffix(".json").read_text())
    for name, most in benchmark.ALLOWED.items():
        assert committed["ratios"][name] <= most, name


def test_claims_have_the_stated_length() -> None:
    texts = list(benchmark.made_texts(40))
    words = [len(claim.split()) for t in texts for claim in benchmark.claims_of(t.reference)]
    assert abs(sum(words) / len(words) - benchmark.CLAIM) < 0.2
