"""The connection to Ray, and whether its machines have what the replicas need."""

import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

from study.errors import StudyError

# Bytes for Ray's store of objects on this machine: the prompts and answers under way.
_OBJECT_STORE = 200_000_000
_WAIT_SECONDS = 60.0
"""For what a call that has just ended still occupies."""


def accelerators_each(arguments: Mapping[str, Any]) -> int:
    """Return how many GPUs a replica takes."""
    return int(arguments.get("tensor_parallel_size", 1)) * int(
        arguments.get("pipeline_parallel_size", 1)
    )


def connect(address: str | None, replicas: int, each: int) -> bool:
    """Connect to a cluster, or start Ray on this machine; return False if that was done before.

    Raises
    ------
    StudyError
        Ray or vLLM is not installed, or no cluster answers at the address.
    """
    # Read when Ray is imported. Its scheduler would print paragraphs, "(raylet) ...", also without
    # the logs of the replicas; all stay in its log files.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")
    try:
        import ray
    except ImportError as error:
        raise _missing(str(error)) from error
    if find_spec("vllm") is None:
        raise _missing("No module named 'vllm'")
    if ray.is_initialized():
        return False
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address is None:
        # Ray's CPUs are a matter of counting; each replica and each of its GPUs needs one.
        options["num_cpus"] = max(os.cpu_count() or 1, replicas * each + 1)
        options |= {"object_store_memory": _OBJECT_STORE, "include_dashboard": False}
    try:
        ray.init(address=address or "local", **options)
    except Exception as error:  # Ray raises the bare class where a process of its own fails.
        with suppress(Exception):
            ray.shutdown()
        raise StudyError(_not_started(address, error)) from error
    return True


def _missing(what: str) -> StudyError:
    return StudyError(f"The engine ray needs Ray and vLLM ({what}): pip install 'ccrs-study[ray]'")


def first_line(error: BaseException) -> str:
    """Return the cause in Ray's words; the paragraphs after it are for Ray's own developers."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__)[:300].rstrip(".")


def _not_started(address: str | None, error: Exception) -> str:
    cause = first_line(error)
    if address is not None:
        return (
            f"There is no Ray at {address}: {cause}. Check that the cluster runs (ray status) and "
            "that --cluster names it."
        )
    return (
        f"Ray does not start on this machine: {cause}. Stop what an earlier Ray left (ray stop), "
        "check the free space of /tmp and /dev/shm, and run the command again. The folder "
        "ray/session_latest/logs in /tmp has Ray's logs."
    )


def replica_resources(replicas: int, each: int) -> dict[str, Any]:
    """Check that the replicas find their place; return what each asks of Ray.

    Raises
    ------
    StudyError
        Something is short, or in use by others.
    """
    import ray
    from ray.util import placement_group, remove_placement_group

    present = ray.cluster_resources()
    # Without GPUs, a replica runs on a CPU, as with vLLM's CPU build.
    kinds = ("GPU", "CPU") if present.get("GPU", 0) > 0 else ("CPU",)
    problem = _shortage(replicas, each, kinds, present)
    if problem is None:
        # Ray holds all places at once, or none: its numbers alone don't say how they are spread.
        group = placement_group([dict.fromkeys(kinds, each)] * replicas)
        if not group.wait(_WAIT_SECONDS):
            in_use = _shortage(replicas, each, kinds, ray.available_resources())
            problem = (
                f"{in_use} The others of the cluster are in use ('ray status' shows by what)."
                if in_use
                else f"--replicas {replicas} of {each} {kinds[0]}s each finds too few machines "
                f"with {each} free ones ('ray status' shows what is in use)."
            )
        remove_placement_group(group)
    if problem is not None:
        raise StudyError(f"{problem} Nothing was asked.")
    return {f"num_{kind.lower()}s": each if kind in kinds else 0 for kind in ("CPU", "GPU")}


def _shortage(
    replicas: int, each: int, kinds: Sequence[str], resources: Mapping[str, float]
) -> str | None:
    """Return in words what is missing for so many replicas with so many GPUs each, if anything."""
    needed = replicas * each
    for kind in kinds:
        if (present := int(resources.get(kind, 0))) < needed:
            per_replica = f" of {each} {kind}s each" if each > 1 else ""
            return (
                f"--replicas {replicas}{per_replica} needs {needed} {kind}s of Ray, and {present} "
                "are available. Start fewer replicas, or add machines to the cluster (ray start "
                f"--address, with --num-{kind.lower()}s where Ray counts too few)."
            )
    return None
