"""Share of prompt tokens that vLLM computes for RAGChecker's metrics, and the least possible.

`python -m tests.benchmarks vllm_ragchecker [FILE]`, in an environment with vLLM (see `vllm_reuse`).
The prompts of the eleven metrics on two queries, with six systems and contexts of 20 passages, are
those that a run asks, in its order, after an engine in this process answered with the claims of
`ragchecker_prompts`. vLLM answers them with a tiny model and a cache that holds few prompts; the
shares are its own counts. Fails where our order is more than 2 points above the least in blocks.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from judge.engines.vllm.model_loader import ModelSpec, load
from study import Study
from tests.benchmarks.ragchecker_prompts import PASSAGES, requests_of
from tests.benchmarks.vllm_reuse import (
    ALLOWED,
    ARGUMENTS,
    BLOCKS,
    CACHE,
    HUNDRED,
    ROOT,
    Arranged,
    machine,
    paper_like,
    shares,
    shuffled,
)

QUERIES = 2
PASSAGE_WORDS = 150
ANSWERS = 4
"""Answers of the example in a response, which then has the length of the meta-evaluation's."""


def main() -> None:
    """Measure with blocks of each size, and write the shares to FILE if one is named."""
    os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
    out = Path(sys.argv[-1]) if sys.argv[-1].endswith(".json") else None
    found: dict[str, Any] = {"machine": machine(), "cache_tokens": CACHE}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        words = [sys.executable, "-m", "tests.judge.tiny_model.make", str(folder / "model"), "32"]
        subprocess.run(words, check=True, cwd=ROOT)
        study = paper_like(folder / "study", QUERIES, PASSAGES * PASSAGE_WORDS, ANSWERS)
        stream = list(asked(study))
        study.close()
        for block in BLOCKS:
            cache = {"block_size": block, "num_gpu_blocks_override": CACHE // block}
            spec = ModelSpec(
                str(folder / "model"), None, 4096, 0, ARGUMENTS | cache, None, (HUNDRED,)
            )
            loaded = load(spec)
            orders = {"ours": stream, "claims by claims": by_claims(stream)}
            orders["shuffled"] = shuffled(stream)
            measured = {order: shares(loaded, arranged) for order, arranged in orders.items()}
            loaded.close()
            found[f"blocks of {block}"] = measured
            ours = measured["ours"]
            line = "; ".join(f"{order} {each['computed']:.1%}" for order, each in measured.items())
            print(
                f"blocks of {block}: {ours['prompts']} prompts, {ours['tokens']:,} tokens; "
                f"computed: {line}; least possible {ours['least_in_blocks']:.1%}",
                flush=True,
            )
    if out is not None:
        out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    above = [name for name, measured in found.items() if name.startswith("blocks")
             and excess(measured) > ALLOWED]  # fmt: skip
    if above:
        sys.exit(f"more than {ALLOWED:.0%} above the least possible: {', '.join(above)}")


def excess(measured: dict[str, dict[str, float]]) -> float:
    """Return by how much the share that is computed in our order is above the least possible."""
    return measured["ours"]["computed"] - measured["ours"]["least_in_blocks"]


def asked(study: Study) -> Iterator[Arranged]:
    """Yield the prompts of the suite in the order in which a run asks them."""
    for request in requests_of(study):
        query, _ = request.group.split(" ")
        yield Arranged(request, int(query), str(request.response_ids[0]))


def by_claims(stream: Sequence[Arranged]) -> list[Arranged]:
    """Return the order of the authors' package: claims are checked by all passages in turn."""
    return sorted(
        stream, key=lambda each: (each.system, each.request.prompt.rsplit("Claims:\n", 1)[-1])
    )


if __name__ == "__main__":
    main()
