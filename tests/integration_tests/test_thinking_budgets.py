"""Thinking budgets stay with their requests, whatever row of the batch they are in."""

from __future__ import annotations

import pytest

pytest.importorskip("vllm")

import torch
from vllm import SamplingParams
from vllm.config.reasoning import ReasoningConfig
from vllm.v1.sample.logits_processor.interface import BatchUpdate, MoveDirectionality
from vllm.v1.sample.thinking_budget_state import ThinkingBudgetStateHolder

from langchain_ssr.engine.thinking_budgets import ThinkingBudgets

pytestmark = pytest.mark.engine

START, END, OTHER = 1, 2, 3
BUDGET = 4


def make(cls):
    config = ReasoningConfig.__new__(ReasoningConfig)
    object.__setattr__(config, "_reasoning_start_token_ids", [START])
    object.__setattr__(config, "_reasoning_end_token_ids", [END])
    return cls(config, 4, 8, torch.device("cpu"), False)  # noqa: FBT003


def add(row, *, budget=None):
    params = SamplingParams(thinking_token_budget=budget)
    return (row, params, [START], [])


def step(budgets, outputs, proposals):
    """Return the tokens that are forced in a step, by row of its logits."""
    budgets.update_state(outputs, proposals)
    rows = sum(map(len, proposals)) or len(outputs)
    logits = budgets.apply_to_logits(torch.zeros(rows, 8), False, proposals)  # noqa: FBT003
    return {row: int(logits[row].argmax()) for row in range(rows) if logits[row].any()}


@pytest.mark.kind(4)
def test_a_forced_token_lands_in_its_own_row() -> None:
    exhausted = [OTHER] * BUDGET
    forced = {}
    for cls in (ThinkingBudgetStateHolder, ThinkingBudgets):
        budgets = make(cls)
        budgets.sync_batch(BatchUpdate(2, [], [add(0), add(1, budget=BUDGET)], []))
        step(budgets, [[], []], [[], []])
        forced[cls] = step(budgets, [[OTHER], exhausted], [[], []])
    assert forced[ThinkingBudgets] == {1: END}
    # If this fails, vLLM has mended its rows, and our method can go.
    assert forced[ThinkingBudgetStateHolder] == {0: END}


@pytest.mark.parametrize(
    ("budget", "said"), [(0, []), (BUDGET, [OTHER] * BUDGET)], ids=["new", "preempted"]
)
def test_an_end_is_forced_after_the_last_chunk(budget: int, said: list[int]) -> None:
    """What is sampled after another chunk is thrown away, a forced end, too."""
    forced = {}
    for cls in (ThinkingBudgetStateHolder, ThinkingBudgets):
        budgets = make(cls)
        budgets.sync_batch(BatchUpdate(2, [], [add(0), add(1, budget=budget)], []))
        outputs, proposals = [[OTHER], said], [[OTHER] * 2, []]
        forced[cls] = []
        for _ in range(3):
            budgets.update_state(outputs, proposals)
            logits = torch.zeros(2, 8)
            budgets.apply_to_logits(logits, True, proposals)  # noqa: FBT003
            forced[cls].append(int(logits[1].argmax()))
            logits = torch.zeros(2, 8)
            budgets.apply_to_logits(logits, False, proposals)  # noqa: FBT003
            assert not logits.any(), "a proposed token was forced"
    assert forced[ThinkingBudgets] == [END] * 3
    # If this fails, vLLM has mended its note, and our method can go.
    assert forced[ThinkingBudgetStateHolder] == [END, 0, 0]


def test_forced_tokens_among_proposals_are_vllms_own() -> None:
    for cls in (ThinkingBudgetStateHolder, ThinkingBudgets):
        budgets = make(cls)
        budgets.sync_batch(BatchUpdate(2, [], [add(0), add(1, budget=BUDGET)], []))
        step(budgets, [[], []], [[OTHER], []])
        outputs = [[OTHER], [OTHER] * 2]
        assert step(budgets, outputs, [[OTHER] * 2, [OTHER] * 3]) == {4: END}


def test_a_moved_request_does_not_inherit_a_budget() -> None:
    tracked = {}
    for cls in (ThinkingBudgetStateHolder, ThinkingBudgets):
        budgets = make(cls)
        budgets.sync_batch(BatchUpdate(2, [], [add(0, budget=BUDGET), add(1)], []))
        # Row 0 has ended; the move fills its row, so it is not among the removed.
        move = (1, 0, MoveDirectionality.UNIDIRECTIONAL)
        budgets.sync_batch(BatchUpdate(1, [], [], [move]))
        tracked[cls] = budgets.has_tracked_requests()
    assert tracked == {ThinkingBudgets: False, ThinkingBudgetStateHolder: True}


def test_budgets_move_and_swap_with_their_requests() -> None:
    budgets = make(ThinkingBudgets)
    budgets.sync_batch(BatchUpdate(3, [], [add(0), add(1, budget=BUDGET), add(2)], []))
    budgets.sync_batch(BatchUpdate(3, [], [], [(1, 2, MoveDirectionality.SWAP)]))
    exhausted = [OTHER] * BUDGET
    assert step(budgets, [[], [], exhausted], [[], [], []]) == {2: END}
    move = (2, 0, MoveDirectionality.UNIDIRECTIONAL)
    budgets.sync_batch(BatchUpdate(2, [], [], [move]))
    assert step(budgets, [[*exhausted, OTHER], []], [[], []]) == {0: END}
