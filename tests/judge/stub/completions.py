"""What an honest server answers: a score that depends on the prompt alone, and true counts."""

from hashlib import blake2b
from typing import Any

MODEL = "stub-judge"
FINGERPRINT = "fp_stub_1"

# The first words of the paper's prompts, and their last ones.
CONSTRUCTS = {
    "Evaluate the Contextual Coherence": "CC",
    "Evaluate the Question Relevance": "QR",
    "Evaluate the Information Density": "ID",
    "Evaluate the Answer Correctness": "AC",
    "Evaluate the Information Recall": "IR",
}
_END = "Output: Only print the score and nothing else."
# A chat template adds some tokens of its own to every prompt.
_TEMPLATE_TOKENS = 8


def digest(prompt: str) -> str:
    """Return the name of a prompt in the log: 32 hexadecimal digits."""
    return blake2b(prompt.encode("utf-8", "replace"), digest_size=16).hexdigest()


def score(prompt_digest: str) -> int:
    """Return the score of a prompt, 0 to 100, from its digest."""
    return int(prompt_digest[:8], 16) % 101


def construct(prompt: str) -> str | None:
    """Return the construct that a whole prompt of the paper is on; None for another text."""
    if not prompt.endswith(_END):
        return None
    for words, key in CONSTRUCTS.items():
        if prompt.startswith(words):
            return key
    return None


def tokens(size: int) -> int:
    """Return the tokens of a prompt of `size` bytes, as this server counts them."""
    return _TEMPLATE_TOKENS + (size + 3) // 4


def completion(model: str, text: str, prompt_tokens: int) -> dict[str, Any]:
    """Return the body of an answer."""
    completion_tokens = max(1, (len(text) + 3) // 4)
    return {
        "id": "chatcmpl-stub",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": model,
        "system_fingerprint": FINGERPRINT,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "finish_reason": "stop",
            }
        ],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        },
    }


def embeddings(request: dict[str, Any]) -> dict[str, Any]:
    """Return the body of an answer with vectors: how often words of each of 64 kinds occur."""
    data = []
    for index, text in enumerate(request["input"]):
        vector = [0.0] * 64
        for word in text.lower().split():
            vector[int(digest(word)[:8], 16) % 64] += 1
        data.append({"index": index, "embedding": vector})
    return {"object": "list", "model": request["model"], "data": data}
