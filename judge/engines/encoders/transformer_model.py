"""A transformer on this machine, loaded with transformers; imported where it is asked for."""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from judge.engines.encoders.model_folder import ModelFolder, missing_extra
from study.errors import StudyError

# Texts at a time. Their lengths are similar, and padded places are masked.
_BATCH = 16
# A tokenizer without a limit reports a number of this size or more.
_NO_LIMIT = 10**9


class TransformerModel:
    """A transformer with its tokenizer, in 32-bit floating point, on the GPU if there is one.

    Parameters
    ----------
    folder
        Its folder.
    option
        The option that named it, for messages.
    head
        Class of transformers that loads it, such as AutoModel.
    path
        Folder of the transformer, where it is inside of the model's.
    window
        Most tokens of a text that the folder states outside of the transformer's files.

    Raises
    ------
    StudyError
        torch or transformers is not installed, or the model can't be loaded whole.
    """

    def __init__(
        self,
        folder: ModelFolder,
        option: str,
        head: str,
        path: Path | None = None,
        window: int | None = None,
    ) -> None:
        try:
            import torch
            import transformers
        except ImportError:
            raise missing_extra(option) from None
        transformers.utils.logging.set_verbosity_error()
        transformers.utils.logging.disable_progress_bar()
        path = path or folder.path
        try:
            self.tokenizer: Any = transformers.AutoTokenizer.from_pretrained(path)
            self.model, loading = getattr(transformers, head).from_pretrained(
                path, dtype=torch.float32, output_loading_info=True
            )
        except Exception as error:
            # Configurations and weights of any kind: each fault has its own type.
            words = " ".join(str(error).split())[:300]
            raise StudyError(
                f"{option} {folder.name} can't be loaded ({type(error).__name__}: {words}). Name a "
                "folder with a model and its tokenizer."
            ) from error
        # The layer on top of [CLS] is not used here, and often not saved.
        absent = sorted(k for k in loading["missing_keys"] if not k.startswith("pooler."))
        if absent:
            raise StudyError(
                f"{option} {folder.name} has no weights for {', '.join(absent[:3])}, which would "
                f"be random: it is not a model for {option}. Name one that was trained for it."
            )
        self.tokenizer.padding_side = "right"
        self.tokenizer.pad_token = self.tokenizer.pad_token or self.tokenizer.eos_token
        self.torch = torch
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.model.eval().to(self.device)
        self.window = _window(self.tokenizer, self.model.config, window)
        self.folder = folder
        self.libraries = f"transformers:{transformers.__version__} torch:{torch.__version__}"

    @property
    def described(self) -> str:
        """What decides the results: weights, window and libraries."""
        return f"sha256:{self.folder.sha256} window:{self.window} {self.libraries}"

    def batches(self, *columns: Sequence[str]) -> Iterator[tuple[Any, list[bool]]]:
        """Yield what the model is sent for some texts, and which of them were cut.

        Parameters
        ----------
        columns
            The texts, or for pairs the first and the second texts.
        """
        for start in range(0, len(columns[0]), _BATCH):
            texts = [list(column[start : start + _BATCH]) for column in columns]
            whole = self.tokenizer(*texts, verbose=False)["input_ids"]
            cut = [self.window is not None and len(tokens) > self.window for tokens in whole]
            limit = {"truncation": True, "max_length": self.window} if self.window else {}
            batch = self.tokenizer(*texts, padding=True, return_tensors="pt", **limit)
            yield batch.to(self.device), cut


def short_name(name: str, identity: str) -> str:
    """Return a model's name with the beginning of the SHA-256 of its identity."""
    return f"{name}@{sha256(identity.encode()).hexdigest()[:8]}"


def _window(tokenizer: Any, config: Any, stated: int | None) -> int | None:
    """Return the most tokens that the model reads; None if there is no limit."""
    limits = [stated] if stated else []
    if tokenizer.model_max_length < _NO_LIMIT:
        limits.append(int(tokenizer.model_max_length))
    positions = getattr(config, "max_position_embeddings", None)
    if positions:
        # These number positions from the padding token's number on.
        after_padding = any(
            name in str(config.model_type) for name in ("roberta", "camembert", "mpnet")
        )
        limits.append(positions - (config.pad_token_id + 1 if after_padding else 0))
    return min(limits, default=None)
