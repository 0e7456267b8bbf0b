"""Drills in copying: the training begins with them, and they return now and then.

To copy a name from a request, attention has to find the token after an earlier
occurrence of the present one: an induction head (Olsson et al., "In-context Learning
and Induction Heads", 2022). Conversations alone form one late, for most of their tokens
can be learned without. On sequences that repeat themselves it forms within 200 steps,
first over few different tokens, then over all of them. Later drills keep rare tokens
alive: conversations alone teach that most never follow, and then they are not copied.

The second kind repeats its items, but between other signs: a table's rows become JSON.
Then the next item is not what follows the same signs, but what followed the item before
them. Conversations alone did not teach that in 50 million tokens. Here it formed within
150 steps for one sign between items of one token, and within some thousand more for
several of each, in a model that could copy already. The stages below follow what was
seen there; no training from random weights ran through them yet.
"""

from __future__ import annotations

import dataclasses
import random

import torch

from langchain_ssr.demo.batches import IGNORED, Batch

_EVERY = 10
"""After the steps at the beginning, each of so many is a drill."""
_COPY_STEPS = 500
_COPYING = ((250, 64, 64), (320, 256, 64), (400, 100_000, 128))
"""Until which step, how many different tokens, and how long the sequences are."""
_LAST_COPYING = (100_000, 512)


@dataclasses.dataclass(frozen=True)
class Stage:
    """How hard a drill in repeating items is.

    Attributes:
        until: The optimizer step, from 0, that ends the stage.
        length: Tokens of a sequence.
        alphabet: Different tokens of its items.
        item: The most tokens of an item.
        sign: The most tokens between two items.
        columns: After how many items, at most, the signs between them come again.
    """

    until: float
    length: int
    alphabet: int
    item: int
    sign: int
    columns: int


_STAGES = (
    Stage(1000, 64, 48, 1, 1, 1),
    Stage(1300, 64, 48, 1, 2, 1),
    Stage(1400, 128, 64, 1, 2, 1),
    Stage(1600, 128, 96, 2, 2, 1),
    Stage(1800, 128, 128, 2, 3, 2),
    Stage(2000, 256, 256, 3, 4, 3),
    Stage(2200, 256, 600, 3, 4, 4),
    Stage(float("inf"), 512, 1500, 3, 5, 5),
)
STEPS = 2300
"""Optimizer steps at the beginning that are drills."""
_FEWEST, _MOST = 3, 24
"""Items of a sequence."""


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
        A batch in which everything that was there before in the row is to be learned.
    """
    rng = random.Random(f"{seed}/drill/{step}")
    ids = range(first_id, vocab_size)
    if step < _COPY_STEPS or (step >= STEPS and step // _EVERY % 2):
        rows = _copies(rng, step, ids, tokens)
    else:
        stage = next(stage for stage in _STAGES if step < stage.until)
        number = tokens // stage.length
        rows = [repeated_items(rng, stage, ids) for _ in range(number)]
    all_ids = torch.tensor([ids for ids, _ in rows])
    learned = torch.tensor([learned for _, learned in rows])
    return Batch(all_ids, torch.where(learned, all_ids, IGNORED), 0)


def _copies(
    rng: random.Random, step: int, ids: range, tokens: int
) -> list[tuple[list[int], list[bool]]]:
    stages = ((a, n) for until, a, n in _COPYING if step < until)
    alphabet, length = next(stages, _LAST_COPYING)
    rows = []
    for _ in range(tokens // length):
        period = rng.randint(length // 8, length // 2)
        once = rng.choices(ids[:alphabet], k=period)
        row = (once * (length // period + 1))[:length]
        rows.append((row, [place >= period for place in range(length)]))
    return rows


def repeated_items(
    rng: random.Random, stage: Stage, ids: range
) -> tuple[list[int], list[bool]]:
    """Make one sequence: the same items again and again, each time between new signs.

    Args:
        rng: The choices.
        stage: How hard it is.
        ids: The tokens to choose from.

    Returns:
        Token ids and whether each is to be learned, `stage.length` of both. Learned are
        items from their second time on, and the signs between them once they are known.
    """
    num_signs = max(8, stage.alphabet // 4)
    chosen = rng.sample(ids, min(stage.alphabet + num_signs, len(ids)))
    signs, letters = chosen[:num_signs], chosen[num_signs:]
    items: dict[int, list[int]] = {}
    number = rng.randint(_FEWEST, _MOST)
    while len(items) < number:  # no two begin alike
        item = rng.choices(letters, k=rng.randint(1, stage.item))
        items.setdefault(item[0], item)
    row: list[int] = []
    learned: list[bool] = []
    known = False
    while len(row) < stage.length:
        between = [
            rng.choices(signs, k=rng.randint(1, stage.sign))
            for _ in range(rng.randint(1, stage.columns))
        ]
        row += rng.choices(letters, k=2)
        learned += [False, False]
        for place, item in enumerate(items.values()):
            sign = between[place % len(between)]
            row += sign + item
            learned += [known and place >= len(between)] * len(sign)
            learned += [known] * len(item)
        known = True
    return row[: stage.length], learned[: stage.length]
