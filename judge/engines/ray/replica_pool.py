"""Replicas of a model in a dataset of Ray Data's LLM processor, which runs until it is closed."""

import logging
import pickle
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from queue import Empty, Queue
from threading import Thread
from typing import Any

import ray
from ray.data import DataContext
from ray.data.llm import build_processor, vLLMEngineProcessorConfig
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from judge.engines.ray.block_source import BlockSource, Mailbox
from judge.engines.ray.blocks import BlockResult
from judge.engines.ray.replica import DESCRIBE, JudgeReplica
from judge.engines.vllm.model_loader import DescribedModel, ModelSpec, engine_values
from judge.engines.vllm.prompt_requests import Ask, Decoding
from judge.protocol.exchange import Request
from study.errors import StudyError

_BLOCKS_AT_ONCE = 64
"""Blocks that a replica works on at once: more prompts than vLLM's schedulers take."""
_TRIES = 3
"""Tries of a block after the first has ended its replica: a prompt might do it each time."""
_RESULT_SECONDS = 1.0
_END_SECONDS = 10.0


class ReplicaPool:
    """Sends blocks to replicas, and collects their results."""

    def __init__(self, spec: ModelSpec, decoding: Decoding, count: int) -> None:
        self.count = count
        self.scheduled = self.block_size = 1
        self._spec = spec
        self._decoding = decoding
        self._mailbox: Any = None
        self._results: Queue[tuple[int, Any] | BaseException | None] = Queue()
        self._consumer: Thread | None = None

    def start(self, use_gpus: bool) -> DescribedModel:
        """Load the model in all replicas; return its description when the first is ready.

        Raises
        ------
        StudyError
            It cannot be loaded.
        """
        _quiet_ray()
        # The blocks are kept and read where this process runs, whatever happens to other machines.
        node = ray.get_runtime_context().get_node_id()
        here = NodeAffinitySchedulingStrategy(node, soft=False)
        actor = ray.remote(num_cpus=0, max_concurrency=16, scheduling_strategy=here)(Mailbox)
        self._mailbox = actor.remote()
        with _row_by_row(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            blocks = ray.data.read_datasource(
                BlockSource(self._mailbox),
                override_num_blocks=1,
                num_cpus=0,
                scheduling_strategy=here,
            )
            results = self._processor(use_gpus, here)(blocks)
        self._consumer = Thread(target=self._consume, args=(results,), daemon=True)
        self._consumer.start()
        self._put(0, DESCRIBE)
        while not (described := self._received()):
            pass
        _, model = described[0]
        if isinstance(model, str):
            raise StudyError(model)
        self.scheduled, self.block_size = model.facts.scheduled, model.facts.block_size
        self.done(0)
        return model  # type: ignore[no-any-return]

    def put(self, number: int, requests: Sequence[Request]) -> None:
        """Send a block to any replica."""
        self._put(number, pickle.dumps([Ask.of(request) for request in requests]))

    def results(self) -> list[tuple[int, BlockResult]]:
        """Wait a moment for results, and return them.

        Raises
        ------
        StudyError
            Ray has stopped, or a replica cannot load the model.
        """
        received = self._received()
        for _, result in received:
            if isinstance(result, str):
                raise StudyError(f"{result} All answers so far are stored.")
        return [(number, each) for number, each in received if isinstance(each, BlockResult)]

    def done(self, number: int) -> None:
        """Forget a block whose answers are stored."""
        with _ray_errors():
            self._mailbox.done.remote(number)

    def end(self) -> None:
        """End the replicas, whatever they are doing."""
        if self._mailbox is not None:
            with suppress(Exception):
                self._mailbox.end.remote()
        if self._consumer is not None:
            self._consumer.join(_END_SECONDS)

    def _put(self, number: int, prompts: bytes) -> None:
        with _ray_errors():
            ray.get(self._mailbox.put.remote(number, prompts))

    def _received(self) -> list[tuple[int, Any]]:
        received: list[tuple[int, Any]] = []
        with suppress(Empty):
            entry = self._results.get(timeout=_RESULT_SECONDS)
            while True:
                if entry is None or isinstance(entry, BaseException):
                    # The next call finds it again.
                    self._results.put(entry)
                    if received:
                        break
                    with _ray_errors():
                        raise entry or RuntimeError("the dataset has ended")
                received.append(entry)
                entry = self._results.get_nowait()
        return received

    def _consume(self, results: Any) -> None:
        """Fetch results as they come: nothing here waits for a further one."""
        try:
            for bundle in results.iter_internal_ref_bundles():
                for entry in bundle.blocks:
                    for row in ray.get(entry.ref).to_pylist():
                        result = pickle.loads(row["result"])  # noqa: S301  (of the replicas)
                        self._results.put((row["number"], result))
            self._results.put(None)
        except BaseException as error:  # noqa: BLE001  (raised again where results are awaited)
            self._results.put(error)

    def _processor(self, use_gpus: bool, here: Any) -> Any:
        config = vLLMEngineProcessorConfig(
            model_source=self._spec.model,
            engine_kwargs=engine_values(self._spec),
            concurrency=(self.count, self.count),
            # A row is a whole block of prompts.
            batch_size=1,
            max_concurrent_batches=_BLOCKS_AT_ONCE,
            max_tasks_in_flight_per_actor=_BLOCKS_AT_ONCE,
            placement_group_config=None if use_gpus else {"bundles": [{"CPU": 1}]},
            should_continue_on_error=True,
            chat_template_stage=False,
            tokenize_stage=False,
            detokenize_stage=False,
            log_engine_metrics=False,
        )
        processor = build_processor(
            config,
            postprocess=lambda row: {"number": row["number"], "result": row["result"]},
            # These only move rows: with a CPU of their own they would wait for the replicas'.
            preprocess_map_kwargs={"num_cpus": 0, "scheduling_strategy": here},
            postprocess_map_kwargs={"num_cpus": 0},
        )
        stage = processor.get_stage_by_name("vLLMEngineStage")
        # An assignment would compute the resources again, and count GPUs where there are none.
        object.__setattr__(stage, "fn", JudgeReplica)
        stage.fn_constructor_kwargs.update(spec=self._spec, decoding=self._decoding)
        stage.map_batches_kwargs["max_task_retries"] = _TRIES
        return processor


def _quiet_ray() -> None:
    """Keep what Ray reports of its progress from mixing with the output of the command."""
    for name in ("ray", "ray.data"):
        for handler in logging.getLogger(name).handlers:
            handler.setLevel(logging.ERROR)


@contextmanager
def _row_by_row() -> Iterator[None]:
    """Have datasets that are made inside pass on each row as soon as it is there."""
    context = DataContext.get_current().copy()
    context.target_max_block_size = 1
    context.enable_progress_bars = context.print_on_execution_start = False
    with DataContext.current(context):
        yield


@contextmanager
def _ray_errors() -> Iterator[None]:
    try:
        yield
    except StudyError:
        raise
    except Exception as error:  # Ray raises the bare class as well.
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise StudyError(
            f"Ray stopped: {lines[-1].strip()} Its logs are in /tmp/ray/session_latest/logs of "
            "each machine. All answers so far are stored; run the command again to resume."
        ) from error
