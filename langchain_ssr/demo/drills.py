"""Drills in copying: the training begins with them, and they return now and then.

To copy a name from a request, attention has to find the token after an earlier
occurrence of the present one: an induction head (Olsson et al., "In-context Learning
and Induction Heads", 2022). Conversations alone form one late, for most of their tokens
can be learned without. On sequences that repeat themselves it forms within 200 steps,
first over few different tokens, then over all of them. Later drills keep rare tokens
alive: conversations alone teach that most never follow, and then they are not copied.
"""

from __future__ import annotations

import random

import torch

from langchain_ssr.demo.batches import IGNORED, Batch

STEPS = 500
"""Optimizer steps at the beginning that are drills."""
_EVERY = 20
"""After that, each of so many steps is one."""
_STAGES = ((250, 64, 64), (320, 256, 64), (400, 100_000, 128), (STEPS, 100_000, 512))
"""Until which step, how many different tokens, and how long the sequences are."""


def is_drill(step: int) -> bool:
    """Say whether an optimizer step, counted from 0, is a drill."""
    return step < STEPS or step % _EVERY == 0


def drill(step: int, seed: int, first_id: int, vocab_size: int, tokens: int) -> Batch:
    """Make one batch of sequences that repeat themselves.

    Args:
        step: The optimizer step, from 0.
        seed: Of the run.
        first_id: The first token id that is no special token.
        vocab_size: Number of tokens.
        tokens: Tokens of the batch.

    Returns:
        A batch in which everything but the first period of each row is to be learned.
    """
    rng = random.Random(f"{seed}/drill/{step}")
    stages = ((a, n) for until, a, n in _STAGES if step < until)
    alphabet, length = next(stages, _STAGES[-1][1:])
    last_id = min(vocab_size, first_id + alphabet)
    ids = torch.empty((tokens // length, length), dtype=torch.long)
    labels = torch.full_like(ids, IGNORED)
    for row in range(len(ids)):
        period = rng.randint(length // 8, length // 2)
        once = [rng.randrange(first_id, last_id) for _ in range(period)]
        ids[row] = torch.tensor((once * (length // period + 1))[:length])
        labels[row, period:] = ids[row, period:]
    return Batch(ids, labels, 0)
