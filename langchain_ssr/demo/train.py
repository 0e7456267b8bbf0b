"""Trains the demo model: `python -m langchain_ssr.demo.train --out DIR`.

The conversations come from a seeded generator and are never repeated. The learning rate
rises, stays and falls to zero at the end ("warmup-stable-decay"), so that a run can be
stopped, resumed, and made longer: a checkpoint is written every few minutes, and a
later run with the same DIR goes on from it.

Matrices inside the layers are trained with Muon, the rest with AdamW (both torch's).
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import json
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional

from langchain_ssr.demo import drills
from langchain_ssr.demo import tokenizer as demo_tokenizer
from langchain_ssr.demo.batches import IGNORED, Batch, Batches, loader
from langchain_ssr.demo.checkpoints import (
    Progress,
    begin_with,
    export,
    load_checkpoint,
    save_checkpoint,
)
from langchain_ssr.demo.corpus.mixture import conversation
from langchain_ssr.demo.rendering import render

CONTEXT = 4096
VOCAB_SIZE = 2048
_TOKENIZER_SAMPLE = 6000
"""Conversations from which the tokenizer is trained."""
_RESIDUAL_SCALE = 0.2
_ROUND = 256
"""Learned tokens are filled up to a multiple: a CPU compiles for each new shape."""


def learning_rate(done: float, warmup: float = 0.01, decay: float = 0.4) -> float:
    """Return the learning rate as a share of its peak.

    Args:
        done: The share of all tokens that are trained, from 0 to 1.
        warmup: The share of tokens in which the rate rises from 0.
        decay: The share of tokens in which it falls to 0 again.
    """
    return max(0.0, min(1.0, (done + 1e-4) / warmup, (1 - done) / decay))


def make_tokenizer(out: Path, seed: int) -> Any:
    """Load the tokenizer of a run, or train it from the run's first conversations."""
    from transformers import PreTrainedTokenizerFast

    if (out / "tokenizer.json").is_file():
        return PreTrainedTokenizerFast.from_pretrained(out)
    from tokenizers import Tokenizer, models

    plain = demo_tokenizer.wrap(Tokenizer(models.BPE()), CONTEXT)
    texts = (render(plain, conversation(seed, i)) for i in range(_TOKENIZER_SAMPLE))
    core = demo_tokenizer.train(texts, VOCAB_SIZE)
    wrapped = demo_tokenizer.wrap(core, CONTEXT)
    wrapped.save_pretrained(out)
    return wrapped


def make_model(tokenizer: Any, seed: int) -> Any:
    """Build the untrained model: Qwen3's architecture, 5 million parameters."""
    from transformers import Qwen3Config, Qwen3ForCausalLM

    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=256,
        intermediate_size=768,
        num_hidden_layers=6,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=64,
        max_position_embeddings=CONTEXT,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        attn_implementation="sdpa",
    )
    torch.manual_seed(seed)
    model = Qwen3ForCausalLM(config)
    with torch.no_grad():  # what a token is must outweigh what untrained layers add
        model.model.embed_tokens.weight.normal_(0, config.hidden_size**-0.5)
        for layer in model.model.layers:
            layer.self_attn.o_proj.weight.mul_(_RESIDUAL_SCALE)
            layer.mlp.down_proj.weight.mul_(_RESIDUAL_SCALE)
    return model


def make_optimizers(
    model: Any, args: argparse.Namespace
) -> list[torch.optim.Optimizer]:
    """Return Muon for the matrices inside the layers, AdamW for all else."""
    named = list(model.named_parameters())
    matrices = [p for name, p in named if p.ndim == 2 and "embed" not in name]  # noqa: PLR2004
    others = [p for name, p in named if p.ndim != 2 or "embed" in name]  # noqa: PLR2004
    return [
        torch.optim.Muon(
            matrices,
            lr=args.lr,
            weight_decay=0.05,
            adjust_lr_fn="match_rms_adamw",
        ),
        torch.optim.AdamW(others, lr=args.lr, betas=(0.9, 0.98), weight_decay=0.0),
    ]


