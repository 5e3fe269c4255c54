"""Make a tiny Llama with random weights that answers every prompt with a score.

`python -m tests.judge.tiny_model.make FOLDER [HEAD]`, in an environment with requirements.txt. Two
builds are alike, file by file.

Two things are not random, and both are in the weights, so that whatever runs the model sees them:
the output rows of the numbers 0 to 100 are ten times as large as the others, so that an answer
begins with one of them; and one coordinate of the hidden state says "a number was just written",
which only the row of the end of a turn reads, so that the answer ends there.
"""

import json
import sys
from pathlib import Path

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

ROOT = Path(__file__).resolve().parents[3]
SEED = 20128
WINDOW = 8192
WORDS = 4000
LOUDER = 10.0

BEGIN, END_OF_TURN = "<|begin_of_text|>", "<|eot_id|>"
HEAD, HEAD_END = "<|start_header_id|>", "<|end_header_id|>"
# The layout of Llama 3: without a system message, and with nothing that changes from day to day.
CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    f"{HEAD}{{{{ message['role'] }}}}{HEAD_END}\n\n{{{{ message['content'] | trim }}}}{END_OF_TURN}"
    f"{{% endfor %}}{{% if add_generation_prompt %}}{HEAD}assistant{HEAD_END}\n\n{{% endif %}}"
)
# Where Llama 3 cuts text before it looks for tokens: numbers in threes, words with their space.
_CUTS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
    r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def texts() -> list[str]:
    """Return what the tokenizer learns from: the example study, and the prompts.

    Both hardly ever change, and with them the model's answers.
    """
    lines = (ROOT / "data/example/responses.jsonl").read_text(encoding="utf-8").splitlines()
    collected = []
    for line in lines:
        row = json.loads(line)
        collected += [row["query"], row["response"], *row["passages"], *row["references"]]
    prompts = sorted((ROOT / "judge/prompts/versions/ccrs-paper-v1").glob("*.txt"))
    return collected + [prompt.read_text(encoding="utf-8") for prompt in prompts]


def tokenizer(*, whole_numbers: bool = True) -> PreTrainedTokenizerFast:
    """Return a byte-level tokenizer in which each number from 0 to 999 is one token.

    Without `whole_numbers` each digit is one, as with Qwen.
    """
    learned = Tokenizer(models.BPE())
    cuts = _CUTS if whole_numbers else _CUTS.replace(r"\p{N}{1,3}", r"\p{N}")
    learned.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(cuts), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=WORDS,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    learned.train_from_iterator(texts(), trainer)
    written = json.loads(learned.to_str())
    vocabulary = written["model"]["vocab"]
    for number in range(1000 if whole_numbers else 0):
        vocabulary.setdefault(str(number), len(vocabulary))
    # As in Llama 3: what is in the vocabulary needs no merges.
    written["model"]["ignore_merges"] = True
    whole = Tokenizer.from_str(json.dumps(written))
    whole.decoder = decoders.ByteLevel()
    whole.post_processor = processors.ByteLevel(trim_offsets=False)
    made = PreTrainedTokenizerFast(
        tokenizer_object=whole,
        bos_token=BEGIN,
        eos_token=END_OF_TURN,
        additional_special_tokens=[HEAD, HEAD_END],
        model_max_length=WINDOW,
        clean_up_tokenization_spaces=False,
    )
    made.chat_template = CHAT_TEMPLATE
    return made


def model(words: PreTrainedTokenizerFast, head: int | None = None) -> LlamaForCausalLM:
    """Return the model; see this file's first lines for what is not random in it.

    Its attention has heads of 16, or of `head`: some engines know none below 32.
    """
    torch.manual_seed(SEED)
    made = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(words),
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            head_dim=head,
            max_position_embeddings=WINDOW,
            # Large enough that attention picks some words out: the answer depends on the prompt.
            initializer_range=0.35,
            bos_token_id=words.bos_token_id,
            eos_token_id=words.eos_token_id,
            tie_word_embeddings=False,
        )
    ).eval()
    numbers = words.convert_tokens_to_ids([str(number) for number in range(101)])
    embeddings, output = made.get_input_embeddings().weight, made.get_output_embeddings().weight
    with torch.no_grad():
        output[numbers] *= LOUDER
        # The last coordinate is written by the embeddings of the numbers alone ...
        embeddings[:, -1] = 0
        embeddings[numbers, -1] = embeddings.std() * embeddings.shape[1] ** 0.5
        for layer in made.model.layers:
            layer.self_attn.o_proj.weight[-1] = 0
            layer.mlp.down_proj.weight[-1] = 0
        # ... and read by the end of a turn alone, louder than anything else.
        output[:, -1] = 0
        output[words.eos_token_id] = 0
        output[words.eos_token_id, -1] = 1000 * LOUDER * output.std()
    return made


def main(folder: Path, head: int | None = None) -> None:
    """Write tokenizer and model into `folder`."""
    words = tokenizer()
    words.save_pretrained(folder)
    model(words, head).save_pretrained(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
