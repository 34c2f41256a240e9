"""A tokenizer whose tokens are bytes, with the configuration of a tiny Llama: packages read both without a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, PreTrainedTokenizerFast

END = "<|im_end|>"
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def saved(folder: Path) -> Any:
    """Writes tokenizer and configuration to a folder, as ``save_pretrained`` does, and returns the tokenizer."""
    special = [END, "<|im_start|>"]
    pieces = [*special, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    tokenizer = Tokenizer(models.BPE(vocab={piece: place for place, piece in enumerate(pieces)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=END, pad_token=END, additional_special_tokens=special[1:]
    )
    fast.chat_template = TEMPLATE
    fast.save_pretrained(folder)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = LlamaConfig(vocab_size=len(pieces), max_position_embeddings=4096, eos_token_id=0, pad_token_id=0, **sizes)
    config.architectures = ["LlamaForCausalLM"]
    config.save_pretrained(folder)
    return fast
