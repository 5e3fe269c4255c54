"""Make a tiny Llama with random weights whose tokenizer writes numbers digit by digit.

`python -m tests.judge.vllm_cpu.digit_model FOLDER`. Not random is that one coordinate of the hidden
state, which all tokens write, raises every digit, and another, which the digits write, raises the
end of the turn as much: answers are numbers of one digit or several, none of them certain.
"""

import sys
from pathlib import Path

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from tests.judge.tiny_model.make import SEED, WINDOW, tokenizer

HEAD = 32
"""Size of a head of attention; vLLM knows none below on a processor."""
RAISED = 40.0
"""Of output rows, large enough for digits and the end to stand above all other tokens."""


def main(folder: Path) -> None:
    """Write tokenizer and model into `folder`."""
    words = tokenizer(whole_numbers=False)
    torch.manual_seed(SEED)
    made = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(words),
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            head_dim=HEAD,
            max_position_embeddings=WINDOW,
            initializer_range=0.2,
            bos_token_id=words.bos_token_id,
            eos_token_id=words.eos_token_id,
            tie_word_embeddings=False,
        )
    ).eval()
    digits = words.convert_tokens_to_ids([str(digit) for digit in range(10)])
    embeddings, output = made.get_input_embeddings().weight, made.get_output_embeddings().weight
    with torch.no_grad():
        # As large as all the other coordinates together.
        loud = float(embeddings.std()) * embeddings.shape[1] ** 0.5
        embeddings[:, -2:] = 0
        embeddings[:, -2] = loud
        embeddings[digits, -1] = loud
        for layer in made.model.layers:
            layer.self_attn.o_proj.weight[-2:] = 0
            layer.mlp.down_proj.weight[-2:] = 0
        output[:, -2:] = 0
        output[digits, -2] = RAISED
        output[words.eos_token_id] = 0
        output[words.eos_token_id, -2] = RAISED / 4
        output[words.eos_token_id, -1] = RAISED
    words.save_pretrained(folder)
    made.save_pretrained(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