def loss_of(model: Any, ids: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Return the mean cross-entropy of the tokens to be learned.

    Args:
        model: The model.
        ids: Token ids, shape `[num_rows, row_length]`.
        labels: The same, or `IGNORED`; shape `[num_rows, row_length]`.

    Returns:
        A scalar, in nats per token.
    """
    hidden = model.model(input_ids=ids, use_cache=False).last_hidden_state
    targets = labels[:, 1:].reshape(-1)
    (wanted,) = torch.nonzero(targets != IGNORED, as_tuple=True)
    filling = wanted.new_zeros(-len(wanted) % _ROUND)
    targets = torch.cat([targets[wanted], torch.full_like(filling, IGNORED)])
    wanted = torch.cat([wanted, filling])
    logits = model.lm_head(hidden[:, :-1].flatten(0, 1)[wanted])
    return functional.cross_entropy(logits.float(), targets, ignore_index=IGNORED)


def train_step(
    model: Any, optimizers: list[torch.optim.Optimizer], batch: Batch
) -> float:
    """Take one optimizer step.

    Returns:
        The mean cross-entropy of the learned tokens, in nats.
    """
    with torch.autocast("cpu", torch.bfloat16):
        loss = loss_of(model, batch.ids, batch.labels)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    for optimizer in optimizers:
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return float(loss.detach())


def train(args: argparse.Namespace) -> Path:
    """Train until `args.tokens` tokens were seen.

    Returns:
        The folder of the trained model.
    """
    out: Path = args.out
    out.mkdir(parents=True, exist_ok=True)
    torch.set_flush_denormal(True)  # they slow a CPU down many times
    source = out if args.init is None else args.init
    tokenizer = make_tokenizer(source, args.seed)
    model = make_model(tokenizer, args.seed)
    optimizers = make_optimizers(model, args)
    if args.init is not None and not (out / "checkpoint.pt").exists():
        progress = begin_with(args.init, out, model)
    else:
        progress = load_checkpoint(out, model, optimizers)
    params = sum(parameter.numel() for parameter in model.parameters())
    print(f"{params:,} parameters, {progress.tokens:,} of {args.tokens:,} tokens done")
    data = Batches(
        tokenizer, args.seed, progress.next_index, args.batch_tokens, args.transcribed
    )
    saved = started = time.monotonic()
    before, mean = progress.seconds, math.nan
    stream = iter(loader(data))
    drill = functools.partial(
        drills.drill,
        seed=args.seed,
        first_id=tokenizer.convert_tokens_to_ids(demo_tokenizer.MARKERS[-1]) + 1,
        vocab_size=len(tokenizer),
        tokens=args.batch_tokens,
    )
    while progress.tokens < args.tokens:
        drilling = drills.is_drill(progress.steps)
        batch = drill(progress.steps) if drilling else next(stream)
        rate = learning_rate(progress.tokens / args.tokens, decay=args.decay)
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = args.lr * rate
        value = train_step(model, optimizers, batch)
        now = time.monotonic()
        progress.tokens += batch.ids.numel()
        progress.steps += 1
        progress.next_index = batch.next_index or progress.next_index
        progress.seconds = before + now - started
        mean = value if math.isnan(mean) else 0.95 * mean + 0.05 * value
        if progress.steps % args.log_every == 0:
            _log(out, progress, mean, args.tokens)
        if now - saved > args.save_every:
            save_checkpoint(out, model, optimizers, progress)
            saved = now
    save_checkpoint(out, model, optimizers, progress)
    training = {
        "seed": args.seed,
        "tokens": args.tokens,
        "steps": progress.steps,
        "next_index": progress.next_index,
        "parameters": params,
        "lr": args.lr,
        "decay": args.decay,
        "transcribed": args.transcribed,
    }
    if args.init is not None:
        before = (args.init / "training.json").read_text(encoding="utf-8")
        training["begun_with"] = json.loads(before)
    return export(out, model, tokenizer, training)


def _log(out: Path, progress: Progress, loss: float, tokens: int) -> None:
    speed = progress.tokens / max(progress.seconds, 1e-9)
    left = (tokens - progress.tokens) / speed / 60
    entry = {**dataclasses.asdict(progress), "loss": round(loss, 4)}
    with (out / "log.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")
    print(
        f"step {progress.steps}: {progress.tokens / 1e6:.2f}M tokens, loss {loss:.4f}, "
        f"{speed:.0f} tokens/s, {left:.0f} min left",
        flush=True,
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Train the demo model from the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m langchain_ssr.demo.train", description=__doc__
    )
    add = parser.add_argument
    add("--out", type=Path, required=True, help="folder of the run; resumed from")
    add("--init", type=Path, help="folder of an exported model to begin with")
    add("--tokens", type=float, default=26e6, help="tokens to train on (default 26e6)")
    add("--seed", type=int, default=1, help="of corpus and weights (default 1)")
    add("--lr", type=float, default=5e-3, help="peak learning rate (default 5e-3)")
    add("--decay", type=float, default=0.4, help="share with a falling rate (0.4)")
    add("--transcribed", type=float, default=0.3, help="share of transcriptions (0.3)")
    add("--batch-tokens", type=int, default=4096, help="of a step (default 4096)")
    add("--log-every", type=int, default=20, help="steps between log lines")
    add("--save-every", type=float, default=300, help="seconds between checkpoints")
    args = parser.parse_args(argv)
    args.tokens = int(args.tokens)
    print(f"The model is in {train(args)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
