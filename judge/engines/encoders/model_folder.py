"""The folder of a model as transformers saves it: where it is, what is in it, its checksum."""

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple

from study.errors import StudyError

EXTRA = "pip install 'ccrs-study[encoders]'"

Pooling = Literal["mean", "cls", "lasttoken"]
_POOLINGS: tuple[Pooling, ...] = ("mean", "cls", "lasttoken")
_MODES: dict[str, Pooling] = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
    "pooling_mode_lasttoken": "lasttoken",
}
# What decides what a model computes. A copy in another format (ONNX and so on) does not.
_SUFFIXES = {".json", ".txt", ".model", ".safetensors", ".bin"}
_PATTERNS = [f"*{suffix}" for suffix in sorted(_SUFFIXES)]
_OTHER_FORMATS = ["onnx/*", "openvino/*"]


class ModelFolder(NamedTuple):
    """A model on this machine."""

    path: Path
    name: str
    """Last part of the name that the user wrote, whatever it links to."""
    sha256: str
    """Of the names and contents of its files: weights, configuration, tokenizer."""


class SentenceLayout(NamedTuple):
    """What the files of sentence-transformers say on the vector of a text."""

    transformer: Path
    """Folder of the transformer."""
    pooling: Pooling
    window: int | None
    """Most tokens of a text, if stated."""


def model_folder(name: str, option: str) -> ModelFolder:
    """Return the folder of a model: this folder, or what the Hugging Face hub has by this name.

    Raises
    ------
    StudyError
        It is neither, or the folder has no model.
    """
    path = Path(name)
    if not path.is_dir():
        path = _fetched(name, option)
    configured = [path, *(path / "0_Transformer",)]
    if not any((folder / "config.json").is_file() for folder in configured):
        raise StudyError(
            f"{option} {name}: the folder has no config.json, so it is not a model. Name a folder "
            "that transformers or sentence-transformers saved."
        )
    digest = sha256()
    for file in sorted(_files(path)):
        content = sha256()
        with file.open("rb") as stream:
            while block := stream.read(2**20):
                content.update(block)
        digest.update(f"{file.relative_to(path).as_posix()}\n{content.hexdigest()}\n".encode())
    return ModelFolder(path, _last_part(name), digest.hexdigest())


def _last_part(name: str) -> str:
    last = Path(name).name
    return last if last not in {"", ".."} else Path(name).resolve().name or name


def _fetched(name: str, option: str) -> Path:
    if Path(name).exists():
        raise StudyError(f"{option} {name} is a file; name the folder that has it.")
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise missing_extra(option) from None
    try:
        return Path(
            snapshot_download(name, allow_patterns=_PATTERNS, ignore_patterns=_OTHER_FORMATS)
        )
    except Exception as error:
        # The hub's client raises errors of several packages: of HTTP, of names, of its cache.
        raise StudyError(
            f"{option} {name} is not a folder, and the Hugging Face hub can't be asked for a model "
            f"of this name ({type(error).__name__}). Name a folder with the model."
        ) from error


def _files(folder: Path) -> Iterator[Path]:
    for file in folder.rglob("*"):
        parts = file.relative_to(folder).parts
        hidden = any(part.startswith(".") for part in parts)
        if file.suffix in _SUFFIXES and not hidden and parts[0] not in {"onnx", "openvino"}:
            yield file


def missing_extra(option: str) -> StudyError:
    """Return the error for a machine without the libraries."""
    return StudyError(
        f"{option} needs torch and transformers, which are not installed; run: {EXTRA}. With "
        "--base-url URL the vectors of --encoder come from an endpoint, without them."
    )


def sentence_layout(folder: ModelFolder) -> SentenceLayout:
    """Return how the model makes the vector of a text; without such files, the mean of its tokens.

    Raises
    ------
    StudyError
        It does more with the vectors, or another pooling, than is computed here.
    """
    modules = _json(folder.path / "modules.json")
    if modules is None:
        return SentenceLayout(folder.path, "mean", None)
    paths = {str(m["type"]).rpartition(".")[2]: folder.path / str(m["path"]) for m in modules}
    unknown = set(paths) - {"Transformer", "Pooling", "Normalize"}
    if unknown:
        raise _unsupported(folder, f"its modules.json names {', '.join(sorted(unknown))}")
    transformer = paths.get("Transformer", folder.path)
    limits = _json(transformer / "sentence_bert_config.json") or {}
    if limits.get("do_lower_case"):
        raise _unsupported(folder, "it changes texts to lower case outside of its tokenizer")
    if (_json(folder.path / "config_sentence_transformers.json") or {}).get("default_prompt_name"):
        raise _unsupported(folder, "it adds a prompt to each text")
    return SentenceLayout(transformer, _pooling(folder, paths), limits.get("max_seq_length"))


def _pooling(folder: ModelFolder, paths: dict[str, Path]) -> Pooling:
    config = _json(paths["Pooling"] / "config.json") if "Pooling" in paths else None
    if config is None:
        return "mean"
    modes = [name for name, chosen in config.items() if name in _MODES and chosen is True]
    other = [
        name
        for name, chosen in config.items()
        if name.startswith("pooling_mode_") and chosen is True and name not in _MODES
    ]
    if len(modes) == 1 and not other:
        return _MODES[modes[0]]
    named = config.get("pooling_mode")
    if not modes and not other:
        for pooling in _POOLINGS:
            if pooling == named:
                return pooling
    raise _unsupported(folder, f"its pooling is {named or ', '.join(modes + other) or 'not named'}")


def _unsupported(folder: ModelFolder, reason: str) -> StudyError:
    return StudyError(
        f"--encoder {folder.name} can't be computed here: {reason}; known are the pooling "
        f"{', '.join(_POOLINGS)} and normalization. Serve it under /v1/embeddings and name the "
        "endpoint with --base-url URL."
    )


def _json(path: Path) -> Any:
    if not path.is_file():
        return None
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise StudyError(f"{path} is not JSON: {error}.") from None
