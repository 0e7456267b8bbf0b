"""The files of a training run: checkpoints to go on from, and the exported model."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch


@dataclasses.dataclass
class Progress:
    """How far a run has come."""

    tokens: int = 0
    steps: int = 0
    next_index: int = 0
    seconds: float = 0.0


def begin_with(start: Path, out: Path, model: Any) -> Progress:
    """Begin a run with the weights and tokenizer of an exported model.

    Args:
        start: The folder of the exported model.
        out: The folder of the run.
        model: Gets the weights.

    Returns:
        Where that model's training had come to: the stream of conversations goes on
        from there, and tokens are counted from 0.
    """
    from safetensors.torch import load_file

    model.load_state_dict(load_file(start / "model.safetensors"), strict=False)
    model.tie_weights()
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        shutil.copy(start / name, out / name)
    training = json.loads((start / "training.json").read_text(encoding="utf-8"))
    return Progress(steps=training["steps"], next_index=training["next_index"])


def save_checkpoint(out: Path, model: Any, optimizers: Any, progress: Progress) -> None:
    """Write everything that a later run needs; replaces the last one in one step."""
    state = {
        "model": model.state_dict(),
        "optimizers": [optimizer.state_dict() for optimizer in optimizers],
        "progress": dataclasses.asdict(progress),
    }
    partial = out / "checkpoint.pt.partial"
    torch.save(state, partial)
    partial.replace(out / "checkpoint.pt")


def load_checkpoint(out: Path, model: Any, optimizers: Any) -> Progress:
    """Go on where an earlier run stopped, if there was one."""
    file = out / "checkpoint.pt"
    if not file.is_file():
        return Progress()
    state = torch.load(file, weights_only=True)
    model.load_state_dict(state["model"])
    for optimizer, saved in zip(optimizers, state["optimizers"], strict=True):
        optimizer.load_state_dict(saved)
    return Progress(**state["progress"])


def export(out: Path, model: Any, tokenizer: Any, training: Mapping[str, Any]) -> Path:
    """Write the model as vLLM and transformers load it, in bfloat16.

    `training.json` beside it says how it was trained: the model card and the check for
    leakage read it.

    Args:
        out: The folder of the run.
        model: The trained model.
        tokenizer: Its tokenizer.
        training: What `training.json` says.

    Returns:
        The folder of the exported model.
    """
    folder = out / "model"
    copy = deepcopy(model)
    copy.generation_config.do_sample = False
    copy.to(torch.bfloat16).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    (folder / "model.safetensors").chmod(0o644)
    text = json.dumps(dict(training), indent=2) + "\n"
    (folder / "training.json").write_text(text, encoding="utf-8")
    return folder
