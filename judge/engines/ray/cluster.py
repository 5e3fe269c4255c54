"""The connection to Ray, and whether its machines have what the replicas need."""

import logging
import os
import socket
from contextlib import suppress
from typing import Any

from judge.engines.vllm.scheduler_feed import RESUME
from study.errors import StudyError

# Bytes for Ray's store of objects on this machine: the prompts and answers under way.
_OBJECT_STORE = 200_000_000
_CONNECT_SECONDS = 10.0
_WAIT_SECONDS = 60.0
"""For what a call that has just ended still occupies."""


def connect(address: str | None, cpus: int) -> tuple[Any, bool]:
    """Connect to a cluster, or start Ray on this machine.

    Returns Ray, and whether that was done now: a program may use Ray already.

    Raises
    ------
    StudyError
        Ray is not installed, or does not start, or no cluster answers at the address.
    """
    # Read when Ray is imported. Its scheduler would print paragraphs, "(raylet) ...", also without
    # the logs of the replicas; all stay in its log files.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")
    try:
        import ray
    except ImportError as error:
        raise StudyError(
            f"The engine ray needs Ray and vLLM ({error}): pip install 'ccrs-study[ray]'"
        ) from error
    if ray.is_initialized():
        return ray, False
    # The CPUs are a matter of counting: replicas without GPUs need as many.
    cores = max(os.cpu_count() or 1, cpus)
    here = {"num_cpus": cores, "object_store_memory": _OBJECT_STORE, "include_dashboard": False}
    options = {"address": "local", **here} if address is None else {"address": address}
    try:
        if address not in {None, "auto"}:
            # Ray would try for ten minutes and more, and print each time.
            host, port = str(address).rsplit(":", 1)
            socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS).close()
        ray.init(log_to_driver=False, logging_level=logging.ERROR, **options)
    except Exception as error:  # Ray raises the bare class where a process of its own fails.
        with suppress(Exception):
            ray.shutdown()
        raise StudyError(
            f"There is no Ray at {address}: {cause_of(error)}. Check that the cluster runs (ray "
            "status) and that --cluster names it."
            if address
            else f"Ray does not start on this machine: {cause_of(error)}. Stop what an earlier Ray "
            "left (ray stop), check the free space of /tmp and /dev/shm, and run the command "
            "again. The folder ray/session_latest/logs in /tmp has Ray's logs."
        ) from error
    return ray, True


def cause_of(error: BaseException) -> str:
    """Return what was raised in a replica, or else the first line of Ray's own words.

    The paragraphs after it are for Ray's own developers.
    """
    cause = getattr(error, "cause", None) or error
    said = str(cause).strip().split("\n")[0].removesuffix(RESUME).rstrip(". ")
    return said if isinstance(cause, StudyError) or cause is error else f"{cause!r}"


def places(replicas: int, each: int) -> dict[str, int]:
    """Check that replicas with so many GPUs find their places; return what each asks of Ray.

    Without GPUs, a replica runs on CPUs, as with vLLM's CPU build.

    Raises
    ------
    StudyError
        Something is short, or in use by others.
    """
    import ray
    from ray.util import placement_group, remove_placement_group

    total, needed = ray.cluster_resources(), replicas * each
    kind = "GPU" if total.get("GPU", 0) > 0 else "CPU"
    if total.get(kind, 0) >= needed:
        # Ray holds all places at once, or none: its numbers alone don't say how they are spread.
        group = placement_group([{kind: each}] * replicas)
        placed = group.wait(_WAIT_SECONDS)
        remove_placement_group(group)
        if placed:
            return {f"num_{name.lower()}s": each * (name == kind) for name in ("CPU", "GPU")}
    free = ray.available_resources().get(kind, 0)
    together = f", {each} on one machine for each replica" if each > 1 else ""
    raise StudyError(
        f"--replicas {replicas} needs {needed} {kind}s of Ray{together}: it has "
        f"{total.get(kind, 0):g}, of which {free:g} are free ('ray status' shows what uses the "
        "others). Start fewer replicas, or add machines to the cluster (ray start "
        f"--address, with --num-{kind.lower()}s where Ray counts too few). Nothing was asked."
    )
