"""Tiny random models of real architectures, made in a second, for exact comparisons."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from tokenizers.pre_tokenizers import ByteLevel

CHATML_TOKENS = (
    "<|im_start|>",
    "<|im_end|>",
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    "<tool_response>",
    "</tool_response>",
)
GEMMA_TOKENS = (
    "<pad>",
    "<eos>",
    "<bos>",
    "<|turn>",
    "<turn|>",
    "<|channel>",
    "<channel|>",
    "<|tool_call>",
    "<tool_call|>",
    "<|tool_response>",
    "<tool_response|>",
    '<|"|>',
    "<|think|>",
)
GEMMA_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "{{ '<|turn>' + ('model' if message.role == 'assistant' else message.role) + '\n'"
    " + message.content + '<turn|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|turn>model\n' }}"
    "{% if enable_thinking %}{{ '<|channel>thought\n' }}{% endif %}{% endif %}"
)
SMALL: dict[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 4096,
    "head_dim": 32,
}
SHAPES = ("qwen3", "llama", "gemma4", "qwen2", "mistral")
WINDOW = 64
"""Tokens that sliding-window layers look back: fewer than every answer has."""
ADAPTER_RANK = 8

IM_END, THINK_END, TOOL_CALL, TEXT = 1, 3, 4, 70
"""Token ids of the ChatML shapes: the end of the answer, the end of the reasoning, a
tool call, and the first of the letters "_`abcd..."."""
GEMMA_END, CHANNEL_END, GEMMA_TOOL_CALL, GEMMA_TEXT = 4, 6, 7, 75
"""The same of the Gemma shape."""


def make(folder: Path, shape: str, seed: int = 0) -> Path:
    """Write a model of `shape` to `folder`, unless it is there; return the folder."""
    if (folder / "config.json").is_file():
        return folder
    special = GEMMA_TOKENS if shape == "gemma4" else CHATML_TOKENS
    tokenizer = _tokenizer(special)
    config = _config(shape, len(tokenizer), tokenizer)
    torch.manual_seed(seed)
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    with torch.no_grad():  # sharp logits, and no token that ends reasoning or answer
        for name, weight in model.named_parameters():
            if weight.dim() > 1 and "embed" in name:
                weight.normal_(0, 1)
    model.generation_config.do_sample = False
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)
    return folder


def _tokenizer(special: tuple[str, ...]) -> transformers.PreTrainedTokenizerFast:
    """One token for each byte and for each special string."""
    alphabet = sorted(ByteLevel.alphabet())
    vocab = {token: i for i, token in enumerate([*special, *alphabet])}
    core = Tokenizer(models.BPE(vocab=vocab, merges=[]))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    gemma = special is GEMMA_TOKENS
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=core,
        bos_token="<bos>" if gemma else None,
        eos_token="<turn|>" if gemma else "<|im_end|>",
        pad_token="<pad>" if gemma else "<|im_end|>",
    )
    tokenizer.add_tokens(list(special), special_tokens=False)
    chatml = resources.files("langchain_ssr") / "templates" / "chatml.jinja"
    tokenizer.chat_template = GEMMA_TEMPLATE if gemma else chatml.read_text()
    return tokenizer


def _config(
    shape: str, vocab_size: int, tokenizer: transformers.PreTrainedTokenizerFast
) -> transformers.PretrainedConfig:
    common = {
        **SMALL,
        "vocab_size": vocab_size,
        "eos_token_id": tokenizer.eos_token_id,
        "bos_token_id": tokenizer.bos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
        "tie_word_embeddings": True,
    }
    if shape == "qwen3":
        return transformers.Qwen3Config(**common)
    if shape == "llama":
        return transformers.LlamaConfig(**common)
    if shape == "gemma4":
        return transformers.Gemma4TextConfig(
            **common,
            sliding_window=WINDOW,
            global_head_dim=32,
            vocab_size_per_layer_input=vocab_size,
            hidden_size_per_layer_input=16,
            layer_types=["sliding_attention", "full_attention"],
        )
    if shape == "qwen2":  # heads of 32 from the hidden size: it has no `head_dim`
        heads = {"num_attention_heads": 2, "num_key_value_heads": 1}
        return transformers.Qwen2Config(**common | heads)
    if shape == "mistral":  # as its first version: all layers have the window
        return transformers.MistralConfig(**common, sliding_window=WINDOW)
    raise ValueError(shape)


def make_adapter(folder: Path, model: Path, seed: int = 1) -> Path:
    """Write a random LoRA adapter for a model of `make`, in PEFT's file format."""
    if (folder / "adapter_config.json").is_file():
        return folder
    config = json.loads((model / "config.json").read_text())
    size = SMALL["hidden_size"]
    heads = config["num_attention_heads"] * SMALL["head_dim"]
    names = {"q_proj": (size, heads), "o_proj": (heads, size)}
    generator = torch.Generator().manual_seed(seed)
    tensors: dict[str, torch.Tensor] = {}
    for layer in range(config["num_hidden_layers"]):
        for name, (num_in, num_out) in names.items():
            prefix = f"base_model.model.model.layers.{layer}.self_attn.{name}.lora_"
            shapes = {"A": (ADAPTER_RANK, num_in), "B": (num_out, ADAPTER_RANK)}
            for part, shape in shapes.items():
                weight = torch.randn(shape, generator=generator) / 4
                tensors[f"{prefix}{part}.weight"] = weight
    folder.mkdir(parents=True, exist_ok=True)
    save_file(tensors, folder / "adapter_model.safetensors")
    settings = {
        "peft_type": "LORA",
        "r": ADAPTER_RANK,
        "lora_alpha": 2 * ADAPTER_RANK,
        "target_modules": list(names),
        "bias": "none",
        "task_type": "CAUSAL_LM",
    }
    (folder / "adapter_config.json").write_text(json.dumps(settings))
    return folder


def corrupt(folder: Path, copy: Path) -> Path:
    """Copy a model with its weights cut short."""
    copy.mkdir()
    for file in folder.iterdir():
        data = file.read_bytes()
        (copy / file.name).write_bytes(
            data[: len(data) // 2] if file.suffix == ".safetensors" else data
        )
    json.loads((copy / "config.json").read_text())
    return copy
