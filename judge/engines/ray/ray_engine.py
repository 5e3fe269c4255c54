"""The engine `ray`: replicas of a model on the GPUs of a machine or of a cluster."""

from collections.abc import Iterable, Sequence
from typing import Any

from judge.engines.engine import Delivery, Ready
from judge.engines.engine_settings import RaySettings
from judge.engines.ray.cluster import accelerators_each, connect, replica_resources
from judge.engines.vllm.model_loader import ProcessCleanup
from judge.engines.vllm.prefix_reuse import PrefixReuse
from judge.engines.vllm.run_conditions import decoding, model_spec, ready
from judge.prompts.template import PromptSet
from judge.protocol.conditions import Run
from judge.protocol.exchange import Request
from study.study import Study


class RayEngine:
    """Asks replicas of a model, which Ray starts, and starts again where they are lost."""

    settings = RaySettings

    def __init__(self, settings: RaySettings, study: Study, prompts: PromptSet) -> None:
        self._settings = settings
        self._spec = model_spec(settings, study, prompts)
        self._decoding = decoding(settings, prompts)
        self._pool: Any = None
        self._connected = False
        self._cleanup: ProcessCleanup | None = None

    def start(self, sample: Sequence[str]) -> Ready:
        """Connect to Ray, and load the model in the replicas."""
        settings = self._settings
        each = accelerators_each(self._spec.arguments)
        self._connected = connect(settings.cluster, settings.replicas, each)
        resources = replica_resources(settings.replicas, each)
        # Imports Ray.
        from judge.engines.ray.replica_pool import ReplicaPool

        self._pool = ReplicaPool(self._spec, self._decoding, settings.replicas, resources)
        model = self._pool.start()
        if settings.cluster is None and self._connected:
            # Ray's processes on this machine would outlive a kill of this one.
            self._cleanup = ProcessCleanup()
        return ready(settings, self._spec, self._decoding, model, sample)

    def run(self, run: Run, requests: Iterable[Request], delivery: Delivery) -> tuple[str, ...]:
        """Send groups of prompts to the replicas; store the answers of each as they come."""
        del run
        reuse: PrefixReuse = self._pool.answer(requests, delivery)
        return reuse.report(delivery)

    def close(self) -> None:
        """End the replicas, and Ray where it was started here."""
        if self._pool is not None:
            self._pool.end()
        if self._connected:
            import ray

            ray.shutdown()
        if self._cleanup is not None:
            self._cleanup.cancel()
