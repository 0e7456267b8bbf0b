"""The drills ask for what can be known, and for nothing else."""

import itertools
import random

import pytest

torch = pytest.importorskip("torch")

from langchain_ssr.demo.batches import IGNORED  # noqa: E402
from langchain_ssr.demo.drills import (  # noqa: E402
    STEPS,
    Stage,
    drill,
    is_drill,
    repeated_items,
)

VOCAB_SIZE, FIRST_ID = 600, 40


def test_the_training_begins_with_drills_and_comes_back_to_them():
    assert all(is_drill(step) for step in range(STEPS))
    later = sum(map(is_drill, range(STEPS, STEPS + 1000)))
    assert later == 100


@pytest.mark.parametrize("step", [0, 300, 450, 600, 1500, 2250, STEPS, STEPS + 10])
def test_drills_have_the_size_of_a_step_and_use_no_special_token(step):
    batch = drill(step, seed=3, first_id=FIRST_ID, vocab_size=VOCAB_SIZE, tokens=1024)
    assert batch.ids.shape == batch.labels.shape
    assert batch.ids.numel() == 1024
    assert batch.ids.min() >= FIRST_ID
    assert batch.ids.max() < VOCAB_SIZE
    learned = batch.labels != IGNORED
    assert (batch.labels == batch.ids)[learned].all()
    assert 0.1 < learned.float().mean() < 1


def test_the_same_step_gives_the_same_drill():
    first, again, other = (
        drill(step, seed=3, first_id=FIRST_ID, vocab_size=VOCAB_SIZE, tokens=512)
        for step in (1700, 1700, 1701)
    )
    assert torch.equal(first.ids, again.ids)
    assert not torch.equal(first.ids, other.ids)


def test_what_is_to_be_learned_can_be_known():
    stage = Stage(0, 400, 64, 3, 4, 3)
    for seed in range(50):
        row, learned = repeated_items(
            random.Random(seed), stage, range(FIRST_ID, VOCAB_SIZE)
        )
        assert len(row) == len(learned) == stage.length
        assert True in learned
        for place, known in enumerate(learned):
            assert not known or row[place] in row[:place]


def test_items_keep_their_order_between_other_signs():
    stage = Stage(0, 200, 64, 1, 1, 1)
    for seed in range(20):
        row, learned = repeated_items(
            random.Random(seed), stage, range(FIRST_ID, VOCAB_SIZE)
        )
        learned_ids = [i for i, known in zip(row, learned, strict=True) if known]
        # Two tokens to begin with, then a sign before each item; then the same again.
        once = row[3 : learned.index(True) - 3 : 2]
        signs = {i for i in learned_ids if i not in once}
        items = [i for i in learned_ids if i not in signs]
        for place, item in enumerate(items):
            known = [once.index(i) for i in items[: place + 1]]
            assert item in once
            assert known[0] == 0
            assert all(
                later - earlier == 1 or later == 0
                for earlier, later in itertools.pairwise(known)
            )
