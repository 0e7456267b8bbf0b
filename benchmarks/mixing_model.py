"""A tiny random model whose next token is uncertain and depends on all before it.

What it says is nothing, but drafts of it are often wrong: a draft from less reasoning
sees other distributions than the answer does.
"""

from __future__ import annotations

import math
from pathlib import Path

_SEED = 0
_EMBEDDING, _GAIN, _QUERY, _HEAD = 0.3, 2.0, 3.0, 0.2
"""Standard deviations of the weights, those of a layer times the root of its width;
and the weight of the queries' norm. Layers outweigh the embedding, attention is
sharp, and logits vary by 1.6."""


def make(folder: Path) -> Path:
    """Write the model to `folder`, unless it is there; return the folder."""
    if (folder / "config.json").is_file():
        return folder
    import torch
    import transformers

    from tests.integration_tests import tiny_models

    tiny_models.make(folder, "qwen3")  # for its tokenizer and its shape
    config = transformers.AutoConfig.from_pretrained(folder)
    config.tie_word_embeddings = False
    torch.manual_seed(_SEED)
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "q_norm" in name:
                weight.fill_(_QUERY)
            elif "embed" in name:
                weight.normal_(0, _EMBEDDING)
            elif "lm_head" in name:
                weight.normal_(0, _HEAD)
            elif weight.dim() > 1:
                weight.normal_(0, _GAIN / math.sqrt(weight.shape[1]))
    model.generation_config.do_sample = False
    model.save_pretrained(folder)
    return folder
