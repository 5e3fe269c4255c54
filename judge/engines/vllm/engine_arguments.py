"""Arguments of vLLM's engine in study.toml: which are allowed, and which belong to the identity."""

import os
from collections.abc import Mapping
from typing import Any

from study.errors import StudyError

# Settings of the command, or arguments that would break a guarantee, with the remedy.
_REFUSED = {
    "model": "give it as --model",
    "revision": "give it as --revision",
    "seed": "give it as --seed",
    "max_model_len": "give it as --window",
    "data_parallel_size": "several replicas are started by --engine ray --replicas",
    "hf_token": "it would be stored with the run; give it in the environment variable HF_TOKEN",
    "logprobs_mode": "leave it out; scores are read from probabilities before the temperature",
    "skip_tokenizer_init": "leave it out; prompts are encoded and counted here",
}
# How much fits, how much is done at once, and where files are. These change a score by no more
# than the other prompts under way do, so a run may continue on another GPU.
_RECORDED_ONLY = frozenset(
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
BATCH_INVARIANT = "VLLM_BATCH_INVARIANT"
CHAT_TEMPLATE = "chat_template"
"""A file in the study's folder; its hash, and not its name, belongs to the identity."""


def check_arguments(arguments: Mapping[str, Any]) -> None:
    """Refuse arguments that cannot be set in study.toml.

    Raises
    ------
    StudyError
        There is one; the message says what to do instead.
    """
    for name in arguments:
        if name in _REFUSED:
            raise StudyError(f"judge.vllm.{name} in study.toml: {_REFUSED[name]}.")


def identity_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that belong to the identity of a run."""
    excluded = _RECORDED_ONLY | {CHAT_TEMPLATE}
    return {f"vllm.{name}": arguments[name] for name in sorted(arguments) if name not in excluded}


def recorded_only(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that are recorded without belonging to the identity."""
    return {f"vllm.{name}": arguments[name] for name in sorted(arguments) if name in _RECORDED_ONLY}


def for_engine(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that are passed to vLLM."""
    return {name: value for name, value in arguments.items() if name != CHAT_TEMPLATE}


def batch_invariant() -> bool:
    """Return whether vLLM is set to make an answer independent of the others in its batch."""
    return os.environ.get(BATCH_INVARIANT, "0").strip() not in {"", "0"}
