"""Arguments of vLLM's engine in study.toml: which are taken, and which make another judge."""

import os
from collections.abc import Mapping
from typing import Any

from study.errors import StudyError

# What the command line says, or what would break a promise, with what to do instead.
_REFUSED = {
    "model": "give it as --model",
    "revision": "give it as --revision",
    "seed": "give it as --seed",
    "max_model_len": "give it as --window",
    "data_parallel_size": "one engine takes one; run several with --processes",
    "hf_token": "it would be stored with the run; give it in the environment variable HF_TOKEN",
    "logprobs_mode": "leave it out; scores are read from probabilities before the temperature",
    "skip_tokenizer_init": "leave it out; prompts are encoded and counted here",
}
# How much fits, how much is done at once, and where files lie: they move a score by no more than
# the other prompts that happen to be under way do, and another GPU may go on with a run.
_NO_PART = frozenset(
    {
        "block_size",
        "cpu_offload_gb",
        "disable_log_stats",
        "download_dir",
        "enable_prefix_caching",
        "gpu_memory_utilization",
        "kv_cache_memory_bytes",
        "max_num_batched_tokens",
        "max_num_seqs",
        "max_parallel_loading_workers",
        "num_gpu_blocks_override",
        "use_tqdm_on_load",
    }
)
CHAT_TEMPLATE = "chat_template"
"""A file in the study's folder; its hash, and not its name, belongs to the identity."""


def check_arguments(given: Mapping[str, Any]) -> None:
    """Refuse arguments that stand elsewhere.

    Raises
    ------
    StudyError
        One is given; the message says what to do instead.
    """
    for name in given:
        if name in _REFUSED:
            raise StudyError(f"judge.vllm.{name} in study.toml: {_REFUSED[name]}.")


def of_identity(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that make a run another than the next."""
    other = _NO_PART | {CHAT_TEMPLATE}
    return {f"vllm.{name}": given[name] for name in sorted(given) if name not in other}


def no_part_of_identity(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that are only recorded."""
    return {f"vllm.{name}": given[name] for name in sorted(given) if name in _NO_PART}


def of_engine(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that the engine itself gets."""
    return {name: value for name, value in given.items() if name != CHAT_TEMPLATE}


def batch_invariant() -> bool:
    """Tell whether vLLM was told to make an answer independent of those beside it."""
    return os.environ.get("VLLM_BATCH_INVARIANT", "0").strip() not in {"", "0"}
