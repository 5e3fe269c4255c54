"""Tiny BERT models with random weights and a tokenizer of whole words, made on the spot."""

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    PreTrainedTokenizerFast,
)

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
WORDS = [
    *("paris", "is", "the", "capital", "of", "france", "seine", "a", "river", "in", "it", "was"),
    *("not", "long", "short", "and", ".", "nan"),
]
WINDOW = 12


def tokenizer() -> PreTrainedTokenizerFast:
    """Return a tokenizer of the words, [CLS] and [SEP] around each text, as BERT's."""
    vocabulary = {word: number for number, word in enumerate(SPECIAL + WORDS)}
    whole = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    whole.normalizer = normalizers.Lowercase()
    whole.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    whole.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return PreTrainedTokenizerFast(
        tokenizer_object=whole,
        model_max_length=WINDOW,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
    )


def config(**more: Any) -> BertConfig:
    """Return the configuration of two layers of 16 numbers."""
    return BertConfig(
        vocab_size=len(SPECIAL + WORDS),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=WINDOW,
        pad_token_id=0,
        # Large enough that vectors point in all directions.
        initializer_range=0.5,
        **more,
    )


def encoder(folder: Path, seed: int) -> BertModel:
    """Save an encoder; the word "nan" has the vector NaN."""
    torch.manual_seed(seed)
    model = BertModel(config()).eval()
    with torch.no_grad():
        model.embeddings.word_embeddings.weight[-1] = float("nan")
    model.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return model


def classifier(folder: Path, labels: list[str], seed: int = 0) -> BertForSequenceClassification:
    """Save a classifier of pairs of texts with these labels, in this order."""
    torch.manual_seed(seed)
    model = BertForSequenceClassification(config(id2label=dict(enumerate(labels)))).eval()
    model.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return model
