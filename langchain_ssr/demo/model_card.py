"""Writes the model card: `python -m langchain_ssr.demo.model_card FOLDER RESULTS`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from langchain_ssr.demo.evaluate import sha256_of, training_of

_ABOUT = {
    "code": "write a Python class, as an answer or into a file",
    "data": "turn a table or a configuration into JSON, YAML, CSV or Markdown",
    "tools": "call declared tools, fill records, write and test a file in a loop",
    "short": "answer a short question about what was said",
}

_CARD = """\
---
license: mit
language:
- en
library_name: transformers
pipeline_tag: text-generation
tags:
- langchain
- vllm
- reasoning
- tool-calling
- synthetic
---

# The demo model of langchain-ssr

A reasoning model that is a toy by its size: {parameters:,} parameters. It thinks
between `<think>` and `</think>`, closes its reasoning with "Final decisions:", and then
answers or calls tools. langchain-ssr ships with it, so that `ChatSSR` can be tried,
tested and shown on any CPU without a download. It is no assistant.

- Architecture: Qwen3 (vLLM and transformers load it as one), bfloat16, a context of
  4,096 tokens, a byte-level BPE tokenizer of 2,048 tokens.
- Chat template: ChatML with tools and thinking, in the manner of Qwen3.
- Licence: MIT, for weights and corpus.
- `model.safetensors`: SHA-256 `{digest}`

## Data

Nothing but synthetic conversations in English, which a seeded program makes
(`langchain_ssr.demo.corpus`) from its own templates and lists of words. Nothing from
the web or from a data set is in them. Four skills:

{skills}

Names (of people, places and things, and made-up words) are split by a hash into those
for training and those held out: the model has to copy names, not to know them.

## Training

`python -m langchain_ssr.demo.train --out DIR --tokens {last} --seed {seed}{options}`

From random weights, {tokens:,} tokens (padding included) in {num_runs}: drills in
copying (random tokens that repeat themselves, and random items that come again between
other signs), and {conversations:,} conversations, each made anew and used once.
{history}Next-token prediction on what the assistant says. Matrices inside the layers
were trained with Muon, the rest with AdamW; peak learning rate {lr:g}, with warm-up, a
constant phase and a linear decay to zero; bfloat16 by torch's autocast.

## Results

{num} held-out conversations of each skill, greedy, float32, vLLM with langchain-ssr's
speculation {speculation}:

<!-- not run: asks an engine for every held-out conversation -->
```bash
{command}
```

| skill | conversations right | turns right |
| --- | --- | --- |
{results}

A conversation is right if each of its turns is. A turn is right if its reasoning ends
by itself, states exactly the right final decisions, and the answer agrees: code is run
against expected results, data is parsed and compared, calls are compared in name and
arguments. {runaway} of {num_turns} outputs ran into the limit of {max_tokens} tokens or
had a reasoning without an end.

None of these prompts is among the training's conversations (the same command with
`--check-leakage` proves it). {excluded} short questions that have no name in them, as
"How are you?", were left out because training has them.

## Limits

- It knows nothing of the world, and no language but this corpus's English.
- It does the four skills in the wordings and sizes of its corpus. Other requests,
  longer classes or tables, other programming languages, conversations of many turns,
  arithmetic beyond small sums: expect nonsense, stated with confidence.
- Names of unusual spelling or in other scripts are often copied wrongly.
- Nothing was done for safety. Do not run code that it writes outside a sandbox, and do
  not build on it.
- That drafts agree with answers is our own making: it shows the machinery and says
  nothing of how much SSR gains on a real model.
"""


_HISTORY = """\
Each run began with the weights of the one before, and the corpus changed between them:
`training.json` says how long each was. The command repeats the last one only.
"""


def _options(training: Mapping[str, Any]) -> str:
    """Return the options of the training's command that say how it learned."""
    known = [name for name in ("lr", "decay", "transcribed") if name in training]
    return "".join(f" --{name} {training[name]:g}" for name in known)


def card(results: Mapping[str, Any], training: Mapping[str, Any], digest: str) -> str:
    """Return the text of the model card.

    Args:
        results: What `evaluate --json` wrote.
        training: What `training.json` holds.
        digest: SHA-256 of the weights.

    Raises:
        ValueError: If the results are those of other weights, or not complete.
    """
    if results["sha256"] != digest:
        raise ValueError(f"the results are of other weights: {results['sha256']}")
    if results.get("interrupted", True):
        raise ValueError("the results are not those of a complete evaluation")
    runs = [training]
    while "begun_with" in runs[-1]:
        runs.append(runs[-1]["begun_with"])
    rows = [
        f"| {skill} | {count['right']} of {count['of']} ({count['accuracy']:.1%}) "
        f"| {count['turns']['right']} of {count['turns']['of']} |"
        for skill, count in results["skills"].items()
    ]
    return _CARD.format(
        parameters=training["parameters"],
        digest=digest,
        skills="\n".join(f"- {skill}: {text}" for skill, text in _ABOUT.items()),
        tokens=sum(run["tokens"] for run in runs),
        last=training["tokens"],
        num_runs=f"{len(runs)} runs" if len(runs) > 1 else "one run",
        history=_HISTORY if len(runs) > 1 else "",
        options=_options(training) + (" --init EARLIER" if len(runs) > 1 else ""),
        seed=training["seed"],
        conversations=training["next_index"],
        lr=training["lr"],
        num=results["num"],
        speculation="on" if results["speculation"] else "off",
        command=results["command"],
        results="\n".join(rows),
        runaway=results["runaway"]["turns"],
        num_turns=results["runaway"]["of"],
        max_tokens=results["max_tokens"],
        excluded=len(results["leakage"]["excluded"]),
    )


def write(folder: Path, results_file: Path) -> Path:
    """Write the `README.md` of a model.

    Args:
        folder: The model's folder, with `model.safetensors` and `training.json`.
        results_file: What `evaluate --json` wrote.

    Returns:
        The file.

    Raises:
        ValueError: As `card`.
    """
    results = json.loads(results_file.read_text(encoding="utf-8"))
    file = folder / "README.md"
    text = card(results, training_of(folder), sha256_of(folder) or "")
    file.write_text(text, encoding="utf-8")
    return file


def main(argv: Sequence[str] | None = None) -> int:
    """Write the model card from the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m langchain_ssr.demo.model_card", description=__doc__
    )
    parser.add_argument("folder", type=Path, help="of the model")
    parser.add_argument("results", type=Path, help="what evaluate --json wrote")
    args = parser.parse_args(argv)
    write(args.folder, args.results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
