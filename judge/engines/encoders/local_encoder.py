"""An encoder on this machine: vectors of texts, and of their tokens."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from judge.engines.encoders.model_folder import model_folder, sentence_layout
from judge.engines.encoders.transformer_model import TransformerModel, short_name
from judge.metrics.bert_score import TokenVectors
from judge.metrics.embedding import NOT_FINITE, Embedding
from judge.metrics.metric import MissingValue


class LocalEncoder:
    """Vectors of texts as sentence-transformers makes them, without their normalization.

    Parameters
    ----------
    name
        A folder, or a name on the Hugging Face hub.

    Raises
    ------
    StudyError
        It is not a model, can't be loaded, or makes vectors in a way that is not computed here.
    """

    def __init__(self, name: str) -> None:
        folder = model_folder(name, "--encoder")
        layout = sentence_layout(folder)
        self._pooling = layout.pooling
        self._loaded = TransformerModel(
            folder, "--encoder", "AutoModel", layout.transformer, layout.window
        )

    @cached_property
    def identity(self) -> str:
        """Checksum of the weights, pooling, window, versions of the libraries."""
        return f"pooling:{self._pooling} {self._loaded.described}"

    @cached_property
    def name(self) -> str:
        """Name of the folder and the beginning of the identity's hash."""
        return short_name(self._loaded.folder.name, self.identity)

    @property
    def layers(self) -> int:
        """Number of layers of the transformer."""
        return int(self._loaded.model.config.num_hidden_layers)

    def embed(self, texts: Sequence[str]) -> list[Embedding | MissingValue]:
        """Return the vector of each text; a reason where the model returns no finite number."""
        results: list[Embedding | MissingValue] = []
        for batch, cut in self._loaded.batches(texts):
            with self._loaded.torch.inference_mode():
                hidden = self._loaded.model(**batch).last_hidden_state.double()
            mask = batch["attention_mask"]
            if self._pooling == "mean":
                weights = mask.unsqueeze(-1).double()
                pooled = (hidden * weights).sum(1) / weights.sum(1)
            elif self._pooling == "cls":
                pooled = hidden[:, 0]
            else:
                rows = self._loaded.torch.arange(len(hidden), device=hidden.device)
                pooled = hidden[rows, mask.sum(1) - 1]
            for vector, truncated in zip(pooled.cpu().numpy(), cut, strict=True):
                finite = bool(np.isfinite(vector).all() and vector.any())
                results.append(Embedding(vector, truncated) if finite else MissingValue(NOT_FINITE))
        return results

    def token_vectors(self, text: str, layer: int) -> TokenVectors:
        """Return the vectors of the tokens of a text after a layer; 0: before the first."""
        [(batch, [truncated])] = self._loaded.batches([text])
        with self._loaded.torch.inference_mode():
            states = self._loaded.model(**batch, output_hidden_states=True).hidden_states
        tokens = batch["input_ids"][0].cpu().numpy()
        tokenizer = self._loaded.tokenizer
        marks = [m for m in (tokenizer.cls_token_id, tokenizer.sep_token_id) if m is not None]
        vectors = states[layer][0].double().cpu().numpy()
        return TokenVectors(vectors, ~np.isin(tokens, marks), truncated)
